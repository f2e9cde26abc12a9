// Timers of one shard: arming and cancelling cost a few nanoseconds, however many there are.
//
// The wheel has 8 levels of 256 slots and never moves a timer from one level to the next (the idea of the
// Linux timer wheel since 4.8). A timer goes into the finest level that reaches its deadline, into the slot
// that ends at or after the deadline, and fires when that slot has ended: never early, late by less than the
// slot is wide.
//
//   level  slot is        for deadlines up to      level  slot is     for deadlines up to
//     0    16.4 us        4.2 ms from now            4    67 ms        17 s
//     1    131 us         33 ms                      5    537 ms       2.3 min
//     2    1.05 ms        267 ms                     6    4.3 s        18 min
//     3    8.4 ms         2.1 s                      7    34 s         2.4 h
//
// So a timer is late by at most 16.4 us or 1/31 (3.2 %) of its time-out, whichever is more (a
// time-out counts from the last expire(), so let that run before anything arms). Time-outs have no
// upper limit: one beyond level 7 waits in the furthest slot and is put in again when that fires.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "base/assert.h"

namespace taut {

/// What a wheel links: a member of whatever it is for, which must not move while armed and must cancel it
/// before it dies (asserted). Owner thread only.
class Timer {
 public:
  Timer() = default;
  Timer(uint32_t timer_kind, uint64_t timer_owner) : owner(timer_owner), kind(timer_kind) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { TAUT_ASSERT(!armed()); }

  [[nodiscard]] bool armed() const noexcept { return link_ != nullptr; }
  [[nodiscard]] int64_t deadline_ns() const noexcept { return deadline_ns_; }

  uint64_t owner = 0;  ///< a handle's or pointer's bits, whatever the program puts there
  uint32_t kind = 0;   ///< the program's own number

 private:
  friend class TimerWheel;
  Timer* next_ = nullptr;
  Timer** link_ = nullptr;  ///< the pointer that points here; null while not armed
  int64_t deadline_ns_ = 0;
  uint32_t slot_ = 0;  ///< level * 256 + slot, or TimerWheel::kDue
};

/// All timers of one shard. Owner thread only; times are Clock::mono_ns().
class TimerWheel {
 public:
  static constexpr uint32_t kTickShift = 14;  ///< a tick is 2^14 ns = 16.4 us
  static constexpr uint32_t kLevelShift = 3;  ///< a level's slot is 8 slots of the level before
  static constexpr uint32_t kLevels = 8;
  static constexpr uint32_t kSlots = 256;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  explicit TimerWheel(int64_t now_ns) noexcept : tick_(now_ns >> kTickShift) {}
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;
  /// Disarms what is still armed.
  ~TimerWheel();

  /// Arms, or arms anew if armed already. A deadline that has passed fires at the first expire() of a later
  /// tick.
  void arm(Timer& timer, int64_t deadline_ns) noexcept;
  /// Does nothing if not armed.
  void cancel(Timer& timer) noexcept;
  /// arm() for timers that are mostly put off (idle, ping): a later deadline is only stored, and the timer
  /// moves when its old slot fires, without fn being called. An earlier one, or a timer not armed, is armed
  /// as usual.
  void postpone(Timer& timer, int64_t deadline_ns) noexcept;

  /// When expire() has something to look at next, kNever if nothing is armed. May be earlier than any
  /// deadline after postpone(). Costs some 10 ns.
  [[nodiscard]] int64_t next_deadline_ns() const noexcept;

  /// Calls fn(Timer&) for every timer whose slot has ended, disarmed before the call. fn may arm, cancel,
  /// postpone any timer, this one included, and destroy any that is not armed; what it arms fires in a later
  /// expire() at the earliest. Of one slot the timers fire in the order in which they were armed. REQUIRES:
  /// not called from fn. Returns how often fn was called.
  template <class F>
  uint32_t expire(int64_t now_ns, F&& fn) {
    if ((now_ns >> kTickShift) <= tick_) return 0;
    collect(now_ns);
    uint32_t fired = 0;
    while (Timer* timer = pop_due(now_ns)) {
      fn(*timer);
      ++fired;
    }
    return fired;
  }

 private:
  static constexpr uint32_t kWordBits = 64;
  static constexpr uint32_t kWords = kSlots / kWordBits;
  static constexpr uint32_t kDue = kLevels * kSlots;

  /// One level: list heads, and a bit for each that is not empty.
  struct Level {
    std::array<uint64_t, kWords> bits{};
    std::array<Timer*, kSlots> slots{};
  };

  static void link(Timer*& head, Timer& timer, uint32_t slot) noexcept;
  void unlink(Timer& timer) noexcept;
  void collect(int64_t now_ns) noexcept;
  [[nodiscard]] Timer** collect_level(uint32_t level, int64_t from, int64_t to, Timer** tail) noexcept;
  [[nodiscard]] Timer* pop_due(int64_t now_ns) noexcept;
  [[nodiscard]] static int64_t first_bucket(const Level& level, int64_t after) noexcept;

  int64_t tick_;          ///< every slot that ended at or before this tick has been collected
  Timer* due_ = nullptr;  ///< collected, not yet fired
  std::array<Level, kLevels> levels_;
};

}  // namespace taut
