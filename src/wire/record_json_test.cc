#include "wire/record_json.h"

#include <gtest/gtest.h>

#include "wire/record_json_testing.h"

namespace taut::wire {
namespace {

TEST(RecordJson, WritesStarted) {
  EXPECT_EQ(payload_of(Started{.version = "0.1.0", .clean = true}), R"({"version":"0.1.0","clean":true})");
}

TEST(RecordJson, WritesAConversationWithWhatItHas) {
  ConversationFacts facts{.conversation = "c1", .group = "sales", .visitor = "v1"};
  EXPECT_EQ(payload_of(facts), R"({"conversation":"c1","group":"sales","visitor":"v1"})");
  facts.name = "A \"B\"";
  facts.subject = "a\nb";
  facts.attributes = R"({"plan": "gold"})";
  EXPECT_EQ(payload_of(facts), R"({"conversation":"c1","group":"sales","visitor":"v1","name":"A \"B\"",)"
                               R"("subject":"a\nb","attributes":{"plan": "gold"}})");
}

TEST(RecordJson, WritesMarks) {
  EXPECT_EQ(payload_of(Marks{.conversation = "c1",
                             .visitor_delivered = 4,
                             .visitor_read = 3,
                             .agent_delivered = 2,
                             .agent_read = kIntegerMax,
                             .marked_by = "a1"}),
            R"({"conversation":"c1","visitor_delivered":4,"visitor_read":3,"agent_delivered":2,)"
            R"("agent_read":9007199254740991,"marked_by":"a1"})");
}

TEST(RecordJson, WritesPresenceWithACapacityThatIsTheAgentsOwn) {
  PresenceSet presence{.agent = "a1", .status = PresenceStatus::away};
  EXPECT_EQ(payload_of(presence), R"({"agent":"a1","status":"away"})");
  presence.capacity = 0;
  EXPECT_EQ(payload_of(presence), R"({"agent":"a1","status":"away","capacity":0})");
}

TEST(RecordJson, WritesBlocks) {
  EXPECT_EQ(payload_of(VisitorBlocked{.visitor = "v1", .until_ms = 1'700'000'000'000}),
            R"({"visitor":"v1","until_ms":1700000000000})");
}

TEST(RecordJson, WritesWhoIsForgotten) {
  EXPECT_EQ(payload_of(VisitorForgotten{.visitor = "v1"}), R"({"visitor":"v1"})");
}

}  // namespace
}  // namespace taut::wire
