#include "chat/resume.h"

#include <algorithm>

#include "base/assert.h"

namespace taut::chat {

ResumePlan plan_resume(std::span<const EpochEnd> ends, uint64_t first, uint32_t epoch, uint64_t seq) {
  TAUT_ASSERT(!ends.empty());
  ResumePlan plan{.last = ends.back().last, .epoch = ends.back().epoch};
  const auto add_gap = [&plan](uint64_t from, uint64_t to, GapReason reason) {
    plan.gaps[plan.gap_count++] = {from, to, reason};
  };
  const bool nothing_yet = epoch == 0 && seq == 0;
  const auto end = std::find_if(ends.begin(), ends.end(),
                                [epoch](const EpochEnd& e) { return e.first <= epoch && epoch <= e.epoch; });
  if (nothing_yet) {
    plan.start = 1;
  } else if (end == ends.end()) {
    add_gap(1, seq, GapReason::unknown_epoch);
    plan.start = 1;
  } else if (seq > end->last) {
    add_gap(end->last + 1, seq, GapReason::ahead);
    plan.start = end->last + 1;
  } else {
    plan.start = seq + 1;
  }
  if (plan.start < first) {
    add_gap(plan.start, first - 1, GapReason::expired);
    plan.start = first;
  }
  return plan;
}

}  // namespace taut::chat
