// Test support: a dispatcher, a hand-turned clock, and effects as short sentences.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "chat/counting_resource.h"
#include "chat/dispatcher.h"

namespace taut::chat {

/// Conversations are numbers, agents are ids whose endpoint is made from the order in which they came.
class DispatcherFixture {
 public:
  static constexpr uint32_t kAgentsMax = 100;
  static constexpr uint32_t kConversationsMax = 2000;
  static constexpr int64_t kSecond = 1'000'000'000;
  static constexpr int64_t kAcceptSeconds = 20;

  [[nodiscard]] static ConversationKey key(uint64_t n) { return Handle(2, 1, static_cast<uint32_t>(n)); }
  [[nodiscard]] static uint32_t number(ConversationKey k) { return k.slot(); }

  [[nodiscard]] AgentKey agent_key(const std::string& id) {
    const auto next = static_cast<uint32_t>(keys_.size());
    return keys_.try_emplace(id, Handle(1, 1, next)).first->second;
  }

  void connect(const std::string& id, uint32_t capacity, GroupSet groups = group_bit(0),
               AgentKey moved = {}) {
    if (moved) keys_[id] = moved;
    ASSERT_TRUE(d.agent_connected(id, agent_key(id), {.groups = groups, .capacity = capacity}, now_ns));
  }
  void disconnect(const std::string& id) { d.agent_disconnected(id, agent_key(id), now_ns); }
  void presence(const std::string& id, Presence status, uint32_t capacity = Dispatcher::kTokenCapacity) {
    d.agent_presence(id, status, capacity, now_ns);
  }
  void online(const std::string& id, uint32_t capacity) {
    connect(id, capacity);
    presence(id, Presence::online);
  }
  void open(uint64_t n, GroupId group = 0) {
    ASSERT_TRUE(d.conversation_opened(key(n), group, 1, 0, now_ns));
  }
  void accept(uint64_t n, uint32_t owner_epoch) { d.accepted(key(n), owner_epoch, now_ns); }
  void pass(int64_t seconds) {
    now_ns += seconds * kSecond;
    d.advance(now_ns);
  }

  /// The effects since the last take(), in words.
  [[nodiscard]] std::vector<std::string> take() {
    std::vector<std::string> words;
    for (const Effect& effect : d.effects())
      words.push_back(std::visit([this](const auto& e) { return say(e); }, effect));
    d.clear_effects();
    return words;
  }

  uint32_t last_opening = 0;
  int64_t now_ns = kSecond;
  CountingResource memory;
  /// Group 0 overflows into group 1 after `overflow_after_ns`; 0: not at all.
  explicit DispatcherFixture(int64_t overflow_after_ns = 0)
      : d({.groups = 3,
           .agents_max = kAgentsMax,
           .conversations_max = kConversationsMax,
           .accept_ns = kAcceptSeconds * kSecond,
           .overflow = {{{.to = overflow_after_ns == 0 ? kNoGroup : 1, .after_ns = overflow_after_ns}}}},
          memory) {}
  Dispatcher d;

 private:
  [[nodiscard]] std::string say(const Assign& e) {
    last_opening = e.opening;
    const std::string id(d.agent_id(e.agent_index));
    EXPECT_EQ(e.agent, agent_key(id));
    EXPECT_EQ(e.accept_ms, kAcceptSeconds * 1000);
    return "assign " + std::to_string(number(e.conversation)) + " " + id + " #" +
           std::to_string(e.owner_epoch) + (e.accepted ? " accepted" : "");
  }
  [[nodiscard]] std::string say(const Requeue& e) {
    return "requeue " + std::to_string(number(e.conversation)) + " " + std::string(name(e.reason)) + " #" +
           std::to_string(e.owner_epoch);
  }
  [[nodiscard]] std::string say(const OwnerMoved& e) {
    return "moved " + std::to_string(number(e.conversation)) + " #" + std::to_string(e.owner_epoch);
  }
  [[nodiscard]] std::string say(const Position& e) {
    return "position " + std::to_string(number(e.conversation)) + " " + std::to_string(e.position);
  }

  std::map<std::string, AgentKey> keys_;
};

}  // namespace taut::chat
