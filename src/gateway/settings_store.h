// The rows of the settings that say where history is kept, and for how long.
#pragma once

#include <vector>

#include "base/config.h"
#include "gateway/settings.h"

namespace taut::gateway {

void add_store_rows(std::vector<ConfigRow>& rows, Settings& settings);

}  // namespace taut::gateway
