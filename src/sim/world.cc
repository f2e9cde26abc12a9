#include "sim/world.h"

#include <algorithm>
#include <array>
#include <utility>

#include "auth/jwt.h"
#include "base/assert.h"

namespace taut::sim {

namespace {

constexpr int64_t kMs = 1'000'000;

gateway::Settings settings_of(Dice dice) {
  gateway::Settings s;
  s.data = "data";
  s.groups = {"sales", "support"};
  s.mode = dice.one_in(3) ? wire::Durability::durable_before_deliver : wire::Durability::durable;
  s.connections_max = 128;
  s.conversations_max = 1'024;
  s.history_items = dice.one_in(3) ? 20 : 1'000;
  s.accept_ms = 3'000;
  s.agent_grace_ms = 2'000;
  s.visitor_grace_ms = 10'000;
  s.ping_ms = 5'000;
  s.max_text_bytes = 512;
  s.soft_limit_bytes = 8'192;
  s.hard_limit_bytes = 1U << 20;
  s.trace_every = 64;
  s.journal_linger_us = dice.one_in(3) ? 500 : 0;
  s.journal_segment_bytes = uint64_t{16} << (10 + dice.below(4));
  return s;
}

auth::Secrets make_secrets() {
  std::vector<auth::Secret> secrets;
  secrets.emplace_back("a secret that only the simulator knows");
  return auth::Secrets(std::move(secrets));
}

}  // namespace

World::World(uint64_t seed)
    : seed_(seed),
      files_(seed),
      settings_(settings_of(Dice(seed))),
      secrets_(make_secrets()),
      oracle_(settings_.mode == wire::Durability::durable_before_deliver),
      blocks_(oracle_, clock_),
      server_(clock_, files_, store_, settings_, secrets_) {
  Dice dice(seed);
  TAUT_ASSERT(files_.create_directory(settings_.data).has_value());
  TAUT_ASSERT(files_.sync_directory(".").has_value());
  add_people(dice);
  begin_life(dice);
}

World::~World() {
  clients_.clear();
  if (server_.runs()) static_cast<void>(server_.stop());
}

void World::add_people(Dice& dice) {
  auth::Signer signer(secrets_);
  const bool rush = dice.one_in(3);  // more visitors than the agents have room for
  const auto add = [&](Role role, const std::string& id, uint32_t devices) {
    auth::Claims claims{.id = id, .role = role, .site = settings_.site, .expires_s = int64_t{1} << 33};
    if (role == Role::agent) {
      claims.capacity = rush ? 1 : 1 + static_cast<uint32_t>(dice.below(3));
      claims.group_count = dice.one_in(3) ? 1 : 2;
      claims.group_ids = {settings_.groups[0], settings_.groups[1]};
      agents_.push_back(id);
      queues_.employs(id, *claims.capacity);
    } else {
      visitors_.push_back(id);
    }
    const std::string token = signer.sign(claims);
    for (uint32_t i = 1; i <= devices; ++i) {
      Person person{.role = role,
                    .id = id,
                    .device = "d" + std::to_string(i),
                    .token = token,
                    .capacity = claims.capacity.value_or(0)};
      clients_.push_back(std::make_unique<Client>(std::move(person), settings_.groups, surroundings_));
    }
  };
  const uint64_t agents = rush ? 1 + dice.below(2) : 2 + dice.below(3);
  const uint64_t visitors = rush ? 5 + dice.below(3) : 2 + dice.below(5);
  for (uint64_t i = 1; i <= agents; ++i) add(Role::agent, "a" + std::to_string(i), dice.one_in(4) ? 2 : 1);
  for (uint64_t i = 1; i <= visitors; ++i)
    add(Role::visitor, "v" + std::to_string(i), dice.one_in(3) ? 2 : 1);
}

// -- lives of the process --

/// An operator starts it until it runs. One failing call of the disk may be in the way, a crash as well.
void World::begin_life(Dice& dice) {
  constexpr int kAttempts = 4;
  const auto shards = static_cast<uint32_t>(1 + dice.below(kShardsMax));
  std::string why;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Status started = server_.start(shards, seed_, dice.next());
    if (started) return;
    why = started.error().message;
    files_.restart(files_.stopped() ? MemoryFileSystem::Crash::power : MemoryFileSystem::Crash::process);
  }
  oracle_.complain("a start finds its journal", why);
}

