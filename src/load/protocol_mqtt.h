// An MQTT broker as a rival: version 3.1.1, one topic per pair, QoS 0, so no acknowledgements.
#pragma once

#include "load/protocol.h"

namespace taut::load {

[[nodiscard]] std::unique_ptr<Protocol> make_mqtt_protocol(const Url& url, const LoadChatOptions& options);

}  // namespace taut::load
