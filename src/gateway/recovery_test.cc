#include "gateway/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "base/identity.h"
#include "chat/dispatcher.h"
#include "gateway/conversation_id.h"
#include "gateway/conversations.h"
#include "gateway/frame.h"
#include "gateway/message_hash.h"
#include "gateway/snapshot_testing.h"
#include "hub/hand_turned_shard.h"
#include "wire/record_json_testing.h"

namespace taut::gateway {
namespace {

using journal::RecordType;

constexpr uint64_t kSeed = 42;

/// Records by hand, numbered as the journal does. With the parameter set each of the first records is
/// followed by a snapshot, and what is made of that goes on.
class RecoveryTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr uint32_t kConversationsMax = 4;
  static constexpr uint32_t kHistoryItems = 5;

  RecoveryTest() { EXPECT_EQ(started(true), ""); }

  /// What apply() says; empty: it was applied.
  std::string put(RecordType type, std::string_view payload, uint16_t shard = 0) {
    const Status status = recovery->apply(
        {.sequence = ++sequence, .time_ms = ++now_ms, .shard = shard, .type = type, .payload = payload});
    const bool due = sequence < 100 || sequence % 101 == 0;  // of long lives a few
    if (status && GetParam() && due) go_on_from_a_snapshot();
    return status ? "" : status.error().message;
  }
  void go_on_from_a_snapshot() {
    const std::string bytes = snapshot_bytes(*recovery);
    auto other = recovery_of(bytes, options);
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(snapshot_bytes(**other), bytes) << "nothing is lost";
    recovery = *std::move(other);
  }
  std::string started(bool clean) {
    return put(RecordType::started, wire::payload_of(wire::Started{.version = "1", .clean = clean}));
  }
  std::string stopped() { return put(RecordType::stopped, wire::kNothing); }
  /// The server was killed and began again.
  void crash() { ASSERT_EQ(started(false), ""); }

