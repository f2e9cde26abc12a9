// Test support: what a journal would hold of one conversation, and a conversation made of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "chat/conversation.h"
#include "chat/conversation_fixture.h"
#include "chat/counting_resource.h"

namespace taut::chat {

struct JournaledMessage {
  RestoredMessage what;  ///< its sender_id is `sender`
  std::string sender;
  void* body = nullptr;
};
struct JournaledEvent {
  RestoredEvent what;  ///< its agent is `agent`
  std::string agent;
  void* body = nullptr;
};
struct JournaledMark {
  Side side = Side::visitor;
  ReceiptLevel level = ReceiptLevel::delivered;
  uint64_t seq = 0;
};
struct JournaledEpoch {};
using Journaled = std::variant<JournaledMessage, JournaledEvent, JournaledMark, JournaledEpoch>;

/// A conversation whose bodies are numbers that belong to nobody.
class Restored {
 public:
  explicit Restored(uint32_t items_max) : machine("c1", 0, {.items_max = items_max}, memory) {}
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() {
    machine.release_items([](void*) {});
  }

  void feed(const Journaled& entry) {
    std::visit([this](const auto& e) { feed(e); }, entry);
  }
  void feed(const JournaledMessage& entry) {
    RestoredMessage message = entry.what;
    message.sender_id = entry.sender;
    expect_taken(machine.restore_message(message, entry.body));
  }
  void feed(const JournaledEvent& entry) {
    RestoredEvent event = entry.what;
    event.agent = entry.agent;
    expect_taken(machine.restore_event(event, entry.body));
  }
  void feed(const JournaledMark& entry) {
    EXPECT_EQ(machine.mark(entry.side, entry.level, entry.seq), MarkResult::moved);
  }
  void feed(const JournaledEpoch&) { machine.start_epoch(); }

  CountingResource memory;
  Conversation machine;

