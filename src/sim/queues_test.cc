#include "sim/queues.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace taut::sim {
namespace {

class QueuesTest : public testing::Test {
 protected:
  void tell(const std::string& conversation, std::string_view name, std::string_view agent = {}) {
    const uint64_t seq = ++last_[conversation];
    readers_[conversation].own(1, seq);
    queues.told({.conversation = conversation,
                 .epoch = 1,
                 .seq = seq,
                 .name = name,
                 .group = agent.empty() ? "sales" : "",
                 .agent = agent,
                 .opener = name == "opened" ? "v " + conversation : std::string()});
  }
  void rest(const std::map<std::string, uint64_t>& positions = {}) {
    for (const auto& [conversation, reader] : readers_) {
      const auto found = positions.find(conversation);
      queues.known(conversation, reader, found == positions.end() ? 0 : found->second);
    }
    queues.at_rest();
  }
  /// "one" waits before "two" is opened.
  void open_both() {
    tell("one", "opened");
    rest();
    tell("two", "opened");
  }
  [[nodiscard]] std::string hurt() const { return oracle.violation() ? oracle.violation()->name : ""; }

  QueuesTest() {
    for (const char* agent : {"a", "b"}) queues.employs(agent, 9);
  }

  Oracle oracle{false};
  Queues queues{oracle};

 private:
  std::map<std::string, uint64_t> last_;
  std::map<std::string, Reader> readers_;
};

TEST_F(QueuesTest, TheOlderOneGoesFirst) {
  open_both();
  tell("one", "assigned", "a");
  tell("two", "assigned", "b");
  rest();
  EXPECT_EQ(hurt(), "");
}

TEST_F(QueuesTest, ComplainsOfANewerOneThatGoesFirst) {
  open_both();
  tell("two", "assigned", "a");
  rest();
  EXPECT_EQ(hurt(), "who waits longest is first");
}

TEST_F(QueuesTest, WhoAsksForItNeedNotWait) {
  open_both();
  queues.asks_for("two", "a");
  tell("two", "assigned", "a");
  rest();
  EXPECT_EQ(hurt(), "");
}

TEST_F(QueuesTest, WhatAnAgentGaveBackIsHeldFromIt) {
  tell("one", "opened");
  tell("one", "assigned", "a");
  tell("one", "requeued");
  rest();
  tell("two", "opened");
  tell("two", "assigned", "a");
  rest();
  EXPECT_EQ(hurt(), "");
}

TEST_F(QueuesTest, ACrashMayUndoWhyAnotherOneWasAssigned) {
  open_both();
  tell("two", "assigned", "a");
  queues.ended(false);
  rest();
  EXPECT_EQ(hurt(), "");
}

TEST_F(QueuesTest, WhatWasOpenedBetweenTheSameRestsHasNoKnownOrder) {
  rest();
  tell("one", "opened");
  tell("two", "opened");
  rest({{"one", 2}, {"two", 1}});
  EXPECT_EQ(hurt(), "");
}

TEST_F(QueuesTest, PositionsFollowTheOrderOfOpeningOverCrashesToo) {
  open_both();
  queues.ended(false);
  rest({{"one", 1}, {"two", 2}});
  EXPECT_EQ(hurt(), "");
  queues.ended(false);
  rest({{"one", 2}, {"two", 1}});
  EXPECT_EQ(hurt(), "queues have the order of opening");
}

TEST_F(QueuesTest, NobodyOwnsMoreThanItsCapacity) {
  queues.employs("a", 1);
  open_both();
  tell("one", "assigned", "a");
  rest();
  EXPECT_EQ(hurt(), "");
  tell("two", "transferred", "a");
  rest();
  EXPECT_EQ(hurt(), "load is at most capacity");
}

TEST_F(QueuesTest, AfterACrashAnAgentMayOwnMore) {
  queues.employs("a", 1);
  open_both();
  queues.ended(false);
  tell("one", "assigned", "a");
  tell("two", "transferred", "a");
  rest();
  EXPECT_EQ(hurt(), "");
}

TEST_F(QueuesTest, AnAnswerBehindOneThatWasLostMayBeOfAnOlderOpening) {
  tell("one", "opened");
  rest();
  queues.unanswered("v two", "sales");
  tell("two", "opened");
  rest({{"one", 2}, {"two", 1}});
  EXPECT_EQ(hurt(), "");
}

}  // namespace
}  // namespace taut::sim
