// What the load programs can be told, and their entry points for the command line.
#pragma once

#include <cstdint>
#include <string>

#include "base/exit_code.h"

namespace taut::load {

/// Most pairs in one run: the stamp carries the flow in 16 bits and each pair may have two flows.
inline constexpr uint32_t kPairsMax = 4096;
/// Message text in bytes: the stamp must fit; the upper end is the protocol's default max_text_bytes.
inline constexpr uint32_t kTextBytesMin = 64;
inline constexpr uint32_t kTextBytesMax = 16'384;
/// Most messages in flight per pair; the protocol's max_inflight is 1,024.
inline constexpr uint32_t kInflightMax = 512;
/// Most messages per second over all pairs.
inline constexpr uint32_t kRateMax = 10'000'000;

/// Who sends. Rivals without two kinds of people know one direction only and refuse `both`.
enum class Direction : uint8_t { visitor, agent, both };

/// How intended send times are spaced: exactly even; exponentially distributed gaps of the same mean; or the
/// same mean in bursts of kBurstMessages at kBurstRate.
enum class ArrivalKind : uint8_t { even, poisson, bursts };
inline constexpr uint32_t kBurstMessages = 100;
/// Messages per second within a burst: what one client thread can send and receive without being late itself.
inline constexpr uint32_t kBurstRate = 20'000;

/// Somebody who behaves badly while the pairs are measured: load/disturbance.cc.
enum class Disturb : uint8_t { none, stalled, storm, flood, flaps, scrapes };

/// What every measuring command of a taut server is told.
struct LoadOptions {
  std::string url;          ///< of taut or, for chat, of a rival: the commands' help
  std::string secret_file;  ///< needed for taut only: the server's token secret
  std::string site = "demo";
  std::string group = "sales";
  double seconds = 3;  ///< measured time
  double warmup = 1;   ///< time before it, driven the same and not reported
  int cpu = -1;        ///< pin the client thread; -1: not pinned
  int server_pid = 0;  ///< whose CPU and switches to report; 0: nobody's
  std::string json;    ///< where the report goes as JSON; empty: standard output alone
};

/// `taut load chat`: drives one server with pairs of connections and reports latency and cost.
struct LoadChatOptions : LoadOptions {
  uint32_t pairs = 64;    ///< 1 … kPairsMax
  uint32_t rate = 0;      ///< messages per second over all pairs, open loop; exactly one of rate and inflight
  uint32_t inflight = 0;  ///< messages in flight per pair, closed loop; 1 … kInflightMax
  uint32_t size = 1024;   ///< text bytes of a message, kTextBytesMin … kTextBytesMax
  Direction direction = Direction::visitor;
  ArrivalKind arrivals = ArrivalKind::even;
  Disturb disturb = Disturb::none;
  uint64_t seed = 1;       ///< of the Poisson gaps; reported
  uint32_t starve_us = 0;  ///< hidden, for tests: stall the client's loop this long once a millisecond
};

/// `taut load visits`: visitors who connect, say one thing, hear that it is in, and go; one visit after the
/// other.
struct LoadVisitsOptions : LoadOptions {
  uint32_t visitors = 16;  ///< at once; bounded by kPairsMax
  bool keep = false;       ///< stay connected and say the next thing
};

/// `taut load fanout`: an agent writes to a visitor with many connections, and waits for the last of them.
struct LoadFanoutOptions : LoadOptions {
  uint32_t receivers = 1'000;  ///< bounded by the process's open files
  uint32_t size = 1'024;       ///< text bytes of a message
};

enum class FloorKind : uint8_t { epoll, spin };

/// `taut load floor`: a bare relay, the floor that a gateway is compared with.
struct FloorOptions {
  std::string listen = "127.0.0.1:0";  ///< loopback address and port; port 0 takes a free one
  FloorKind kind = FloorKind::epoll;
  bool ack = false;  ///< answer each message to its sender with 64 bytes
  int cpu = -1;
};

/// `taut load idle`: authenticated visitors that do nothing but answer pings, until standard input closes.
struct LoadIdleOptions {
  std::string url;  ///< ws:// or wss://HOST:PORT/v1/chat, or tcp://HOST:PORT
  std::string secret_file;
  std::string site = "demo";
  uint32_t connections = 1000;  ///< bounded by the process's open files
};

/// Each runs to its end on the calling thread, prints its result to standard output and its complaints to
/// standard error, and returns an exit code from above. run_floor and run_load_idle print one line when ready
/// ("listening relay=127.0.0.1:PORT", "ready connections=N"); run_floor ends on SIGTERM or SIGINT.
[[nodiscard]] int run_load_chat(const LoadChatOptions& options);
[[nodiscard]] int run_floor(const FloorOptions& options);
[[nodiscard]] int run_load_idle(const LoadIdleOptions& options);
[[nodiscard]] int run_load_visits(const LoadVisitsOptions& options);
[[nodiscard]] int run_load_fanout(const LoadFanoutOptions& options);

}  // namespace taut::load
