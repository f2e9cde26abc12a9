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

/// How intended send times are spaced: exactly even, or exponentially distributed gaps of the same mean.
enum class ArrivalKind : uint8_t { even, poisson };

/// Somebody who behaves badly while the pairs are measured: load/disturbance.cc.
enum class Disturb : uint8_t { none, stalled, storm, flood, flaps, scrapes };

/// `taut load chat`: drives one server with pairs of connections and reports latency and cost.
struct LoadChatOptions {
  std::string url;  ///< ws:// or wss://HOST:PORT/v1/chat, tcp://HOST:PORT, or SCHEME://HOST:PORT of a rival
  std::string secret_file;  ///< needed for taut only: the server's token secret
  std::string site = "demo";
  std::string group = "sales";
  uint32_t pairs = 64;    ///< 1 … kPairsMax
  uint32_t rate = 0;      ///< messages per second over all pairs, open loop; exactly one of rate and inflight
  uint32_t inflight = 0;  ///< messages in flight per pair, closed loop; 1 … kInflightMax
  uint32_t size = 1024;   ///< text bytes of a message, kTextBytesMin … kTextBytesMax
  double seconds = 3;     ///< measured time
  double warmup = 1;      ///< time before it, driven the same and not reported
  Direction direction = Direction::visitor;
  ArrivalKind arrivals = ArrivalKind::even;
  Disturb disturb = Disturb::none;
  uint64_t seed = 1;       ///< of the Poisson gaps; reported
  int cpu = -1;            ///< pin the client thread; -1: not pinned
  int server_pid = 0;      ///< whose CPU and switches to report; 0: nobody's
  std::string json;        ///< where the report goes as JSON; empty: standard output alone
  uint32_t starve_us = 0;  ///< hidden, for tests: stall the client's loop this long once a millisecond
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

}  // namespace taut::load
