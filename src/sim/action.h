// What one step of a simulation does, as plain data: a run is a seed and a list of these.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/dice.h"

namespace taut::sim {

enum class ActionKind : uint8_t {
  // the machine
  turn,
  commit,
  compact,
  archive,
  deliver_up,
  deliver_down,
  pass_time,
  // people
  connect,
  open,
  send,
  repeat,
  typing,
  mark,
  close,
  rate,
  presence,
  answer_offer,
  take,
  transfer,
  history,
  list,
  block,
  administer,
  // faults
  cut,
  half_open,
  half_dead,
  stall_disk,
  disk_full,
  disk_freed,
  fail_write,
  fail_sync,
  clock_jump,
  crash_in_a_write,
  crash,
  restart,
  storm,
  stall_store,
  fail_store,
  // all at rest, then what must be true is looked at
  settle,
};
inline constexpr uint32_t kActionKinds = 39;

/// `dice` is the seed of everything that the step leaves to chance, so a list with some actions taken out is
/// a run, too.
struct Action {
  ActionKind kind = ActionKind::turn;
  uint64_t dice = 0;
};

[[nodiscard]] std::string_view name_of(ActionKind kind);

/// How likely steps are. Without faults only people, links and turns.
enum class Weather : uint8_t { fair, foul };
[[nodiscard]] Action draw(Dice& dice, Weather weather);

}  // namespace taut::sim
