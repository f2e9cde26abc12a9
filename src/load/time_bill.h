// Where the time of a message went: the server's own stages, and what they do not explain.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace taut::load {

/// Totals over the messages that a taut server has sampled so far; subtract two readings.
struct StageTotals {
  std::map<std::string, double, std::less<>> stage_s;  ///< by the server's name of the stage
  double message_s = 0;                                ///< from readable to written
  double messages = 0;

  friend StageTotals operator-(const StageTotals& later, const StageTotals& earlier);
};

/// From the text of /metrics; nothing when it has no stages.
[[nodiscard]] std::optional<StageTotals> parse_stage_totals(std::string_view metrics);

/// GET /metrics of the server behind `url` (blocking, milliseconds); nothing when it is no taut.
[[nodiscard]] std::optional<StageTotals> read_stage_totals(std::string_view url);

}  // namespace taut::load