std::string World::end_life(bool clean, MemoryFileSystem::Crash crash, Dice& dice) {
  if (!clean) {
    if (crashes_ == kCrashesMax) return {};
    ++crashes_;
    files_.stop_after(0);
    for (const auto& client : clients_) client->cut();
  }
  for (const auto& client : clients_) client->forget_half_open();
  const bool written = server_.stop();
  for (const auto& client : clients_) {
    while (client->deliver_down(Link::kAll)) {
    }
    client->cut();
  }
  const bool was_clean = clean && written && !files_.stopped();
  oracle_.ended(was_clean);
  blocks_.ended(was_clean);
  queues_.ended(was_clean);
  ordered_.reset();
  heal();
  files_.restart(was_clean ? MemoryFileSystem::Crash::process : crash);
  if (!was_clean && crash == MemoryFileSystem::Crash::power) store_.lose_power();
  begin_life(dice);
  const std::string how = was_clean                                 ? "stop"
                          : crash == MemoryFileSystem::Crash::power ? "power crash"
                                                                    : "kill -9";
  return how + ", and a start" +
         (server_.runs() ? " with " + std::to_string(server_.shards()) + " shards" : "");
}

void World::heal() {
  stalled_ = false;
  store_stalled_ = false;
  files_.set_space(UINT64_MAX);
  store_.fail_calls(0);
}

// -- steps --

std::string World::apply(const Action& action) {
  Dice dice(action.dice);
  hash_ = (hash_ ^ action.dice ^ static_cast<uint64_t>(action.kind)) * 0x100'0000'01B3ULL;
  if (!server_.runs()) return {};
  std::string did;
  if (action.kind <= ActionKind::connect || action.kind == ActionKind::settle ||
      action.kind == ActionKind::administer) {
    did = apply_machine(action, dice);
  } else if (action.kind >= ActionKind::cut) {
    did = apply_fault(action.kind, dice);
  } else {
    Client& client = *dice.pick(clients_);
    did = client.act(action.kind, dice, agents_);
    if (!did.empty()) did = client.name() + ": " + did;
  }
  if (files_.stopped() && server_.runs())
    did += ", in which the process ends: " +
           end_life(false, dice.one_in(3) ? MemoryFileSystem::Crash::process : MemoryFileSystem::Crash::power,
                    dice);
  return writes_down_ ? did + what_they_heard() : did;
}

void World::write_down_what_they_hear() {
  writes_down_ = true;
  for (const auto& client : clients_) client->write_down_what_it_hears();
}

Client* World::any_connected(Dice& dice) {
  std::vector<Client*> connected;
  for (const auto& client : clients_) {
    if (client->connected()) connected.push_back(client.get());
  }
  return connected.empty() ? nullptr : dice.pick(connected);
}

std::string World::apply_machine(const Action& action, Dice& dice) {
  switch (action.kind) {
    case ActionKind::turn: {
      const auto shard = static_cast<uint32_t>(dice.below(server_.shards()));
      return server_.turn(shard) ? "turn of shard " + std::to_string(shard) : std::string();
    }
    case ActionKind::commit:
      return !stalled_ && server_.turn_committer() ? "turn of the committer" : std::string();
    case ActionKind::compact:
      return !stalled_ && server_.turn_compactor() ? "turn of the compactor" : std::string();
    case ActionKind::archive:
      return !store_stalled_ && server_.turn_archive() ? "turn of the archive" : std::string();
    case ActionKind::deliver_up:
    case ActionKind::deliver_down:
      return deliver(action.kind, dice);
    case ActionKind::pass_time:
      return pass_time(dice);
    case ActionKind::connect:
      return connect(dice);
    case ActionKind::administer:
      return administer(dice);
    default:
      settle();
      return "all come to rest";
  }
}

std::string World::deliver(ActionKind kind, Dice& dice) {
  Client* client = any_connected(dice);
  if (client == nullptr) return {};
  const size_t most = dice.one_in(8) ? 1 + dice.below(40) : Link::kAll;
  const bool up = kind == ActionKind::deliver_up;
  if (!(up ? client->deliver_up(most) : client->deliver_down(most))) return {};
  return std::string(up ? "deliver to the server from " : "deliver to ") + client->name() +
         (most == Link::kAll ? "" : ", " + std::to_string(most) + " bytes at most");
}

