// What an image refuses; that it is whole shows conversation_restore_model_test.cc.
#include "chat/conversation_image.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "chat/conversation_journal.h"

namespace taut::chat {
namespace {

ConversationImage image() {
  return {.state = ConversationState::active,
          .group = 1,
          .opening = 2,
          .rated_opening = 1,
          .owner_epoch = 5,
          .owner = "ada",
          .owned_since = 4,
          .marks = {{{1, 2}, {3, 7}}},
          .ends = {{.first = 1, .epoch = 1, .last = 4}, {.first = 2, .epoch = 3, .last = 7}},
          .first_seq = 5,
          .senders = {{.kind = PartyKind::visitor, .id = {}, .first_seq = 2},
                      {.kind = PartyKind::agent, .id = "ada", .first_seq = 6}}};
}

TEST(ConversationImage, IsWhatTheConversationSaysOfItself) {
  Restored to(10);
  ASSERT_TRUE(to.machine.restore_image(image()));
  EXPECT_EQ(to.machine.state(), ConversationState::active);
  EXPECT_EQ(to.machine.epoch(), 3U);
  EXPECT_EQ(to.machine.last_seq(), 4U) << "its items are still to come";
  EXPECT_TRUE(to.machine.owned_by("ada"));
  EXPECT_EQ(to.machine.owner().owner_epoch, 4U);
  EXPECT_EQ(to.machine.mark_of(Side::agent, ReceiptLevel::read), 7U);
  EXPECT_FALSE(to.machine.rated());
}

TEST(ConversationImage, WhatCannotBeIsRefused) {
  const std::vector<std::pair<std::string, std::function<void(ConversationImage&)>>> faults = {
      {"it has no epoch", [](auto& i) { i.ends.clear(); }},
      {"an epoch ends before it begins", [](auto& i) { i.ends[1].first = 4; }},
      {"its epochs have a hole", [](auto& i) { i.ends[0].epoch = 0, i.ends[0].first = 0; }},
      {"its epochs run backwards", [](auto& i) { i.ends[0].last = 8; }},
      {"it was never opened", [](auto& i) { i.opening = 0; }},
      {"it has no group", [](auto& i) { i.group = kGroupsMax; }},
      {"nobody owns it", [](auto& i) { i.owner = {}; }},
      {"somebody owns it", [](auto& i) { i.state = ConversationState::queued; }},
      {"it was rated before it was opened", [](auto& i) { i.rated_opening = 3; }},
      {"its owner has it by an assignment to come", [](auto& i) { i.owned_since = 6; }},
      {"its items begin behind its end", [](auto& i) { i.first_seq = 9; }},
      {"a receipt is beyond its end", [](auto& i) { i.marks[0][1] = 8; }},
      {"it has too many senders", [](auto& i) { i.senders.resize(SenderWindows::kOthersMax + 2); }},
  };
  for (const auto& [what, spoil] : faults) {
    ConversationImage spoilt = image();
    spoil(spoilt);
    Restored to(10);
    const Status status = to.machine.restore_image(spoilt);
    ASSERT_FALSE(status) << what;
    EXPECT_EQ(status.error().message, what);
  }
}

TEST(ConversationImage, ItemsFollowOneAnotherInTheirEpochs) {
  Restored to(10);
  ASSERT_TRUE(to.machine.restore_image(image()));
  int body = 0;
  const auto keep = [&](uint32_t epoch, uint64_t seq) {
    return to.machine.keep_message({.epoch = epoch, .seq = seq, .sender_id = "v1", .id = {seq, seq}}, true,
                                   &body);
  };
  EXPECT_EQ(keep(2, 6).error().message, "seq 6 does not follow 4");
  EXPECT_EQ(keep(3, 5).error().message, "epoch 3 where 2 is due");
  ASSERT_TRUE(keep(2, 5));
  EXPECT_EQ(to.machine.keep_message({.epoch = 2, .seq = 6, .sender_id = "v1", .id = {5, 5}}, true, &body)
                .error()
                .message,
            "a message whose client_msg_id was there before");
  ASSERT_TRUE(keep(2, 6));
  ASSERT_TRUE(keep(2, 7));
  EXPECT_EQ(keep(2, 8).error().message, "seq 8 is beyond the end");
}

TEST(ConversationImage, RemembersInOrderAndOnce) {
  Restored to(10);
  ASSERT_TRUE(to.machine.restore_image(image()));
  const auto remember = [&](std::string_view sender, uint64_t seq, uint64_t id) {
    return to.machine.remember(PartyKind::agent, sender, {.id = {id, id}, .body_hash = 1, .seq = seq});
  };
  ASSERT_TRUE(remember("ada", 3, 1));
  EXPECT_EQ(remember("bob", 4, 2).error().message, "a message of a sender who is not remembered");
  EXPECT_EQ(remember("ada", 5, 2).error().message, "a message that is kept is remembered besides");
  EXPECT_EQ(remember("ada", 3, 2).error().message, "seq 3 is remembered out of order");
  EXPECT_EQ(remember("ada", 4, 1).error().message, "a client_msg_id is remembered twice");
}

}  // namespace
}  // namespace taut::chat
