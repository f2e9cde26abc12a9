// A world at rest: how it comes to it, what must be true then, and the last reading (of sim/world.h).
#include <algorithm>
#include <string>
#include <vector>

#include "sim/world.h"

namespace taut::sim {

namespace {

/// Rounds in which all must come to rest, and how many of them are quiet, one behind the other, when they
/// have: longer than the committer waits before it tries again, and shorter than the time in which some
/// connection is always pinged.
constexpr int kRoundsMax = 20'000;
constexpr int kQuietRounds = 6;
constexpr int64_t kQuietNs = 50'000'000;
/// Pages, one behind the other, in which everybody must have read what only the history has.
constexpr int kWavesMax = 1'000;
constexpr uint64_t kMemoryBytesMax = uint64_t{32} << 20;

}  // namespace

/// True if somebody was told or said something; a shard's own ticks are no work.
bool World::everybody_turns() {
  bool worked = false;
  for (const auto& client : clients_) worked |= client->deliver_up(Link::kAll);
  for (uint32_t id = 0; id < server_.shards(); ++id) server_.turn(id);
  worked |= server_.turn_committer();
  server_.turn_archive();
  worked |= administrator_turns();
  for (const auto& client : clients_) worked |= client->deliver_down(Link::kAll);
  return worked;
}

bool World::some_are_dying() const {
  return std::ranges::any_of(clients_, [](const auto& client) { return client->is_dying(); });
}

/// Until then heartbeats have ended what is dead.
bool World::rest() {
  heal();
  int quiet = 0;
  for (int round = 0; quiet < kQuietRounds; ++round) {
    const bool dying = some_are_dying();
    if (round == kRoundsMax) {
      if (dying) oracle_.complain("a link that is dead in one direction is ended", "and one is not");
      oracle_.complain("all come to rest", "and after so many turns there is still something to do");
      return true;
    }
    const bool worked = everybody_turns();
    if (files_.stopped()) return false;
    quiet = worked || dying || !server_.history_is_whole() ? 0 : quiet + 1;
    if (worked) continue;
    clock_.advance_ns(kQuietNs);
  }
  return !files_.stopped();
}

void World::settle() {
  if (!rest()) return;
  if (server_.refusing() || server_.undurable_bytes() != 0) {
    oracle_.complain("the journal takes all that it is given",
                     std::to_string(server_.undurable_bytes()) + " bytes are not durable on a healthy disk");
  }
  for (const auto& client : clients_) client->check_at_rest();
  blocks_.at_rest();
  queues_.at_rest();
  if (server_.bytes_in_use() > kMemoryBytesMax)
    oracle_.complain("memory is bounded",
                     std::to_string(server_.bytes_in_use()) + " bytes are in use at rest");
}

std::string World::finish() {
  Dice dice(seed_ ^ hash_);
  if (server_.runs()) read_all_again(dice);
  return what_they_heard();
}

std::string World::what_they_heard() {
  std::string heard;
  for (const auto& client : clients_) heard += client->take_heard();
  return heard;
}

void World::read_all_again(Dice& dice) {
  for (int attempt = 0; attempt < 3 && !rest(); ++attempt)
    static_cast<void>(end_life(false, MemoryFileSystem::Crash::power, dice));
  crashes_ = std::min(crashes_, kCrashesMax - 1);
  static_cast<void>(end_life(false, MemoryFileSystem::Crash::power, dice));
  if (!server_.runs() || violation()) return;
  const std::vector<Client*> readers = last_readers();
  let_in(readers);
  read_older(readers);
  for (Client* client : readers) {
    if (!client->live()) return oracle_.complain("who comes back is let in", client->name() + " is not");
    client->finish_last_reading();
  }
}

std::vector<Client*> World::last_readers() {
  std::vector<Client*> readers;
  for (const auto& client : clients_) {
    if (client->person().role != Role::visitor) continue;
    if (!readers.empty() && readers.back()->person().id == client->person().id) {
      for (const auto& [conversation, known] : client->readers()) readers.back()->know(conversation);
    } else {
      readers.push_back(client.get());
    }
  }
  // A visitor may have lost its link before it was told of what it opened, and an agent have answered.
  for (const auto& client : clients_) {
    for (const auto& [conversation, visitor] : client->visitors()) {
      const auto owner = std::ranges::find(readers, visitor, [](const Client* c) { return c->person().id; });
      if (owner != readers.end()) (*owner)->know(conversation);
    }
  }
  return readers;
}

/// Who is still blocked after the last start is seen to be, and let in then.
void World::let_in(const std::vector<Client*>& readers) {
  for (Client* client : readers) client->connect(server_.address(), true);
  static_cast<void>(rest());
  for (Client* client : readers) {
    if (client->live()) continue;
    order(client->person().id, 0);
    static_cast<void>(rest());
    client->connect(server_.address(), true);
  }
  static_cast<void>(rest());
}

void World::read_older(const std::vector<Client*>& readers) {
  for (int wave = 0; wave < kWavesMax; ++wave) {
    bool asked = false;
    for (Client* client : readers) asked |= client->ask_older();
    if (!asked) return;
    static_cast<void>(rest());
  }
  oracle_.complain("history goes back to the first item", "and after so many pages there are items left");
}

}  // namespace taut::sim
