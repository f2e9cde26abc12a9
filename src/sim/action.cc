#include "sim/action.h"

#include <array>
#include <cstddef>

#include "base/assert.h"

namespace taut::sim {

namespace {

struct Kind {
  std::string_view name;
  uint32_t weight;  ///< of 100,000 or so
  bool fault = false;
};

constexpr std::array<Kind, kActionKinds> kKinds{{
    {"turn", 34'000},
    {"commit", 9'000},
    {"compact", 200},
    {"archive", 2'000},
    {"deliver_up", 16'000},
    {"deliver_down", 16'000},
    {"pass_time", 4'000},
    {"connect", 1'800},
    {"open", 700},
    {"send", 9'000},
    {"repeat", 900},
    {"typing", 700},
    {"mark", 900},
    {"close", 260},
    {"rate", 120},
    {"presence", 900},
    {"answer_offer", 1'600},
    {"take", 250},
    {"transfer", 150},
    {"history", 600},
    {"list", 100},
    {"block", 15},
    {"administer", 200},
    {"cut", 350, true},
    {"half_open", 60, true},
    {"half_dead", 60, true},
    {"stall_disk", 40, true},
    {"disk_full", 25, true},
    {"disk_freed", 60, true},
    {"fail_write", 40, true},
    {"fail_sync", 40, true},
    {"clock_jump", 30, true},
    {"crash_in_a_write", 30, true},
    {"crash", 20, true},
    {"restart", 15, true},
    {"storm", 12, true},
    {"stall_store", 30, true},
    {"fail_store", 80, true},
    {"settle", 40},
}};

/// In fair weather a rest mends nothing, and much is judged at rest.
constexpr uint32_t kFairRests = 10;

constexpr uint32_t weight_of(size_t kind, Weather weather) {
  if (weather == Weather::foul) return kKinds[kind].weight;
  if (static_cast<ActionKind>(kind) == ActionKind::settle) return kFairRests * kKinds[kind].weight;
  return kKinds[kind].fault ? 0 : kKinds[kind].weight;
}

constexpr uint32_t total(Weather weather) {
  uint32_t sum = 0;
  for (size_t kind = 0; kind < kKinds.size(); ++kind) sum += weight_of(kind, weather);
  return sum;
}

}  // namespace

std::string_view name_of(ActionKind kind) {
  return kKinds[static_cast<size_t>(kind)].name;
}

Action draw(Dice& dice, Weather weather) {
  uint64_t at = dice.below(total(weather));
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    const uint32_t weight = weight_of(kind, weather);
    if (at < weight) return {.kind = static_cast<ActionKind>(kind), .dice = dice.next()};
    at -= weight;
  }
  TAUT_UNREACHABLE("a number beyond the sum of the weights");
}

}  // namespace taut::sim
