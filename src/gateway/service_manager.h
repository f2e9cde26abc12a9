// Word to whoever started the process as a service (systemd's sd_notify protocol).
#pragma once

#include <string_view>

namespace taut::gateway {

/// "READY=1" or "STOPPING=1" as one datagram to the socket that $NOTIFY_SOCKET names. Nothing without that
/// variable, and nothing when it cannot be sent: then the manager waits in vain and says so itself.
void tell_service_manager(std::string_view state);

}  // namespace taut::gateway
