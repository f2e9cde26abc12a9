// `taut load floor`: one bare relay until a signal ends it.
#include <csignal>
#include <cstdio>

#include "load/floor_relay.h"
#include "load/options.h"
#include "load/pin.h"

namespace taut::load {

namespace {

// The one relay of the process, for the signal handler alone.
FloorRelay* running = nullptr;

void end_relay(int) {
  running->stop();
}

}  // namespace

int run_floor(const FloorOptions& options) {
  FloorRelay relay(options);
  const Result<uint16_t> port = relay.listen();
  if (!port) {
    std::fprintf(stderr, "taut load floor: %s\n", port.error().message.c_str());
    return kExitFailed;
  }
  if (const Status pinned = pin_this_thread(options.cpu); !pinned) {
    std::fprintf(stderr, "taut load floor: %s\n", pinned.error().message.c_str());
    return kExitFailed;
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
