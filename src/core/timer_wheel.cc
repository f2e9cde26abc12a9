#include "core/timer_wheel.h"

#include <algorithm>
#include <bit>

namespace taut {

namespace {

/// Ticks (a power of two each) that cover `value`, rounded up; also right at the upper end of the type.
constexpr int64_t ceil_shift(int64_t value, uint32_t shift) noexcept {
  const int64_t mask = (int64_t{1} << shift) - 1;
  return (value >> shift) + ((value & mask) != 0 ? 1 : 0);
}

}  // namespace

TimerWheel::~TimerWheel() {
  const auto disarm_all = [](Timer* timer) {
    while (timer != nullptr) {
      Timer* const next = timer->next_;
      timer->link_ = nullptr;
      timer = next;
    }
  };
  disarm_all(due_);
  for (Level& level : levels_) {
    for (Timer* head : level.slots) disarm_all(head);
  }
}

void TimerWheel::arm(Timer& timer, int64_t deadline_ns) noexcept {
  if (timer.armed()) unlink(timer);
  timer.deadline_ns_ = deadline_ns;
  const int64_t tick = std::max(ceil_shift(deadline_ns, kTickShift), tick_ + 1);
  uint32_t level = 0;
  int64_t bucket = tick;
  int64_t current = tick_;
  while (bucket - current >= kSlots && level + 1 < kLevels) {
    ++level;
    bucket = ceil_shift(tick, level * kLevelShift);
    current = tick_ >> (level * kLevelShift);
  }
  bucket = std::min<int64_t>(bucket, current + kSlots - 1);  // beyond the last level: the furthest slot
  const auto slot = static_cast<uint32_t>(bucket % kSlots);
  Level& to = levels_[level];
  link(to.slots[slot], timer, level * kSlots + slot);
  to.bits[slot / kWordBits] |= uint64_t{1} << (slot % kWordBits);
}

void TimerWheel::cancel(Timer& timer) noexcept {
  if (timer.armed()) unlink(timer);
}

void TimerWheel::postpone(Timer& timer, int64_t deadline_ns) noexcept {
  if (timer.armed() && deadline_ns >= timer.deadline_ns_) {
    timer.deadline_ns_ = deadline_ns;
  } else {
    arm(timer, deadline_ns);
  }
}

int64_t TimerWheel::next_deadline_ns() const noexcept {
  if (due_ != nullptr) return tick_ << kTickShift;
  int64_t next = kNever;
  for (uint32_t level = 0; level < kLevels; ++level) {
    const uint32_t shift = level * kLevelShift;
    const int64_t bucket = first_bucket(levels_[level], tick_ >> shift);
    if (bucket != kNever) next = std::min(next, bucket << (shift + kTickShift));
  }
  return next;
}

void TimerWheel::link(Timer*& head, Timer& timer, uint32_t slot) noexcept {
  timer.next_ = head;
  timer.link_ = &head;
  timer.slot_ = slot;
  if (head != nullptr) head->link_ = &timer.next_;
  head = &timer;
}

void TimerWheel::unlink(Timer& timer) noexcept {
  *timer.link_ = timer.next_;
  if (timer.next_ != nullptr) timer.next_->link_ = timer.link_;
  timer.link_ = nullptr;
  if (timer.slot_ == kDue) return;
  Level& level = levels_[timer.slot_ / kSlots];
  const uint32_t slot = timer.slot_ % kSlots;
  if (level.slots[slot] == nullptr) level.bits[slot / kWordBits] &= ~(uint64_t{1} << (slot % kWordBits));
}

/// Moves the timers of all slots that have ended by now_ns to due_ and advances tick_. REQUIRES: due_ is
/// empty.
void TimerWheel::collect(int64_t now_ns) noexcept {
  TAUT_ASSERT(due_ == nullptr);
  const int64_t now_tick = now_ns >> kTickShift;
  Timer** tail = &due_;
  for (uint32_t level = 0; level < kLevels; ++level) {
    const uint32_t shift = level * kLevelShift;
    tail = collect_level(level, tick_ >> shift, now_tick >> shift, tail);
  }
  tick_ = now_tick;
}

/// Appends the timers of the slots behind `from` up to `to` to the list that ends at `tail`; returns the new
/// end.
Timer** TimerWheel::collect_level(uint32_t level, int64_t from, int64_t to, Timer** tail) noexcept {
  Level& l = levels_[level];
  while (from < to) {
    // Every armed bucket lies in (from, from + kSlots): one turn of the wheel, however long nobody looked.
    const int64_t bucket = first_bucket(l, from);
    if (bucket > to) break;
    from = bucket;
    const auto slot = static_cast<uint32_t>(bucket % kSlots);
    l.bits[slot / kWordBits] &= ~(uint64_t{1} << (slot % kWordBits));
    Timer* in_order = nullptr;  // the slot is a stack, so this is the order in which they were armed
    while (Timer* const timer = l.slots[slot]) {
      l.slots[slot] = timer->next_;
      timer->next_ = in_order;
      in_order = timer;
    }
    while (Timer* const timer = in_order) {
      in_order = timer->next_;
      link(*tail, *timer, kDue);
      tail = &timer->next_;
    }
  }
  return tail;
}

/// The next timer that is really due, disarmed; those that were put off go back into the wheel.
Timer* TimerWheel::pop_due(int64_t now_ns) noexcept {
  while (due_ != nullptr) {
    Timer* const timer = due_;
    unlink(*timer);
    if (timer->deadline_ns_ <= now_ns) return timer;
    arm(*timer, timer->deadline_ns_);
  }
  return nullptr;
}

/// The first armed bucket behind `after` (its slots are the following kSlots - 1 buckets), or kNever.
int64_t TimerWheel::first_bucket(const Level& level, int64_t after) noexcept {
  const int64_t begin = after + 1;
  const auto first = static_cast<uint32_t>(begin % kSlots);
  const auto rotated = [&](uint32_t i) {  // word i of the bitmap as seen from bit `first` on
    const uint32_t word = (first / kWordBits + i) % kWords;
    const uint32_t shift = first % kWordBits;
    const uint64_t low = level.bits[word] >> shift;
    return shift == 0 ? low : low | (level.bits[(word + 1) % kWords] << (kWordBits - shift));
  };
  for (uint32_t i = 0; i < kWords; ++i) {
    if (const uint64_t word = rotated(i); word != 0) return begin + i * kWordBits + std::countr_zero(word);
  }
  return kNever;
}

}  // namespace taut
