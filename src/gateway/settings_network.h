// The rows of the settings that say how connections come in.
#pragma once

#include <vector>

#include "base/config.h"
#include "gateway/settings.h"

namespace taut::gateway {

void add_network_rows(std::vector<ConfigRow>& rows, Settings& settings);

}  // namespace taut::gateway
