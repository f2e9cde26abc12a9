// What an idle thread does next: spin another rung, or go and wait in the kernel.
#pragma once

#include <cstdint>

#include "core/spin_budget.h"
#include "core/spin_gate.h"
#include "core/wait_options.h"

namespace taut {

/// The waiting policy of one thread. Pure but for the gate's source; times are that thread's monotonic clock.
/// An idle period begins where the work ended (the first should_park()) and ends with the turn that found
/// something.
class Parker {
 public:
  /// `source` may be null (nothing speaks against spinning) and outlives the parker.
  Parker(const WaitOptions& options, const SpinGate::Options& gate, GateSource* source);

  /// Something was done at now_ns: ends the idle period, if there was one.
  void worked(int64_t now_ns) noexcept;
  /// Nothing was found at now_ns: true = park now, false = spin on. Reads the gate at most every 100 ms, and
  /// only when spinning is wanted at all.
  [[nodiscard]] bool should_park(int64_t now_ns) noexcept;
  /// A wake that was due at due_ns reached us at ran_ns.
  void woken(int64_t due_ns, int64_t ran_ns) noexcept { budget_.record_wake_cost(ran_ns - due_ns); }

  /// Longest spin allowed now; 0 while a gate is closed or under `park`, INT64_MAX where nobody parks.
  [[nodiscard]] int64_t allowed_ns() const noexcept { return allowed_ns_; }
  [[nodiscard]] const SpinBudget& budget() const noexcept { return budget_; }
  [[nodiscard]] const SpinGate& gate() const noexcept { return gate_; }

 private:
  void update_allowed(int64_t now_ns, bool idle_begins) noexcept;
  void allow_budget(int64_t now_ns, bool idle_begins) noexcept;

  const WaitOptions options_;
  SpinBudget budget_;
  SpinGate gate_;
  GateSource* const source_;
  int64_t idle_since_ns_ = -1;  ///< -1: not idle
  int64_t allowed_ns_ = 0;
  bool parked_ = false;  ///< in this idle period
};

}  // namespace taut
