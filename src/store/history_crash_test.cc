// Killed at any moment, a store has the records up to its position and nothing else.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "store/history_fixture.h"
#include "store/history_model_fixture.h"

namespace taut::store {
namespace {

class HistoryCrash : public HistoryFixture {};
INSTANTIATE_TEST_SUITE_P(, HistoryCrash, kBackends, backend_name);

constexpr uint64_t kBatch = 7;
constexpr int kConversations = 5;

Story long_story() {
  Story story;
  for (int i = 0; i < kConversations; ++i) story.conversation("c" + std::to_string(i), "v1");
  for (int i = 0; i < 4'000; ++i) {
    const std::string id = "c" + std::to_string(i % kConversations);
    story.text(id, "item number " + std::to_string(i) + " of a long story");
    if (i % 9 == 0) story.event(id, i % 18 == 0 ? EventKind::closed : EventKind::reopened);
    if (i % 11 == 0) story.receipts({.conversation = id, .agent_read = story.seq_of(id)});
  }
  return story;
}

/// Never returns. Says when it has begun.
[[noreturn]] void apply_for_ever(const StoreHome& home, const Story& story, int begun) {
  const auto store = home.open();
  uint64_t at = good(store->position());
  while (at < story.last()) {
    const uint64_t to = std::min(at + kBatch, story.last());
    if (!store->apply(story.part(at + 1, to))) ::_exit(1);
    if (::write(begun, "x", 1) != 1) ::_exit(1);
    at = to;
  }
  while (true) ::pause();
}

/// A process that applies, killed `after` it has done a few batches.
void apply_and_be_killed(const StoreHome& home, const Story& story, std::chrono::microseconds after) {
  int channel[2];
  ASSERT_EQ(::pipe(channel), 0);
  const pid_t child = ::fork();
  if (child == 0) apply_for_ever(home, story, channel[1]);
  ::close(channel[1]);
  char said = 0;
  ASSERT_EQ(::read(channel[0], &said, 1), 1);
  std::this_thread::sleep_for(after);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(channel[0]);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
}

/// All that it has, at a moment when nobody writes: of a killed process the database may finish a commit.
std::string settled(HistoryStore& store) {
  while (true) {
    const uint64_t position = good(store.position());
    std::string all = dump(store);
    if (good(store.position()) == position || testing::Test::HasFailure()) return all;
  }
}

TEST_P(HistoryCrash, KilledWhileItAppliesItHasAllUpToItsPosition) {
  const Story story = long_story();
  store_.reset();
  uint64_t last = 0;
  uint32_t in_the_middle = 0;
  for (int round = 0; round < 12; ++round) {
    apply_and_be_killed(home_, story, std::chrono::microseconds(500 + 1'700 * round));
    ASSERT_FALSE(HasFailure());
    const auto store = home_.open();
    const std::string all = settled(*store);
    const uint64_t position = good(store->position());
    EXPECT_GT(position, last) << "what was applied is gone";
    if (position < story.last()) ++in_the_middle;
    last = position;
    HistoryModel model;
    ASSERT_TRUE(succeeds(model.apply(story.part(1, position))));
    ASSERT_EQ(all, dump(model)) << "round " << round;
    // Every text that is there can be found, and no other.
    EXPECT_EQ(all_hits(*store, "item number", kPageMax), all_hits(model, "item number", kPageMax));
    if (position == story.last()) break;
  }
  EXPECT_GE(in_the_middle, 2U) << "nobody was killed while applying";
}

}  // namespace
}  // namespace taut::store
