// What one run of an arm or of a floor found.
#pragma once

#include <cstdint>
#include <vector>

#include "base/histogram.h"

namespace taut::compare {

struct Measured {
  uint64_t records = 0;           ///< durable within `seconds`
  double seconds = 0;             ///< without the warm-up
  Histogram<> ack;                ///< of each record: from the push to the word that it is durable
  std::vector<uint32_t> batches;  ///< how many records each commit had, the warm-up's not counted
};

}  // namespace taut::compare
