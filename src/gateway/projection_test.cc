#include "gateway/projection.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "wire/record_json.h"
#include "wire/record_json_testing.h"

namespace taut::gateway {
namespace {

using journal::RecordType;

journal::Record record(uint64_t sequence, RecordType type, std::string_view payload) {
  return {.sequence = sequence, .time_ms = 1'000, .type = type, .payload = payload};
}

TEST(Projection, KeepsWhatAConversationIsAndWhatWasSaid) {
  Projection projection;
  {
    std::string facts = wire::payload_of(
        wire::ConversationFacts{.conversation = "c1", .group = "sales", .visitor = "v1", .name = "Eve"});
    std::string note =
        wire::payload_of(wire::Message{.conversation = "c1",
                                       .epoch = 2,
                                       .seq = 7,
                                       .from = {.kind = wire::PartyKind::agent, .id = "a1", .name = ""},
                                       .client_msg_id = "m1",
                                       .kind = wire::ItemKind::note,
                                       .text = "say \"hello\"",
                                       .ts = 99});
    std::string event = wire::payload_of(wire::Event{.conversation = "c1",
                                                     .epoch = 2,
                                                     .seq = 8,
                                                     .event = wire::EventKind::transferred,
                                                     .group = "support",
                                                     .ts = 100});
    std::string marks = wire::payload_of(wire::Marks{.conversation = "c1", .agent_read = 8});
    ASSERT_TRUE(projection.add(record(4, RecordType::conversation, facts)));
    ASSERT_TRUE(projection.add(record(5, RecordType::item, note)));
    ASSERT_TRUE(projection.add(record(6, RecordType::item, event)));
    ASSERT_TRUE(projection.add(record(7, RecordType::receipts, marks)));
    facts.assign(facts.size(), '?');
    note.assign(note.size(), '?');
  }
  ASSERT_EQ(projection.records().size(), 4U);
  const auto& facts = std::get<store::ConversationFacts>(projection.records()[0].content);
  EXPECT_EQ(facts.visitor, "v1");
  EXPECT_EQ(facts.json, R"({"conversation":"c1","group":"sales","visitor":"v1","name":"Eve"})");
  const auto& note = std::get<store::Item>(projection.records()[1].content);
  EXPECT_EQ(note.kind, store::ItemKind::note);
  EXPECT_EQ(note.sender_kind, store::PartyKind::agent);
  EXPECT_EQ(note.sender, "a1");
  EXPECT_EQ(note.text, "say \"hello\"") << "what search looks at is no JSON";
  EXPECT_TRUE(note.json.starts_with("{\"type\":\"message\"") && note.json.ends_with("}")) << note.json;
  EXPECT_EQ(note.ts_ms, 99);
  EXPECT_EQ(projection.records()[1].sequence, 5U);
  const auto& event = std::get<store::Item>(projection.records()[2].content);
  EXPECT_EQ(event.event, store::EventKind::transferred);
  EXPECT_EQ(event.group, "support");
  EXPECT_EQ(std::get<store::Receipts>(projection.records()[3].content).agent_read, 8U);
  projection.clear();
  EXPECT_TRUE(projection.empty());
}

TEST(Projection, TellsWhoIsForgotten) {
  Projection projection;
  ASSERT_TRUE(projection.add(record(4, RecordType::forgotten, R"({"visitor":"v1"})")));
  EXPECT_EQ(std::get<store::Forgotten>(projection.records()[0].content).visitor, "v1");
  EXPECT_FALSE(projection.add(record(5, RecordType::forgotten, "{}")));
}

TEST(Projection, OfOtherKindsOnlyTheNumberCounts) {
  Projection projection;
  ASSERT_TRUE(projection.add(record(1, RecordType::started, R"({"version":"1","clean":true})")));
  ASSERT_TRUE(projection.add(record(2, RecordType::presence, R"({"agent":"a","status":"busy"})")));
  ASSERT_EQ(projection.records().size(), 2U);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(projection.records()[1].content));
}

TEST(Projection, WhatCannotBeReadIsNamed) {
  Projection projection;
  const Status added = projection.add(record(9, RecordType::item, R"({"type":"message"})"));
  ASSERT_FALSE(added);
  EXPECT_TRUE(added.error().message.starts_with("record 9: ")) << added.error().message;
  EXPECT_TRUE(projection.empty());
}

}  // namespace
}  // namespace taut::gateway
