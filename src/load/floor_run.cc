// `taut load floor`: one bare relay until a signal ends it.
#include <csignal>
#include <cstdio>
#include <string>

#include "load/floor_relay.h"
#include "load/options.h"
#include "load/pin.h"
#include "load/tcp_socket.h"

namespace taut::load {

namespace {

// The one relay of the process, for the signal handler alone.
FloorRelay* running = nullptr;

void end_relay(int) {
  running->stop();
}

}  // namespace

int run_floor(const FloorOptions& options) {
  const auto complain = [](const std::string& message, int exit_code) {
    std::fprintf(stderr, "taut load floor: %s\n", message.c_str());
    return exit_code;
  };
  if (!parse_url("relay://" + options.listen)) {
    return complain("--listen " + options.listen + ": expected a.b.c.d:port", kExitUsage);
  }
  FloorRelay relay(options);
  const Result<uint16_t> port = relay.listen();
  if (!port) return complain(port.error().message, kExitFailed);
  if (const Status pinned = pin_this_thread(options.cpu); !pinned) {
    return complain(pinned.error().message, kExitFailed);
  }
  running = &relay;
  std::signal(SIGTERM, end_relay);
  std::signal(SIGINT, end_relay);
  std::printf("listening relay=127.0.0.1:%u\n", *port);
  std::fflush(stdout);
  relay.run();
  return kExitOk;
}

}  // namespace taut::load
