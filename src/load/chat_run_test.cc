#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "load/floor_relay.h"
#include "load/options.h"

namespace taut::load {
namespace {

class ChatRun : public testing::Test {
 protected:
  ChatRun() : relay_(FloorOptions{}) {
    options_.url = "relay://127.0.0.1:" + std::to_string(relay_.listen().value());
    options_.pairs = 4;
    options_.rate = 500;
    options_.warmup = 0.05;
    options_.seconds = 0.4;
    options_.json =
        std::filesystem::temp_directory_path() / ("chat_run_test." + std::to_string(getpid()) + ".json");
    thread_ = std::thread([this] { relay_.run(); });
  }
  ~ChatRun() override {
    relay_.stop();
    thread_.join();
    std::error_code ignored;
    std::filesystem::remove(options_.json, ignored);
  }

  std::string report() const {
    std::stringstream text;
    text << std::ifstream(options_.json).rdbuf();
    return text.str();
  }

  LoadChatOptions options_;

 private:
  FloorRelay relay_;
  std::thread thread_;
};

TEST_F(ChatRun, ReportsEveryMessageAndTheServersCost) {
  options_.server_pid = getpid();
  const int exit_code = run_load_chat(options_);
  EXPECT_TRUE(exit_code == kExitOk || exit_code == kExitVoid);  // a busy machine may well make it late
  EXPECT_NE(report().find(R"("sent":200,"delivered":200)"), std::string::npos) << report();
  EXPECT_NE(report().find("cpu_us_per_msg"), std::string::npos);
}

TEST_F(ChatRun, AStarvedClientVoidsItsRun) {
  options_.starve_us = 50'000;
  EXPECT_EQ(run_load_chat(options_), kExitVoid);
  EXPECT_NE(report().find(R"("void":true)"), std::string::npos) << report();
}

TEST_F(ChatRun, RefusesWhatItCannotDoAsWrongUsage) {
  for (const auto& change : {
           +[](LoadChatOptions& o) { o.inflight = 1; },  // beside a rate
           +[](LoadChatOptions& o) { o.rate = 0; },
           +[](LoadChatOptions& o) { o.pairs = 0; },
           +[](LoadChatOptions& o) {
             o.arrivals = ArrivalKind::bursts;
             o.rate = kBurstRate + 1;
           },
           +[](LoadChatOptions& o) { o.pairs = kPairsMax + 1; },
           +[](LoadChatOptions& o) { o.size = kTextBytesMin - 1; },
           +[](LoadChatOptions& o) { o.size = kTextBytesMax + 1; },
           +[](LoadChatOptions& o) { o.url = "http://127.0.0.1:1/"; },
           +[](LoadChatOptions& o) { o.url = "relay://127.0.0.1"; },
           +[](LoadChatOptions& o) { o.direction = Direction::both; },
           +[](LoadChatOptions& o) { o.url = "ws://127.0.0.1:1/v1/chat"; },  // without a secret
           +[](LoadChatOptions& o) {
             o.url = "ws://127.0.0.1:1/v1/chat";
             o.secret_file = "/nonexistent/secret";
           },
       }) {
    LoadChatOptions bad = options_;
    change(bad);
    EXPECT_EQ(run_load_chat(bad), kExitUsage);
  }
}

TEST_F(ChatRun, FailsWhenTheHostOrThePeerRefuses) {
  LoadChatOptions bad = options_;
  bad.server_pid = 0x7FFF'FFFF;
  EXPECT_EQ(run_load_chat(bad), kExitFailed);
  bad = options_;
  bad.url = "relay://127.0.0.1:1";
  EXPECT_EQ(run_load_chat(bad), kExitFailed);
}

}  // namespace
}  // namespace taut::load
