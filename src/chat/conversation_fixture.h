// Test support: one conversation, its parties, and bodies that are counted in and out.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "chat/conversation.h"
#include "chat/counting_resource.h"

namespace taut::chat {

[[nodiscard]] inline IdHash id_hash(uint64_t n) {
  return {.high = n * 0x9E37'79B9'7F4A'7C15ULL, .low = (n + 1) * 0xBF58'476D'1CE4'E5B9ULL};
}

/// Bodies are numbers; a body handed back twice, or never held, fails the test.
class ConversationFixture {
 public:
  static constexpr uint32_t kItemsMax = 300;

  ConversationFixture() = default;
  ConversationFixture(const ConversationFixture&) = delete;
  ConversationFixture& operator=(const ConversationFixture&) = delete;
  ~ConversationFixture() {
    release_all();
    EXPECT_EQ(bodies_held(), 0U);
  }

  [[nodiscard]] static Party visitor() { return {.kind = PartyKind::visitor, .id = "v1"}; }
  [[nodiscard]] static Party agent(std::string_view id) { return {.kind = PartyKind::agent, .id = id}; }

  [[nodiscard]] void* next_body() {
    held_.insert(++bodies_);
    return reinterpret_cast<void*>(bodies_);
  }
  void release(void* body) {
    if (body == nullptr) return;
    EXPECT_EQ(held_.erase(reinterpret_cast<uintptr_t>(body)), 1U);
  }
  void release_all() {
    c.release_items([this](void* body) { release(body); });
  }
  [[nodiscard]] size_t bodies_held() const { return held_.size(); }

  void append_due() { release(c.append_event(next_body(), 0)); }
  void append(const Change& change) {
    ASSERT_TRUE(change.changed) << name(change.code);
    ASSERT_EQ(change.seq, c.last_seq() + 1);
    append_due();
  }

  /// Sends and, where that is allowed, appends.
  SendDecision say(const Party& sender, uint64_t id, uint64_t body_hash = 0, int64_t ts_ms = 0,
                   ItemKind kind = ItemKind::text) {
    const SendDecision decision = c.on_send(sender, id_hash(id), body_hash, kind);
    if (decision.code != Code::ok || decision.dup) return decision;
    if (decision.accepts) append_due();
    EXPECT_EQ(decision.seq, c.last_seq() + 1);
    release(c.append_message(next_body(), ts_ms));
    return decision;
  }

  void open() { append(c.open()); }
  void assign(std::string_view id, uint32_t owner_epoch) {
    append(c.apply(Assign{.agent = Handle(1, 1, 5), .opening = c.opening(), .owner_epoch = owner_epoch}, id));
  }
  void open_assigned(std::string_view id, uint32_t owner_epoch = 1) {
    open();
    assign(id, owner_epoch);
  }
  void open_active(std::string_view id) {
    open_assigned(id);
    append(c.accept(agent(id)));
  }

 private:
  CountingResource memory_;
  std::set<uintptr_t> held_;
  uintptr_t bodies_ = 0;

 public:
  Conversation c{"c1", 0, {.items_max = kItemsMax}, memory_};
};

}  // namespace taut::chat
