#include "load/rounds.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace taut::load {
namespace {

// A round takes three turns and then counts as one message of a second.
class ThreeTurns final : public Rounds {
 public:
  Status open() override { return opens ? Status() : Status(fail("nobody is there")); }
  Status turn(int64_t, PhaseResult& phase) override {
    if (breaks_at != 0 && rounds_ == breaks_at) return fail("it broke");
    if (++turn_ < 3) return {};
    turn_ = 0;
    ++rounds_;
    ++phase.sent;
    ++phase.delivered;
    phase.latency.record(1'000'000'000);
    return {};
  }
  bool between_rounds() const override { return turn_ == 0; }

  bool opens = true;
  uint64_t breaks_at = 0;
  uint64_t rounds() const { return rounds_; }
  uint32_t unfinished() const { return turn_; }

 private:
  uint32_t turn_ = 0;
  uint64_t rounds_ = 0;
};

class RoundsRun : public testing::Test {
 protected:
  RoundsRun() {
    options.warmup = 0.01;
    options.seconds = 0.01;
    options.json =
        std::filesystem::temp_directory_path() / ("rounds_test." + std::to_string(getpid()) + ".json");
  }
  ~RoundsRun() override {
    std::error_code ignored;
    std::filesystem::remove(options.json, ignored);
  }
  int run() { return run_rounds(options, rounds, "rounds_test"); }
  std::string report() const {
    std::stringstream text;
    text << std::ifstream(options.json).rdbuf();
    return text.str();
  }

  LoadOptions options;
  ThreeTurns rounds;
};

TEST_F(RoundsRun, ReportsTheMeasuredRoundsWithoutTheWarmUpAndEndsBetweenTwo) {
  options.server_pid = getpid();
  EXPECT_EQ(run(), kExitOk);
  EXPECT_EQ(rounds.unfinished(), 0U);
  const std::string text = report();
  const size_t at = text.find(R"("delivered":)");
  ASSERT_NE(at, std::string::npos) << text;
  const uint64_t delivered = std::stoull(text.substr(at + 12));
  EXPECT_GT(delivered, 0U);
  EXPECT_LT(delivered, rounds.rounds());
  EXPECT_NE(text.find("cpu_us_per_msg"), std::string::npos);
  EXPECT_EQ(text.find("settings"), std::string::npos);
}

TEST_F(RoundsRun, FailsWhenItCannotBeginOrGoOn) {
  rounds.opens = false;
  EXPECT_EQ(run(), kExitFailed);
  rounds.opens = true;
  rounds.breaks_at = 10;
  EXPECT_EQ(run(), kExitFailed);
  rounds.breaks_at = 0;
  options.server_pid = 0x7FFF'FFFF;
  EXPECT_EQ(run(), kExitFailed);
}

}  // namespace
}  // namespace taut::load
