#include "sim/oracle.h"

#include <gtest/gtest.h>

namespace taut::sim {
namespace {

class OracleTest : public testing::Test {
 protected:
  void ack(uint64_t epoch, uint64_t seq, bool durable, bool dup = false) {
    oracle.acked({.conversation = "c",
                  .sender = "visitor v",
                  .client_msg_id = "m",
                  .epoch = epoch,
                  .seq = seq,
                  .ts = 1,
                  .dup = dup,
                  .durable = durable});
  }
  void read(uint64_t epoch, uint64_t seq, std::string_view id = "m") {
    oracle.read_again({.conversation = "c",
                       .epoch = epoch,
                       .seq = seq,
                       .object = "o",
                       .sender = "visitor v",
                       .client_msg_id = id});
  }
  [[nodiscard]] std::string hurt() const { return oracle.violation() ? oracle.violation()->name : ""; }

  Oracle oracle{false};
};

TEST_F(OracleTest, AcceptsThatACrashUndoesWhatWasOnlyAccepted) {
  ack(1, 1, false);
  oracle.ended(false);
  ack(2, 1, false);
  read(2, 1);
  oracle.read_all("c", 0, 1);
  EXPECT_EQ(hurt(), "");
}

TEST_F(OracleTest, ComplainsOfADurableMessageThatIsElsewhereAfterACrash) {
  ack(1, 1, true);
  oracle.ended(false);
  ack(2, 1, false);
  EXPECT_EQ(hurt(), "repeats are answered as the first time");
}

TEST_F(OracleTest, ComplainsOfADurableMessageThatIsNotThere) {
  ack(1, 1, true);
  oracle.ended(false);
  read(1, 1, "another");
  oracle.read_all("c", 0, 1);
  EXPECT_EQ(hurt(), "every durable message is there");
}

TEST_F(OracleTest, ComplainsOfAnythingUndoneThatWasSeenWhereAllWaitsForTheDisk) {
  for (const bool durable_first : {false, true}) {
    Oracle judge(durable_first);
    judge.seen({.conversation = "c", .epoch = 1, .seq = 3, .object = "an event"}, Role::visitor);
    judge.undone("c", 1, 3);
    EXPECT_EQ(judge.violation().has_value(), durable_first);
  }
}

TEST_F(OracleTest, ACleanStopKeepsWhatWasAccepted) {
  ack(1, 1, false);
  oracle.ended(true);
  oracle.read_all("c", 0, 0);
  EXPECT_EQ(hurt(), "every durable message is there");
}

TEST_F(OracleTest, ComplainsOfAMessageThatIsThereTwice) {
  read(1, 1);
  read(1, 2);
  EXPECT_EQ(hurt(), "every message is there once");
}

TEST_F(OracleTest, ComplainsOfAHole) {
  read(1, 1);
  read(1, 3, "another");
  oracle.read_all("c", 0, 3);
  EXPECT_EQ(hurt(), "the sequence is whole");
}

TEST_F(OracleTest, ComplainsOfTwoItemsInOnePlace) {
  oracle.seen({.conversation = "c", .epoch = 1, .seq = 1, .object = "one"}, Role::visitor);
  oracle.seen({.conversation = "c", .epoch = 1, .seq = 1, .object = "note"}, Role::agent);
  EXPECT_EQ(hurt(), "") << "notes show to agents only";
  oracle.seen({.conversation = "c", .epoch = 1, .seq = 1, .object = "two"}, Role::visitor);
  EXPECT_EQ(hurt(), "no two items share epoch and seq");
}

TEST_F(OracleTest, ComplainsOfTwoOwners) {
  oracle.assigned("c", 1, 3, "a1");
  oracle.assigned("c", 2, 3, "a2");
  EXPECT_EQ(hurt(), "") << "a crash undid the first";
  oracle.assigned("c", 2, 3, "a1");
  EXPECT_EQ(hurt(), "one owner");
}

TEST_F(OracleTest, AfterACrashAnAgentMayOwnMoreUntilItIsSeenWithinItsCapacityOverCleanEndsToo) {
  oracle.ended(false);
  oracle.ended(true);
  oracle.owns("a", 3, 2);
  EXPECT_EQ(hurt(), "");
  oracle.within_capacity("a");
  oracle.ended(true);
  oracle.owns("a", 3, 2);
  EXPECT_EQ(hurt(), "load is at most capacity");
}

TEST_F(OracleTest, ComplainsWhenADurableItemIsToldToBeGone) {
  ack(1, 1, true);
  oracle.undone("c", 1, 1);
  EXPECT_EQ(hurt(), "what is durable stays");
}

}  // namespace
}  // namespace taut::sim
