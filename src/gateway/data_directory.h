// The folder that one server at a time owns.
#pragma once

#include <string>

#include "base/result.h"
#include "net/socket.h"

namespace taut::gateway {

/// Creates the folder if it is missing and locks it until the Fd is closed. Error: it cannot be created, is
/// no folder, or another process has it.
[[nodiscard]] Result<net::Fd> lock_data_directory(const std::string& path);

}  // namespace taut::gateway