std::string World::pass_time(Dice& dice) {
  int64_t ns = static_cast<int64_t>(dice.below(5'000'000));
  if (dice.one_in(20)) ns = static_cast<int64_t>(dice.below(1'000)) * kMs;
  if (dice.one_in(300)) ns = static_cast<int64_t>(dice.below(15'000)) * kMs;
  clock_.advance_ns(ns);
  return std::to_string(ns / 1'000) + " us pass";
}

std::string World::connect(Dice& dice) {
  Client& client = *dice.pick(clients_);
  return client.connect(server_.address()) ? client.name() + " connects" : std::string();
}

bool World::administrator_turns() {
  const bool worked = server_.turn_administrator();
  if (ordered_ && server_.administrator().idle()) {
    blocks_.answered(*ordered_);
    ordered_.reset();
  }
  return worked;
}

void World::order(const std::string& visitor, uint32_t seconds) {
  ordered_ = blocks_.asked(visitor, seconds);
  server_.administrator().order(visitor, seconds);
  administrator_turns();
}

/// Hears the answer to its last order, or gives another one.
std::string World::administer(Dice& dice) {
  if (ordered_) return administrator_turns() ? "turn of the administrator" : std::string();
  if (!dice.one_in(8)) return {};
  const std::string& visitor = dice.pick(visitors_);
  const auto seconds = static_cast<uint32_t>(dice.one_in(2) ? 0 : 1 + dice.below(kBlockSecondsMax));
  order(visitor, seconds);
  return "the administrator " + (seconds == 0
                                     ? "lets " + visitor + " in"
                                     : "blocks " + visitor + " for " + std::to_string(seconds) + " s");
}

std::string World::apply_fault(ActionKind kind, Dice& dice) {
  Client* client = any_connected(dice);
  switch (kind) {
    case ActionKind::cut:
      if (client == nullptr) return {};
      client->cut();
      return client->name() + "'s link is cut";
    case ActionKind::half_open:
      if (client == nullptr) return {};
      client->half_open();
      return client->name() + " is gone, and the server hears nothing of it";
    case ActionKind::half_dead: {
      if (client == nullptr) return {};
      const Direction dead = dice.one_in(2) ? Direction::up : Direction::down;
      client->die(dead);
      return "nothing gets through any more " +
             std::string(dead == Direction::up ? "to the server from " : "to ") + client->name();
    }
    case ActionKind::stall_disk:
      stalled_ = !stalled_;
      return stalled_ ? "the disk stalls" : "the disk goes on";
    case ActionKind::disk_full:
      files_.set_space(0);
      return "the disk is full";
    case ActionKind::disk_freed:
      files_.set_space(UINT64_MAX);
      return "the disk has room";
    case ActionKind::fail_write:
      files_.fail_call(MemoryFileSystem::Call::write, dice.below(4));
      return "a write will fail";
    case ActionKind::fail_sync:
      files_.fail_call(MemoryFileSystem::Call::sync, dice.below(4));
      return "a sync will fail";
    case ActionKind::stall_store:
      store_stalled_ = !store_stalled_;
      return store_stalled_ ? "the history's database stalls" : "the history's database goes on";
    case ActionKind::fail_store: {
      const auto calls = static_cast<uint32_t>(1 + dice.below(6));
      store_.fail_calls(calls);
      return "the history's database will fail, " + std::to_string(calls) + " calls";
    }
    case ActionKind::clock_jump: {
      const int64_t ms = static_cast<int64_t>(dice.below(7'200'000)) - 3'600'000;
      clock_.jump_ms(ms);
      blocks_.clock_jumped();
      return "the clock on the wall jumps by " + std::to_string(ms) + " ms";
    }
    case ActionKind::crash_in_a_write:
      files_.stop_after(dice.below(12));
      return "the process will end in a write";
    case ActionKind::crash:
      return end_life(
          false, dice.one_in(3) ? MemoryFileSystem::Crash::process : MemoryFileSystem::Crash::power, dice);
    case ActionKind::restart:
      return end_life(true, MemoryFileSystem::Crash::power, dice);
    default:
      return storm(dice);
  }
}

/// All links are cut, and all come back at once.
std::string World::storm(Dice& dice) {
  for (const auto& client : clients_) client->cut();
  for (const auto& client : clients_) {
    if (!dice.one_in(10)) client->connect(server_.address());
  }
  return "all links are cut, and nearly all come back";
}

}  // namespace taut::sim