  static std::string id_of(std::string_view visitor, uint64_t n = 1) {
    return make_conversation_id(partition_of(Role::visitor, visitor), 1, n);
  }
  std::string created(std::string_view visitor, uint64_t n = 1, std::string_view group = "sales",
                      uint16_t shard = 0) {
    const std::string id = id_of(visitor, n);
    return put(
        RecordType::conversation,
        wire::payload_of(wire::ConversationFacts{.conversation = id, .group = group, .visitor = visitor}),
        shard);
  }
  /// The event as the next item of the conversation.
  std::string event(const std::string& id, wire::EventKind kind, uint32_t owner_epoch = 0,
                    std::string_view agent = {}, std::string_view group = {}) {
    return put(RecordType::item, wire::payload_of(wire::Event{.conversation = id,
                                                              .epoch = epoch,
                                                              .seq = ++seqs[id],
                                                              .event = kind,
                                                              .agent = agent,
                                                              .group = group,
                                                              .owner_epoch = owner_epoch,
                                                              .ts = 1}));
  }
  static std::string message_json(const std::string& id, uint64_t epoch, uint64_t seq,
                                  std::string_view client_msg_id,
                                  std::string_view text = "h\u00e9 \"there\"") {
    return wire::payload_of(wire::Message{.conversation = id,
                                          .epoch = epoch,
                                          .seq = seq,
                                          .from = {.id = "v1", .name = "Eve"},
                                          .client_msg_id = client_msg_id,
                                          .text = text,
                                          .ts = 1'000 + seq});
  }
  std::string message(const std::string& id, std::string_view client_msg_id) {
    return put(RecordType::item, message_json(id, epoch, ++seqs[id], client_msg_id));
  }
  /// A conversation that waits.
  std::string open(std::string_view visitor, uint64_t n = 1, std::string_view group = "sales",
                   uint16_t shard = 0) {
    const std::string id = id_of(visitor, n);
    EXPECT_EQ(created(visitor, n, group, shard), "");
    EXPECT_EQ(event(id, wire::EventKind::opened, 0, {}, group), "");
    return id;
  }
  void close(const std::string& id, uint32_t owner_epoch = 0) {
    EXPECT_EQ(event(id, wire::EventKind::closed, owner_epoch), "");
  }

  Recovered take(uint32_t shards = 1, uint32_t conversations_max = kConversationsMax) {
    Result<Recovered> taken = recovery->take(shards, conversations_max);
    EXPECT_TRUE(taken.has_value()) << taken.error().message;
    return taken ? std::move(*taken) : Recovered{.shards = std::vector<RecoveredShard>(shards)};
  }
  static std::vector<std::string> ids(
      const std::vector<std::unique_ptr<RecoveredConversation>>& conversations) {
    std::vector<std::string> out;
    out.reserve(conversations.size());
    for (const auto& one : conversations) out.emplace_back(one->machine().id());
    return out;
  }
  static std::string item(const RecoveredConversation& conversation, uint64_t seq) {
    return *static_cast<const std::string*>(conversation.machine().items().at(seq).body);
  }

  const Recovery::Options options{.groups = {"sales", "support"},
                                  .conversations_max = kConversationsMax,
                                  .history_items = kHistoryItems,
                                  .hash_seed = kSeed};
  std::unique_ptr<Recovery> recovery = std::make_unique<Recovery>(options);
  uint64_t sequence = 0;
  int64_t now_ms = 1'000'000;
  uint64_t epoch = 1;
  std::map<std::string, uint64_t> seqs;
};

std::string suite_name(const testing::TestParamInfo<bool>& suite) {
  return suite.param ? "ThroughSnapshots" : "OfTheJournal";
}
INSTANTIATE_TEST_SUITE_P(Gateway, RecoveryTest, testing::Bool(), suite_name);

using Ids = std::vector<std::string>;

// -- One conversation --

TEST_P(RecoveryTest, AConversationIsAsItWas) {
  const std::string id = id_of("v1");
  ASSERT_EQ(
      put(RecordType::conversation, wire::payload_of(wire::ConversationFacts{.conversation = id,
                                                                             .group = "support",
                                                                             .visitor = "v1",
                                                                             .name = "Eve",
                                                                             .subject = "a\nb",
                                                                             .attributes = R"({"x": 1})"})),
      "");
  ASSERT_EQ(event(id, wire::EventKind::opened, 0, {}, "support"), "");
  ASSERT_EQ(message(id, "m1"), "");
  ASSERT_EQ(event(id, wire::EventKind::assigned, 1, "a1"), "");
  ASSERT_EQ(event(id, wire::EventKind::accepted, 1, "a1"), "");
  ASSERT_EQ(put(RecordType::receipts,
                wire::payload_of(wire::Marks{
                    .conversation = id, .visitor_read = 1, .agent_delivered = 4, .marked_by = "a2"})),
            "");
  const Recovered recovered = take();
  ASSERT_EQ(recovered.shards[0].open.size(), 1U);
  const RecoveredConversation& conversation = *recovered.shards[0].open[0];
  EXPECT_EQ(conversation.visitor_id, "v1");
  EXPECT_EQ(conversation.visitor_name, "Eve");
  EXPECT_EQ(conversation.subject, "a\nb");
  EXPECT_EQ(conversation.attributes, R"({"x": 1})");
  EXPECT_EQ(conversation.agent, "a1");
  EXPECT_EQ(conversation.marked_by, "a2");
  EXPECT_EQ(conversation.number, 1U);
  const chat::Conversation& machine = conversation.machine();
  EXPECT_EQ(machine.group(), 1U);
  EXPECT_EQ(machine.state(), chat::ConversationState::active);
  EXPECT_TRUE(machine.owned_by("a1"));
  EXPECT_EQ(machine.owner_epoch(), 1U);
  EXPECT_EQ(machine.last_seq(), 4U);
  EXPECT_EQ(machine.mark_of(chat::Side::visitor, chat::ReceiptLevel::read), 1U);
  EXPECT_EQ(machine.mark_of(chat::Side::agent, chat::ReceiptLevel::delivered), 4U);
  EXPECT_EQ(item(conversation, 2), message_json(id, 1, 2, "m1"));
  EXPECT_EQ(recovered.latest_ms, now_ms);
}

TEST_P(RecoveryTest, OnlyTheLatestItemsAreKeptAndRepeatsOfOlderOnesAreKnown) {
  const std::string id = open("v1");
  for (int i = 0; i < 20; ++i) ASSERT_EQ(message(id, "m" + std::to_string(i)), "");
  Recovered recovered = take();
  const chat::Conversation& machine = recovered.shards[0].open[0]->machine();
  EXPECT_EQ(machine.items().size(), kHistoryItems);
  EXPECT_EQ(machine.last_seq(), 21U);

  chat::Conversation copy(id, 0, {.items_max = kHistoryItems}, *std::pmr::new_delete_resource());
  copy.copy(machine, [](const chat::Item&) { return nullptr; });
  const chat::Party visitor{.kind = chat::PartyKind::visitor, .id = "v1"};
  const auto ask = [&](std::string_view text, chat::ItemKind kind) {
    // As the gateway hashes what is sent.
    return copy.on_send(visitor, hash_id("m0", kSeed), hash_body(text, kSeed + static_cast<uint64_t>(kind)),
                        kind);
  };
  const chat::SendDecision again = ask("h\u00e9 \"there\"", chat::ItemKind::text);
  EXPECT_TRUE(again.dup);
  EXPECT_EQ(again.seq, 2U);
  EXPECT_EQ(again.ts_ms, 1'002);
  EXPECT_EQ(ask("other", chat::ItemKind::text).code, chat::Code::id_conflict);
  EXPECT_EQ(ask("h\u00e9 \"there\"", chat::ItemKind::note).code, chat::Code::id_conflict);
  copy.release_items([](void*) {});
}

TEST_P(RecoveryTest, AReopenedOneIsOpenAgainBehindThoseOpenedBefore) {
  const std::string first = open("v1");
  close(first);
  const std::string second = open("v2");
  ASSERT_EQ(event(first, wire::EventKind::reopened, 0, {}, "sales"), "");
  const Recovered recovered = take();
  EXPECT_EQ(ids(recovered.shards[0].open), (Ids{second, first}));
  EXPECT_EQ(recovered.shards[0].open[1]->number, 2U);
  EXPECT_EQ(recovered.shards[0].open[1]->machine().opening(), 2U);
  EXPECT_TRUE(recovered.shards[0].closed.empty());
}

TEST_P(RecoveryTest, ClosedOnesKnowWhoHadThemAndWhetherTheyWereRated) {
  const std::string id = open("v1");
  ASSERT_EQ(event(id, wire::EventKind::assigned, 1, "a1"), "");
  ASSERT_EQ(event(id, wire::EventKind::accepted, 1, "a1"), "");
  close(id, 1);
  const std::string later = open("v2");
  close(later);
  ASSERT_EQ(event(id, wire::EventKind::rated, 1, "a1", "sales"), "");
  const Recovered recovered = take();
  EXPECT_EQ(ids(recovered.shards[0].closed), (Ids{later, id})) << "rated: to be forgotten later, as live";
  const RecoveredConversation& rated = *recovered.shards[0].closed[1];
  EXPECT_EQ(rated.agent, "a1");
  EXPECT_TRUE(rated.machine().rated());
  EXPECT_FALSE(rated.machine().owner());
}

TEST_P(RecoveryTest, ATransferGivesItToAnAgentOrToAGroup) {
  const std::string id = open("v1");
  ASSERT_EQ(event(id, wire::EventKind::assigned, 1, "a1"), "");
  ASSERT_EQ(event(id, wire::EventKind::transferred, 2, "a2"), "");
  const std::string other = open("v2");
  ASSERT_EQ(event(other, wire::EventKind::assigned, 1, "a1"), "");
  ASSERT_EQ(event(other, wire::EventKind::transferred, 2, {}, "support"), "");
  const Recovered recovered = take();
  EXPECT_TRUE(recovered.shards[0].open[0]->machine().owned_by("a2"));
  EXPECT_EQ(recovered.shards[0].open[0]->machine().state(), chat::ConversationState::assigned);
  EXPECT_EQ(recovered.shards[0].open[1]->machine().state(), chat::ConversationState::queued);
  EXPECT_EQ(recovered.shards[0].open[1]->machine().group(), 1U);
  EXPECT_EQ(recovered.shards[0].open[1]->agent, "");
}

// -- Starts --

TEST_P(RecoveryTest, EachUncleanStartBeginsAnEpochWhetherOrNotAnItemFollows) {
  const std::string id = open("v1");
  crash();
  crash();
  epoch = 3;
  ASSERT_EQ(message(id, "m1"), "");
  crash();
  const Recovered recovered = take();
  const chat::Conversation& machine = recovered.shards[0].open[0]->machine();
  EXPECT_EQ(machine.epoch(), 4U);
  EXPECT_EQ(machine.last_seq(), 2U);
  EXPECT_EQ(machine.plan_resume(1, 1).gap_count, 0U);
  EXPECT_EQ(machine.plan_resume(1, 2).gaps[0].reason, chat::GapReason::ahead);
  EXPECT_EQ(machine.plan_resume(2, 1).gap_count, 0U) << "told by `resumed`, though no item is of it";
  EXPECT_EQ(machine.plan_resume(3, 2).gap_count, 0U);
  EXPECT_EQ(machine.plan_resume(3, 3).gaps[0].reason, chat::GapReason::ahead);
}

TEST_P(RecoveryTest, ACleanStartGoesOnInTheSameEpoch) {
  const std::string id = open("v1");
  ASSERT_EQ(stopped(), "");
  ASSERT_EQ(started(true), "");
  EXPECT_EQ(message(id, "m1"), "");
  EXPECT_EQ(take().shards[0].open[0]->machine().epoch(), 1U);
}

TEST_P(RecoveryTest, AConversationWithoutItsFirstItemNeverWas) {
  ASSERT_EQ(created("v1"), "");
  crash();
  ASSERT_EQ(created("v2"), "");
  const Recovered recovered = take();
  EXPECT_TRUE(recovered.shards[0].open.empty());
  EXPECT_TRUE(recovered.shards[0].closed.empty());
}

// -- What is inconsistent --

TEST_P(RecoveryTest, ErrorsNameTheRecordAndWhatIsWrong) {
  const std::string id = open("v1");
  EXPECT_EQ(put(RecordType::item, message_json(id, 1, 7, "m1")), "record 4: seq 7 does not follow 1");
  EXPECT_EQ(put(RecordType::item, message_json(id, 2, 2, "m1")), "record 5: epoch 2 where 1 is due");
  EXPECT_EQ(put(RecordType::item, message_json(id_of("v9"), 1, 1, "m1")),
            "record 6: there is no conversation " + id_of("v9"));
  EXPECT_EQ(created("v1"), "record 7: the conversation is there already");
  EXPECT_EQ(
      put(RecordType::conversation, wire::payload_of(wire::ConversationFacts{
                                        .conversation = id_of("v1", 2), .group = "sales", .visitor = "v2"})),
      "record 8: the conversation's name is not one for that visitor");
  EXPECT_EQ(put(RecordType::item, "{}"), "record 9: type: is missing");
  EXPECT_EQ(put(static_cast<RecordType>(99), "{}"),
            "record 10: its type is 99, which this version does not know");
  EXPECT_EQ(put(RecordType::receipts, wire::payload_of(wire::Marks{.conversation = id, .agent_read = 2})),
            "record 11: a receipt for item 2 of 1");
  EXPECT_EQ(put(RecordType::block, R"({"visitor":"v1"})"), "record 12: until_ms: is missing");
  EXPECT_EQ(put(RecordType::presence, R"({"agent":"a1","status":"x"})"),
            "record 13: status: is not a word of the protocol");
}

TEST_P(RecoveryTest, AnItemMustBeOneOfWhichAFrameCanBeMade) {
  const std::string id = open("v1");
  std::string json = message_json(id, 1, 2, "m1");
  json.insert(1, " ");
  EXPECT_EQ(put(RecordType::item, json),
            "record 4: the item does not begin with its type and its conversation");
  const std::string text(BufferPool::kCapacityMax, 'x');
  EXPECT_EQ(put(RecordType::item, message_json(id, 1, 2, "m1", text)), "record 5: the item is too long");
}

TEST_P(RecoveryTest, StartsSayWhetherTheyAreClean) {
  EXPECT_EQ(started(true), "record 2: it says clean, but the record before is not `stopped`");
  EXPECT_EQ(stopped(), "");
  EXPECT_EQ(started(false),
            "record 4: it says not clean, but the record before is `stopped`, or there is none");
  EXPECT_EQ(created("v1"), "record 5: it comes behind `stopped` without `started`");
}

// -- How much is kept --

TEST_P(RecoveryTest,
       OfMoreConversationsThanAShardKeepsTheLongestClosedAreForgottenAndWhatComesOfThemSkipped) {
  const std::string first = open("v1");
  const std::string second = open("v2");
  close(second);
  close(first);
  Ids later;
  for (int i = 0; i < 3; ++i) later.push_back(open("w" + std::to_string(i)));
  EXPECT_EQ(recovery->counts().forgotten, 1U);
  EXPECT_EQ(event(second, wire::EventKind::rated), "");
  // A count of this Recovery alone, and no part of what it says.
  EXPECT_EQ(recovery->counts().skipped, GetParam() ? 0U : 1U);
  EXPECT_EQ(open("other", 1, "sales", 1), id_of("other")) << "another shard's room";
  const Recovered recovered = take(1, 100);
  EXPECT_EQ(ids(recovered.shards[0].closed), Ids{first});
  EXPECT_EQ(recovered.shards[0].open.size(), 4U);
}

TEST_P(RecoveryTest, WhatIsForgottenIsNotLookedForAgain) {
  for (uint64_t n = 1; n <= 50; ++n) close(open("v1", n));
  EXPECT_EQ(recovery->counts().forgotten, 50U - kConversationsMax);
  const Recovered recovered = take();
  ASSERT_EQ(recovered.shards[0].closed.size(), kConversationsMax);
  EXPECT_EQ(recovered.shards[0].closed.back()->machine().id(), id_of("v1", 50));
}

TEST_P(RecoveryTest, EachShardTakesWhatIsAtHomeThereAndNoMoreThanItKeeps) {
  constexpr uint32_t kShards = 3;
  Ids opened;
  Ids closed;
  for (uint16_t i = 0; i < 12; ++i) {
    const std::string id = open("v" + std::to_string(i), 1, "sales", i);  // origins with room
    if (i % 2 == 0) opened.push_back(id);
    if (i % 2 == 1) closed.push_back(id);
  }
  for (const std::string& id : closed) close(id);
  const Recovered recovered = take(kShards, 3);
  uint32_t numbers = 0;
  for (uint32_t shard = 0; shard < kShards; ++shard) {
    EXPECT_LE(recovered.shards[shard].closed.size() + recovered.shards[shard].open.size(),
              std::max<size_t>(3, recovered.shards[shard].open.size()));
    uint32_t last = 0;
    for (const auto& one : recovered.shards[shard].open) {
      EXPECT_EQ(shard_of(partition_of(Role::visitor, one->visitor_id), kShards), shard);
      EXPECT_GT(one->number, last);
      EXPECT_EQ(one->machine().id(), opened[one->number - 1]);
      last = one->number;
      ++numbers;
    }
  }
  EXPECT_EQ(numbers, opened.size());
}

TEST_P(RecoveryTest, MoreOpenOnesThanFitAreAnErrorAndNoneIsDropped) {
  for (int i = 0; i < 3; ++i) open("v" + std::to_string(i));
  const Result<Recovered> taken = recovery->take(1, 2);
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().message,
            "3 conversations are open in the journal, and conversations-max allows 2: raise it");
}

// -- Groups, agents, blocks --

TEST_P(RecoveryTest, ConversationsOfAGroupThatIsGoneGoToTheFirstAndAreCounted) {
  open("v1", 1, "gone");
  const std::string back = open("v2", 1, "gone");
  ASSERT_EQ(event(back, wire::EventKind::assigned, 1, "a1"), "");
  ASSERT_EQ(event(back, wire::EventKind::requeued, 2, {}, "support"), "");
  for (const std::string_view visitor : {"v3", "v4"}) {
    const std::string away = open(visitor, 1, "support");
    ASSERT_EQ(event(away, wire::EventKind::requeued, 1, {}, "gone"), "");
  }
  const Recovered recovered = take();
  std::vector<chat::GroupId> groups;
  for (const auto& one : recovered.shards[0].open) groups.push_back(one->machine().group());
  EXPECT_EQ(groups, (std::vector<chat::GroupId>{0, 1, 0, 0}));
  EXPECT_EQ(recovery->counts().regrouped, 3U);
}

TEST_P(RecoveryTest, WhatGoesToAQueueNamesTheGroupOfIt) {
  const std::string id = open("v1");
  ASSERT_EQ(event(id, wire::EventKind::assigned, 1, "a1"), "");
  EXPECT_THAT(event(id, wire::EventKind::requeued, 2), testing::HasSubstr(": requeued: no group gets it"));
  EXPECT_THAT(event(id, wire::EventKind::transferred, 2),
              testing::HasSubstr(": transferred: no group gets it"));
}

TEST_P(RecoveryTest, TheLastWordOfEachAgentCounts) {
  using wire::PresenceStatus;
  const auto say = [&](std::string_view agent, PresenceStatus status, uint32_t capacity) {
    ASSERT_EQ(put(RecordType::presence, wire::payload_of(wire::PresenceSet{
                                            .agent = agent, .status = status, .capacity = capacity})),
              "");
  };
  say("a1", PresenceStatus::online, 3);
  say("a2", PresenceStatus::online, chat::Dispatcher::kTokenCapacity);
  say("a1", PresenceStatus::away, chat::Dispatcher::kTokenCapacity);
  say("a2", PresenceStatus::offline, chat::Dispatcher::kTokenCapacity);
  crash();
  const Recovered recovered = take();
  ASSERT_EQ(recovered.words.size(), 1U);
  EXPECT_EQ(recovered.words[0].agent, "a1");
  EXPECT_EQ(recovered.words[0].status, chat::Presence::away);
  EXPECT_EQ(recovered.words[0].capacity, chat::Dispatcher::kTokenCapacity);
}

TEST_P(RecoveryTest, BlocksAreKnownAtTheVisitorsHomeAndThoseThatPassedAreForgotten) {
  const auto block = [&](std::string_view visitor, int64_t until_ms) {
    ASSERT_EQ(put(RecordType::block, wire::payload_of(wire::VisitorBlocked{
                                         .visitor = visitor, .until_ms = static_cast<uint64_t>(until_ms)})),
              "");
  };
  block("v1", now_ms + 1'000'000);
  for (int i = 0; i < 5'000; ++i) block("passed" + std::to_string(i), now_ms);
  block("v2", now_ms + 1'000'000);
  block("v2", 0);
  const Recovered recovered = take(2);
  size_t blocks = 0;
  for (uint32_t shard = 0; shard < 2; ++shard) {
    blocks += recovered.shards[shard].blocked.size();
    for (const RecoveredBlock& one : recovered.shards[shard].blocked) {
      EXPECT_EQ(shard_of(partition_of(Role::visitor, one.visitor), 2), shard);
      EXPECT_NE(one.visitor, "v2");
    }
  }
  EXPECT_LT(blocks, 2'000U);
  const auto& home = recovered.shards[shard_of(partition_of(Role::visitor, "v1"), 2)].blocked;
  EXPECT_TRUE(std::ranges::any_of(home, [](const RecoveredBlock& one) { return one.visitor == "v1"; }));
}

// -- On its shard --

TEST_P(RecoveryTest, ARecordGetsFactsStateAndFramesOfTheVeryBytes) {
  const std::string id = open("v1", 1, "support");
  ASSERT_EQ(message(id, "m1"), "");
  ASSERT_EQ(event(id, wire::EventKind::assigned, 1, "a1"), "");
  const Recovered recovered = take();
  const RecoveredConversation& from = *recovered.shards[0].open[0];

  ManualClock clock;
  Mesh mesh{{.members = 1}};
  hub::HandTurnedShard home{0, mesh, clock};
  PoolResource memory(home.pool());
  ConversationRecord record(Handle(0, 1, 1), id, from.machine().group(), {.items_max = kHistoryItems},
                            memory);
  restore(from, home.pool(), record);
  EXPECT_EQ(record.visitor_id, "v1");
  EXPECT_TRUE(record.machine.owned_by("a1"));
  for (uint64_t seq = 1; seq <= 3; ++seq) {
    const Block& frame = *static_cast<const Block*>(record.machine.items().at(seq).body);
    EXPECT_EQ(frame_json(frame), item(from, seq));
    EXPECT_EQ(frame_conversation(frame), id);
    EXPECT_EQ(frame_header(frame).type, seq == 2 ? wire::ServerType::message : wire::ServerType::event);
  }
  record.machine.release_items([&](void* body) { home.pool().release(static_cast<Block*>(body)); });
}

// -- Forgotten visitors --

TEST_P(RecoveryTest, OfAForgottenVisitorNothingIsLeftButWhatCameLater) {
  const auto forgotten = [this](std::string_view visitor) {
    return put(RecordType::forgotten, wire::payload_of(wire::VisitorForgotten{.visitor = visitor}));
  };
  const std::string closed = open("v1", 1);
  ASSERT_EQ(message(closed, "m1"), "");
  close(closed);
  const std::string waiting = open("v1", 2);
  const std::string other = open("v2", 1);
  ASSERT_EQ(forgotten("v1"), "");
  ASSERT_EQ(forgotten("v1"), "") << "again";
  ASSERT_EQ(forgotten("nobody"), "");
  if (GetParam()) {
    EXPECT_FALSE(snapshot_bytes(*recovery).contains("\"v1\""));
  }
  const std::string later = open("v1", 3);
  ASSERT_EQ(message(other, "m2"), "");
  crash();
  for (uint64_t n = 4; n < 8; ++n) close(open("v3", n));  // there is room: the limit counts what is left
  const Recovered recovered = take();
  EXPECT_EQ(ids(recovered.shards[0].open), (std::vector{other, later}));
  EXPECT_EQ(recovered.shards[0].closed.size(), 2U);
}

TEST_P(RecoveryTest, ForgettingMakesRoomForOthers) {
  for (uint64_t n = 1; n <= kConversationsMax; ++n) close(open("v1", n));
  ASSERT_EQ(put(RecordType::forgotten, wire::payload_of(wire::VisitorForgotten{.visitor = "v1"})), "");
  const uint64_t before = recovery->counts().forgotten;
  for (uint64_t n = 1; n <= kConversationsMax; ++n) close(open("v2", n));
  EXPECT_EQ(recovery->counts().forgotten, before);
  EXPECT_EQ(take().shards[0].closed.size(), kConversationsMax);
}

// -- Snapshots --

TEST_P(RecoveryTest, ClosedOnesThatAreThinnedKeepWhatTheyAreAndTheirLatestItem) {
  const std::string first = open("v1");
  ASSERT_EQ(message(first, "m1"), "");
  const std::string second = open("v2");
  ASSERT_EQ(message(second, "m2"), "");
  const std::string third = open("v3");
  ASSERT_EQ(message(third, "m3"), "");
  close(second);
  close(first);
  recovery->thin_closed(3);
  go_on_from_a_snapshot();
  const Recovered recovered = take();
  const auto items = [&recovered](std::string_view id) {
    for (const auto* kept : {&recovered.shards[0].open, &recovered.shards[0].closed}) {
      for (const auto& conversation : *kept) {
        if (conversation->machine().id() == id) return conversation->machine().items().size();
      }
    }
    return 0U;
  };
  EXPECT_EQ(items(third), 2U) << "open";
  EXPECT_EQ(items(first), 3U) << "closed last";
  EXPECT_EQ(items(second), 1U);
  const RecoveredConversation& thin = *recovered.shards[0].closed[0];
  EXPECT_EQ(thin.machine().id(), second);
  EXPECT_EQ(thin.machine().last_seq(), 3U);
  EXPECT_TRUE(thin.closed());
  const chat::ConversationImage image = thin.machine().image();
  EXPECT_EQ(image.senders.size(), 1U);
  EXPECT_EQ(image.senders[0].first_seq, 0U);
}

}  // namespace
}  // namespace taut::gateway
