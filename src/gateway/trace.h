// Where one message spent its time on its way through the server.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace taut::gateway {

/// In the order of the way; a stage that a message does not pass has no time.
enum class Stage : uint8_t {
  parse,   ///< found readable … understood; the frames before it in the same turn included
  decide,  ///< … looked up, checked against repeats, owner and state
  route,   ///< … encoded, stored, its receivers known
  turn,    ///< the three above in one, where they were not told apart
  ring,    ///< … taken out of the ring by another shard
  write,   ///< … given to the receivers' sockets
};
inline constexpr std::array<std::string_view, 6> kStageNames{"parse", "decide", "route",
                                                             "turn",  "ring",   "write"};
inline constexpr size_t kStages = kStageNames.size();

/// A value that travels with the message. The stages sum to last_ns - started_ns.
struct Trace {
  int64_t started_ns = 0;  ///< of the turn that found its bytes; 0: not traced
  int64_t last_ns = 0;     ///< end of the last stage
  uint64_t seq = 0;        ///< in its conversation
  std::array<uint32_t, kStages> stage_ns{};
  bool sampled = false;  ///< one of those whose every stage is stamped

  void lap(Stage stage, int64_t now_ns) {
    uint32_t& sum = stage_ns[static_cast<size_t>(stage)];
    const int64_t room = std::numeric_limits<uint32_t>::max() - sum;
    const int64_t took = std::clamp<int64_t>(now_ns - last_ns, 0, room);
    sum += static_cast<uint32_t>(took);
    last_ns += took;
  }
  [[nodiscard]] int64_t total_ns() const { return last_ns - started_ns; }
  /// The stage that took longest.
  [[nodiscard]] Stage blame() const {
    return static_cast<Stage>(std::ranges::max_element(stage_ns) - stage_ns.begin());
  }
};
static_assert(sizeof(Trace) == 56);

}  // namespace taut::gateway
