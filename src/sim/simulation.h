// Runs of a world: from a seed, again from a list of actions, and the shortest list that still goes wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/action.h"
#include "sim/oracle.h"

namespace taut::sim {

/// What came of a run.
struct Outcome {
  uint64_t steps = 0;  ///< until the violation, or all
  uint64_t hash = 0;   ///< the same for the same run
  uint64_t durable_acks = 0;
  uint64_t items = 0;
  uint32_t crashes = 0;
  std::optional<Violation> violation;
};

/// The actions of a seed: every tenth has fair weather.
[[nodiscard]] std::vector<Action> actions_of(uint64_t seed, uint64_t steps);

/// `tell` gets each step that did something, in words. One thread.
[[nodiscard]] Outcome run(uint64_t seed, const std::vector<Action>& actions,
                          const std::function<void(uint64_t step, const std::string& did)>& tell = {});

/// The same in a process of its own, so that an assertion that fails is a violation, too. REQUIRES: this
/// process has one thread. Error-free but for the host, which ends the process.
[[nodiscard]] Outcome run_apart(uint64_t seed, const std::vector<Action>& actions);

/// Takes actions out (delta debugging) while the same invariant is still hurt, in at most `runs` runs.
/// REQUIRES: as run_apart().
[[nodiscard]] std::vector<Action> shrink(uint64_t seed, std::vector<Action> actions,
                                         const Violation& violation, uint32_t runs);

}  // namespace taut::sim
