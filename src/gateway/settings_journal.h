// The rows of the settings that say what outlives a restart.
#pragma once

#include <vector>

#include "base/config.h"
#include "gateway/settings.h"

namespace taut::gateway {

void add_journal_rows(std::vector<ConfigRow>& rows, Settings& settings);

}  // namespace taut::gateway
