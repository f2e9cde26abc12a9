#include "sim/oracle.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace taut::sim {

namespace {

std::string place(uint64_t epoch, uint64_t seq) {
  return "(" + std::to_string(epoch) + ", " + std::to_string(seq) + ")";
}

/// Never 0. FNV-1a.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xCBF2'9CE4'8422'2325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3ULL;
  return hash | 1U;
}

}  // namespace

void Oracle::complain(std::string name, std::string what) {
  if (!violation_) violation_ = {std::move(name), std::move(what)};
}

Oracle::Conversation& Oracle::conversation(std::string_view id) {
  const auto found = conversations_.find(id);
  if (found != conversations_.end()) return found->second;
  return conversations_[std::string(id)];
}

void Oracle::note_last(std::string_view id, uint64_t seq) {
  Conversation& c = conversation(id);
  if (c.last_life != life_) c.last = 0;
  c.last_life = life_;
  c.last = std::max(c.last, seq);
}

uint64_t Oracle::last_seq(std::string_view id) const {
  const auto found = conversations_.find(id);
  return found == conversations_.end() || found->second.last_life != life_ ? 0 : found->second.last;
}

void Oracle::acked(const Ack& ack) {
  Conversation& c = conversation(ack.conversation);
  const SendKey key{std::string(ack.sender), std::string(ack.client_msg_id)};
  const auto [at, fresh] = c.sends.try_emplace(key);
  Send& send = at->second;
  const std::string who = key.first + "'s " + key.second + " in " + std::string(ack.conversation);
  const bool fixed = !fresh && (send.durable || send.life == life_);
  if (fixed && (send.epoch != ack.epoch || send.seq != ack.seq || send.ts != ack.ts)) {
    complain("repeats are answered as the first time",
             who + " was at " + place(send.epoch, send.seq) + " and is now at " + place(ack.epoch, ack.seq));
  }
  if (fixed && !ack.dup && !ack.durable)
    complain("repeats are known as such", who + " is acked a second time, and not as a repeat");
  const bool durable = send.durable || ack.durable;
  send = {
      .epoch = ack.epoch, .seq = ack.seq, .ts = ack.ts, .life = life_, .durable = durable, .note = ack.note};
  note_last(ack.conversation, ack.seq);
  if (!ack.durable) return;
  ++durable_acks_;
  c.places[{ack.epoch, ack.seq}].durable = true;
}

void Oracle::refused(std::string_view id, std::string_view sender, std::string_view client_msg_id,
                     std::string_view code) {
  const Conversation& c = conversation(id);
  const auto found = c.sends.find(SendKey{std::string(sender), std::string(client_msg_id)});
  if (found == c.sends.end() || (!found->second.durable && found->second.life != life_)) return;
  complain("repeats are answered as the first time",
           std::string(sender) + "'s " + std::string(client_msg_id) + " in " + std::string(id) + " was at " +
               place(found->second.epoch, found->second.seq) + " and is now " + std::string(code));
}

void Oracle::seen(const Item& item, Role reader) {
  ++items_seen_;
  Conversation& c = conversation(item.conversation);
  Place& here = c.places[{item.epoch, item.seq}];
  uint64_t& shown = reader == Role::visitor ? here.visitors : here.agents;
  const uint64_t hash = hash_of(item.object);
  if (shown != 0 && shown != hash) {
    complain("no two items share epoch and seq", std::string(item.conversation) + " " +
                                                     place(item.epoch, item.seq) + " is now " +
                                                     std::string(item.object));
  }
  shown = hash;
  note_last(item.conversation, item.seq);
}

void Oracle::undone(std::string_view id, uint64_t epoch, uint64_t seq) {
  const Conversation& c = conversation(id);
  const auto found = c.places.find({epoch, seq});
  if (found == c.places.end()) return;
  if (!found->second.durable && !durable_first_) return;
  complain("what is durable stays",
           std::string(id) + " " + place(epoch, seq) + " was told as durable and is no more");
}

void Oracle::forgotten(std::string_view id) {
  for (const auto& [key, send] : conversation(id).sends) {
    if (send.durable)
      return complain("what is durable stays", std::string(id) + " is gone, with " + key.second + " in it");
  }
}

void Oracle::assigned(std::string_view id, uint64_t epoch, uint64_t owner_epoch, std::string_view agent) {
  std::string& owner = conversation(id).owners[{epoch, owner_epoch}];
  if (!owner.empty() && owner != agent) {
    complain("one owner", std::string(id) + " is " + owner + "'s and " + std::string(agent) + "'s");
  }
  owner = agent;
}

void Oracle::owns(const std::string& agent, size_t conversations, uint32_t capacity) {
  if (conversations <= capacity || (crashed_ && !checked_.contains(agent))) return;
  complain("load is at most capacity",
           agent + " owns " + std::to_string(conversations) + " of " + std::to_string(capacity));
}

void Oracle::ended(bool clean) {
  if (clean) {
    for (auto& [id, c] : conversations_) {
      for (auto& [key, send] : c.sends) {
        if (send.life == life_) send.durable = true;
      }
    }
  }
  ++life_;
  if (clean) return;
  crashed_ = true;
  checked_.clear();
}

// -- the last reading --

void Oracle::read_again(const Item& item) {
  Conversation& c = conversation(item.conversation);
  c.read[item.seq] = item.epoch;
  if (item.client_msg_id.empty()) return;
  const SendKey key{std::string(item.sender), std::string(item.client_msg_id)};
  if (const auto [at, fresh] = c.read_messages.try_emplace(key, item.seq); !fresh && at->second != item.seq) {
    complain("every message is there once",
             key.first + "'s " + key.second + " is in " + std::string(item.conversation) + " twice");
  }
}

void Oracle::read_all(std::string_view id, uint64_t expired, uint64_t last) {
  Conversation& c = conversation(id);
  uint64_t epoch = 0;
  for (uint64_t seq = expired + 1; seq <= last; ++seq) {
    const auto found = c.read.find(seq);
    if (found == c.read.end() || found->second < epoch) {
      return complain("the sequence is whole", std::string(id) + " has no item " + std::to_string(seq) +
                                                   " or one of an earlier epoch");
    }
    epoch = found->second;
  }
  for (const auto& [key, send] : c.sends) {
    if (!send.durable || send.seq <= expired) continue;
    const auto found = c.read.find(send.seq);
    const auto message = c.read_messages.find(key);
    const bool named = message != c.read_messages.end() ? message->second == send.seq : send.note;
    if (found == c.read.end() || found->second != send.epoch || !named) {
      complain("every durable message is there", key.first + "'s " + key.second + " was durable at " +
                                                     place(send.epoch, send.seq) + " in " + std::string(id));
    }
  }
}

}  // namespace taut::sim
