#include "wire/snapshot_json.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "wire/record_json_testing.h"
#include "wire/record_reader.h"

namespace taut::wire {
namespace {

constexpr std::array<EpochSpan, 2> kEpochs{
    {{.first = 1, .epoch = 1, .last = 4}, {.first = 2, .epoch = 5, .last = 9}}};
constexpr std::array<KnownSender, 2> kSenders{{{.kind = PartyKind::visitor, .id = "", .first_seq = 2},
                                               {.kind = PartyKind::bot, .id = "b1", .first_seq = 0}}};
constexpr std::array<KnownMessage, 2> kMessages{
    {{.seq = 1, .epoch = 1, .ts = 1'000, .hashes = {1, UINT64_MAX, 0x0123'4567'89ab'cdef}},
     {.seq = kIntegerMax, .epoch = UINT32_MAX, .ts = kIntegerMax, .hashes = {}}}};

Standing standing() {
  return {.facts = {.conversation = "c1",
                    .group = "sales",
                    .visitor = "v1",
                    .name = "E\"ve",
                    .subject = "a\nb",
                    .attributes = R"({"x": [1]})"},
          .state = ConversationState::active,
          .opening = 3,
          .rated_opening = 2,
          .owner_epoch = 7,
          .owner = "a1",
          .owned_since = 6,
          .agent = "a2",
          .marks = {.visitor_delivered = 1,
                    .visitor_read = 2,
                    .agent_delivered = 3,
                    .agent_read = 4,
                    .marked_by = "a3"},
          .first_seq = 5,
          .opened_at = 11,
          .closed_at = 10,
          .epochs = kEpochs,
          .senders = kSenders};
}

TEST(SnapshotJson, WhatIsWrittenIsRead) {
  RecordReader reader;
  const SnapshotFacts facts{
      .hash_seed = 0xfedc'ba98'7654'3210, .stopped = true, .latest_ms = 5, .forgotten = 6};
  SnapshotFacts facts_read;
  ASSERT_TRUE(reader.read(payload_of(facts), facts_read));
  EXPECT_EQ(payload_of(facts_read), payload_of(facts));
  EXPECT_EQ(payload_of(facts),
            R"({"hash_seed":"fedcba9876543210","stopped":true,"latest_ms":5,"forgotten":6})");

  const std::string written = payload_of(standing());
  Standing standing_read;
  ASSERT_TRUE(reader.read(written, standing_read));
  EXPECT_EQ(payload_of(standing_read), written);
  EXPECT_NE(written.find(R"("epochs":[[1,1,4],[2,5,9]],"senders":[["visitor","",2],["bot","b1",0]]})"),
            std::string::npos)
      << written;

  const KnownMessages known{
      .conversation = "c1", .kind = PartyKind::agent, .sender = "a1", .messages = kMessages};
  const std::string known_written = payload_of(known);
  KnownMessages known_read;
  ASSERT_TRUE(reader.read(known_written, known_read));
  EXPECT_EQ(payload_of(known_read), known_written);
}

TEST(SnapshotJson, TheMostThatARecordHoldsFitsIntoIt) {
  std::vector<KnownMessage> most(KnownMessages::kMessagesMax, kMessages[1]);
  EXPECT_LT(max_size(KnownMessages{
                .conversation = std::string(64, 'c'), .sender = std::string(64, 's'), .messages = most}),
            1U << 20);
}

TEST(SnapshotJson, WhatDoesNotBelongIsRefusedByName) {
  RecordReader reader;
  const std::string good = payload_of(standing());
  const auto with = [&good](std::string_view from, std::string_view to) {
    std::string changed = good;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return changed.replace(at, from.size(), to);
  };
  const std::string lists = " must be a list of lists with what belongs there";
  for (const auto& [payload, message] : std::vector<std::pair<std::string, std::string>>{
           {with("\"state\":\"active\"", "\"state\":\"gone\""), "state: is not a word of the protocol"},
           {with("\"opening\":3,", ""), "opening: is missing"},
           {with("\"owner\":\"a1\"", "\"owner\":\"a 1\""),
            "owner: must be 1-64 characters A-Z a-z 0-9 . _ -"},
           {with("[1,1,4]", "[1,1]"), "epochs:" + lists},
           {with("[1,1,4]", "[1,1,4,4]"), "epochs:" + lists},
           {with("[1,1,4]", "[1,4294967296,4]"), "epochs:" + lists},
           {with("[1,1,4]", "7"), "epochs:" + lists},
           {with("[\"bot\",", "[\"robot\","), "senders:" + lists},
           {with("\"b1\"", "\"b 1\""), "senders:" + lists},
       }) {
    Standing out;
    const Status read = reader.read(payload, out);
    ASSERT_FALSE(read) << payload;
    EXPECT_EQ(read.error().message, message);
  }
  for (const std::string digits : {"", "0", "fedcba987654321g", "fedcba98765432101"}) {
    SnapshotFacts facts;
    EXPECT_FALSE(
        reader.read(R"({"hash_seed":")" + digits + R"(","stopped":true,"latest_ms":5,"forgotten":6})", facts))
        << digits;
  }
}

}  // namespace
}  // namespace taut::wire
