// The rate limit of one identity: so many per second, so many at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/config.h"

namespace taut::hub {

/// The generic cell rate algorithm (ITU-T I.371): the one stored value is the time at which the bucket is
/// full again. Owner thread only.
class TokenBucket {
 public:
  /// Takes one token if there is one. now_ns is monotonic and not 0.
  [[nodiscard]] bool take(const Rate& rate, int64_t now_ns) {
    if (!has_token(rate, now_ns)) return false;
    if (rate.per_second == 0) return true;
    full_at_ns_ = std::max(full_at_ns_, now_ns) + 1'000'000'000 / rate.per_second;
    return true;
  }

  /// Whether take() would succeed.
  [[nodiscard]] bool has_token(const Rate& rate, int64_t now_ns) const {
    if (rate.per_second == 0) return true;
    const int64_t cost_ns = 1'000'000'000 / rate.per_second;
    return std::max(full_at_ns_, now_ns) + cost_ns <= now_ns + cost_ns * std::max<int64_t>(rate.burst, 1);
  }

  /// Milliseconds until take() can succeed again, at least 1.
  [[nodiscard]] int64_t retry_after_ms(const Rate& rate, int64_t now_ns) const {
    if (rate.per_second == 0) return 1;
    const int64_t cost_ns = 1'000'000'000 / rate.per_second;
    const int64_t wait_ns = full_at_ns_ + cost_ns - cost_ns * std::max<int64_t>(rate.burst, 1) - now_ns;
    return std::max<int64_t>(1, wait_ns / 1'000'000 + 1);
  }

 private:
  int64_t full_at_ns_ = 0;
};

}  // namespace taut::hub
