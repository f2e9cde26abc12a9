// The histogram that a shard records into while others read it.
#pragma once

#include "base/histogram.h"
#include "core/cell.h"

namespace taut {

/// One thread records; a scraper merges it into a plain Histogram and asks that.
using LiveHistogram = Histogram<Cell>;

}  // namespace taut