 private:
  static void expect_taken(const Result<void*>& taken) {
    EXPECT_TRUE(taken.has_value()) << taken.error().message;
  }
};

[[nodiscard]] inline std::unique_ptr<Restored> replay(const std::vector<Journaled>& journal,
                                                      uint32_t items_max) {
  auto again = std::make_unique<Restored>(items_max);
  for (const Journaled& entry : journal) again->feed(entry);
  return again;
}

/// The conversation made again of its image and of the items that it keeps, which the journal has.
[[nodiscard]] inline std::unique_ptr<Restored> through_image(const Conversation& from,
                                                             const std::vector<Journaled>& journal,
                                                             uint32_t items_max) {
  auto again = std::make_unique<Restored>(items_max);
  Conversation& to = again->machine;
  const ConversationImage image = from.image();
  EXPECT_TRUE(to.restore_image(image));
  from.for_each_remembered([&](const RememberedSender& sender, const DedupWindow::Entry& entry) {
    EXPECT_TRUE(to.remember(sender.kind, sender.id, entry));
  });
  const auto known = [&image](const JournaledMessage& message) {
    return std::ranges::any_of(image.senders, [&message](const RememberedSender& sender) {
      const bool same = sender.kind == message.what.sender &&
                        (sender.kind == PartyKind::visitor || sender.id == message.sender);
      return same && sender.first_seq != 0 && message.what.seq >= sender.first_seq;
    });
  };
  for (const Journaled& entry : journal) {
    Result<void*> kept = nullptr;
    if (const auto* message = std::get_if<JournaledMessage>(&entry)) {
      RestoredMessage what = message->what;
      what.sender_id = message->sender;
      if (what.seq >= image.first_seq) kept = to.keep_message(what, known(*message), message->body);
    } else if (const auto* event = std::get_if<JournaledEvent>(&entry)) {
      if (event->what.seq >= image.first_seq) kept = to.keep_event(event->what, event->body);
    }
    EXPECT_TRUE(kept.has_value()) << kept.error().message;
  }
  return again;
}

/// What the gateway writes into an event, as the journal has it.
[[nodiscard]] inline JournaledEvent journaled(const Conversation& after, const Change& change, void* body,
                                              int64_t ts_ms) {
  const bool queued = after.state() == ConversationState::queued;
  return {.what = {.epoch = change.epoch,
                   .seq = change.seq,
                   .ts_ms = ts_ms,
                   .event = change.event,
                   .agent = {},
                   .group = queued ? after.group() : kNoGroup,
                   .owner_epoch = change.owner_epoch},
          .agent = std::string(after.owner().id.view()),
          .body = body};
}

inline void expect_same_items(const Conversation& a, const Conversation& b) {
  ASSERT_EQ(a.last_seq(), b.last_seq());
  ASSERT_EQ(a.items().first_seq(), b.items().first_seq());
  for (uint64_t seq = a.items().first_seq(); seq <= a.last_seq(); ++seq) {
    const Item& x = a.items().at(seq);
    const Item& y = b.items().at(seq);
    ASSERT_EQ(x.body, y.body);
    ASSERT_EQ(x.ts_ms, y.ts_ms);
    ASSERT_EQ(x.epoch, y.epoch);
    ASSERT_EQ(x.kind, y.kind);
    ASSERT_EQ(x.event, y.event);
  }
}

inline void expect_same_plan(const Conversation& a, const Conversation& b, uint32_t epoch, uint64_t seq) {
  const ResumePlan x = a.plan_resume(epoch, seq);
  const ResumePlan y = b.plan_resume(epoch, seq);
  ASSERT_EQ(x.gap_count, y.gap_count) << "epoch " << epoch << " seq " << seq;
  for (uint32_t i = 0; i < x.gap_count; ++i) {
    ASSERT_EQ(x.gaps[i].from, y.gaps[i].from);
    ASSERT_EQ(x.gaps[i].to, y.gaps[i].to);
    ASSERT_EQ(x.gaps[i].reason, y.gaps[i].reason);
  }
  ASSERT_EQ(x.start, y.start);
  ASSERT_EQ(x.last, y.last);
  ASSERT_EQ(x.epoch, y.epoch);
}

/// Everything but what a restart forgets: contests and an unanswered decline.
inline void expect_same(const Conversation& a, const Conversation& b) {
  ASSERT_EQ(a.state(), b.state());
  ASSERT_EQ(a.group(), b.group());
  ASSERT_EQ(a.opening(), b.opening());
  ASSERT_EQ(a.rated(), b.rated());
  ASSERT_EQ(a.owner_epoch(), b.owner_epoch());
  ASSERT_EQ(a.owner().id.view(), b.owner().id.view());
  ASSERT_EQ(a.owner().owner_epoch, b.owner().owner_epoch);
  ASSERT_EQ(a.epoch(), b.epoch());
  expect_same_items(a, b);
  for (const Side side : {Side::visitor, Side::agent}) {
    for (const ReceiptLevel level : {ReceiptLevel::delivered, ReceiptLevel::read})
      ASSERT_EQ(a.mark_of(side, level), b.mark_of(side, level));
  }
  for (uint32_t epoch = 0; epoch <= a.epoch() + 1; ++epoch) {
    const uint64_t step = a.last_seq() / 7 + 1;
    for (uint64_t seq = 0; seq <= a.last_seq() + step; seq += step) expect_same_plan(a, b, epoch, seq);
  }
  for (uint64_t before = 0; before <= a.last_seq(); before += a.last_seq() / 5 + 1) {
    const Page x = a.history(before, 50);
    const Page y = b.history(before, 50);
    ASSERT_EQ(x.from, y.from);
    ASSERT_EQ(x.to, y.to);
    ASSERT_EQ(x.more, y.more);
    ASSERT_EQ(x.evicted, y.evicted);
  }
}

/// Both know the message, or neither.
inline void expect_same_answer(Conversation& a, Conversation& b, const JournaledMessage& sent) {
  const Party sender{.kind = sent.what.sender, .id = sent.sender};
  const auto ask = [&](Conversation& c, uint64_t body_hash) {
    return c.on_send(sender, sent.what.id, body_hash, sent.what.kind);
  };
  const SendDecision x = ask(a, sent.what.body_hash);
  const SendDecision y = ask(b, sent.what.body_hash);
  ASSERT_EQ(x.dup, y.dup) << sent.sender << " seq " << sent.what.seq;
  if (!x.dup) return;
  ASSERT_EQ(y.epoch, sent.what.epoch);
  ASSERT_EQ(y.seq, sent.what.seq);
  ASSERT_EQ(y.ts_ms, sent.what.ts_ms);
  ASSERT_EQ(ask(b, ~sent.what.body_hash).code, Code::id_conflict);
}

}  // namespace taut::chat
