// `taut load …`: the tables of the load programs.
#include <array>
#include <utility>
#include <vector>

#include "load/options.h"
#include "main/command.h"

namespace taut {

namespace {

using load::ArrivalKind;
using load::Direction;
using load::FloorKind;

constexpr std::array<std::string_view, 3> kDirections{"visitor", "agent", "both"};
constexpr std::array<std::string_view, 3> kArrivals{"even", "poisson", "bursts"};
constexpr std::array<std::string_view, 6> kDisturbs{"none", "stalled", "storm", "flood", "flaps", "scrapes"};
constexpr std::array<std::string_view, 2> kFloors{"epoll", "spin"};

constexpr int64_t kSecondsMax = 86'400;
constexpr int64_t kCpuMax = 1'023;

void add_target(std::vector<ConfigRow>& rows, load::LoadOptions& o, const char* url) {
  rows.push_back({.key = "url",
                  .section = "Target",
                  .field = &o.url,
                  .help = url,
                  .value_name = "URL",
                  .required = true});
  rows.push_back({.key = "secret-file",
                  .section = "Target",
                  .field = &o.secret_file,
                  .help = "The server's token secret; not for rivals",
                  .value_name = "FILE"});
  rows.push_back({.key = "site",
                  .section = "Target",
                  .field = &o.site,
                  .help = "Site of the tokens",
                  .value_name = "ID"});
  rows.push_back({.key = "group",
                  .section = "Target",
                  .field = &o.group,
                  .help = "Group of the agents",
                  .value_name = "ID"});
}

void add_load(std::vector<ConfigRow>& rows, load::LoadChatOptions& o) {
  rows.push_back({.key = "pairs",
                  .section = "Load",
                  .field = &o.pairs,
                  .help = "Pairs of visitor and agent",
                  .min = 1,
                  .max = load::kPairsMax});
  rows.push_back({.key = "rate",
                  .section = "Load",
                  .field = &o.rate,
                  .help = "Messages per second over all pairs; give this or --inflight",
                  .max = load::kRateMax});
  rows.push_back({.key = "inflight",
                  .section = "Load",
                  .field = &o.inflight,
                  .help = "Messages in flight per pair",
                  .max = load::kInflightMax});
  rows.push_back({.key = "size",
                  .section = "Load",
                  .field = &o.size,
                  .help = "Text of a message",
                  .unit = Unit::bytes,
                  .min = load::kTextBytesMin,
                  .max = load::kTextBytesMax});
  rows.push_back({.key = "direction",
                  .section = "Load",
                  .field = choice_field(o.direction, kDirections),
                  .help = "Who sends"});
  rows.push_back({.key = "disturb",
                  .section = "Load",
                  .field = choice_field(o.disturb, kDisturbs),
                  .help =
                      "Who misbehaves beside the pairs: readers that stall, 1,000 others that all reconnect "
                      "each second, a flood, 5,000 changes of presence or 100 reads of /metrics a second; "
                      "with --rate"});
}

void add_arrivals(std::vector<ConfigRow>& rows, load::LoadChatOptions& o) {
  rows.push_back({.key = "arrivals",
                  .section = "Schedule",
                  .field = choice_field(o.arrivals, kArrivals),
                  .help = "Gaps between messages: exactly even, exponential, or bursts of 100 at 20,000/s"});
  rows.push_back({.key = "seed",
                  .section = "Schedule",
                  .field = &o.seed,
                  .help = "Seed of the exponential gaps",
                  .max = INT64_MAX});
  rows.push_back({.key = "starve-us",
                  .section = "Schedule",
                  .field = &o.starve_us,
                  .help = "Stall the client once a millisecond",
                  .hidden = true});
}

void add_measuring(std::vector<ConfigRow>& rows, load::LoadOptions& o) {
  rows.push_back({.key = "seconds",
                  .section = "Measuring",
                  .field = &o.seconds,
                  .help = "Measured time",
                  .max = kSecondsMax});
  rows.push_back({.key = "warmup",
                  .section = "Measuring",
                  .field = &o.warmup,
                  .help = "Seconds before it, not reported",
                  .max = kSecondsMax});
  rows.push_back({.key = "cpu",
                  .section = "Measuring",
                  .field = &o.cpu,
                  .help = "Core for the client; -1 is any",
                  .min = -1,
                  .max = kCpuMax});
  rows.push_back({.key = "server-pid",
                  .section = "Measuring",
                  .field = &o.server_pid,
                  .help = "Process whose CPU time and switches are reported; 0 is none"});
  rows.push_back({.key = "json",
                  .section = "Measuring",
                  .field = &o.json,
                  .help = "File for the report as JSON",
                  .value_name = "FILE"});
}

Config chat_config(load::LoadChatOptions& options) {
  std::vector<ConfigRow> rows;
  add_target(rows, options,
             "ws:// or wss://HOST:PORT/v1/chat, tcp://HOST:PORT (compact), or a rival at HOST:PORT: "
             "relay://, nats://, redis://, mqtt://, "
             "wsrelay://, socketio:// (the last two in tools/peers)");
  add_load(rows, options);
  add_arrivals(rows, options);
  add_measuring(rows, options);
  return Config("taut load chat",
                "Connects pairs of a visitor and an agent, sends at a fixed rate (or with a fixed number in\n"
                "flight) and reports latency from the intended send time. Exit code 3: the run is void.",
                std::move(rows));
}

Config visits_config(load::LoadVisitsOptions& options) {
  std::vector<ConfigRow> rows;
  add_target(rows, options, "ws://HOST:PORT/v1/chat");
  rows.push_back({.key = "visitors",
                  .section = "Load",
                  .field = &options.visitors,
                  .help = "Visitors at once",
                  .min = 1,
                  .max = load::kPairsMax});
  rows.push_back({.key = "keep",
                  .section = "Load",
                  .field = &options.keep,
                  .help = "Stay connected and say the next thing"});
  add_measuring(rows, options);
  return Config(
      "taut load visits",
      "Visitors connect, say one thing, hear that it is in, and go, one visit after the other. The\n"
      "server needs --rate-visitor 0 and --handshake-rate 0.",
      std::move(rows));
}

Config fanout_config(load::LoadFanoutOptions& options) {
  std::vector<ConfigRow> rows;
  add_target(rows, options, "ws://HOST:PORT/v1/chat");
  rows.push_back({.key = "receivers",
                  .section = "Load",
                  .field = &options.receivers,
                  .help = "Connections of the one visitor",
                  .min = 1,
                  .max = 1'000'000});
  rows.push_back({.key = "size",
                  .section = "Load",
                  .field = &options.size,
                  .help = "Text of a message",
                  .unit = Unit::bytes,
                  .min = 1,
                  .max = load::kTextBytesMax});
  add_measuring(rows, options);
  return Config(
      "taut load fanout",
      "An agent writes to a visitor with many connections, and the next time when the last of them has\n"
      "it: latency is that of the last, throughput counts deliveries. The server needs --rate-agent 0.",
      std::move(rows));
}

Config floor_config(load::FloorOptions& o) {
  return Config(
      "taut load floor", "Relays messages with nothing else around it, until SIGTERM or SIGINT.",
      {
          {.key = "listen",
           .section = "Relay",
           .field = &o.listen,
           .help = "Loopback address; port 0 is free",
           .value_name = "HOST:PORT"},
          {.key = "kind",
           .section = "Relay",
           .field = choice_field(o.kind, kFloors),
           .help = "Sleep in the kernel, or never sleep"},
          {.key = "ack", .section = "Relay", .field = &o.ack, .help = "Answer each message with 64 bytes"},
          {.key = "cpu",
           .section = "Relay",
           .field = &o.cpu,
           .help = "Core for the relay; -1 is any",
           .min = -1,
           .max = kCpuMax},
      });
}

Config idle_config(load::LoadIdleOptions& o) {
  return Config("taut load idle", "Holds visitors that only answer pings, until standard input closes.",
                {
                    {.key = "url",
                     .section = "Target",
                     .field = &o.url,
                     .help = "ws:// or wss://HOST:PORT/v1/chat, or tcp://HOST:PORT (compact)",
                     .value_name = "URL",
                     .required = true},
                    {.key = "secret-file",
                     .section = "Target",
                     .field = &o.secret_file,
                     .help = "The server's token secret",
                     .value_name = "FILE",
                     .required = true},
                    {.key = "site",
                     .section = "Target",
                     .field = &o.site,
                     .help = "Site of the tokens",
                     .value_name = "ID"},
                    {.key = "connections",
                     .section = "Load",
                     .field = &o.connections,
                     .help = "How many; each needs one open file here and one at the server",
                     .min = 1,
                     .max = 1'000'000},
                });
}

template <class Options>
int run_with(Arguments arguments, std::string_view command, Config (*table)(Options&),
             int (*run)(const Options&)) {
  Options options;
  Config config = table(options);
  int exit_code = kExitOk;
  return read_settings(config, command, arguments, exit_code) ? run(options) : exit_code;
}

}  // namespace

int run_load_chat(Arguments arguments) {
  return run_with(arguments, "taut load chat", chat_config, load::run_load_chat);
}

int run_load_floor(Arguments arguments) {
  return run_with(arguments, "taut load floor", floor_config, load::run_floor);
}

int run_load_idle(Arguments arguments) {
  return run_with(arguments, "taut load idle", idle_config, load::run_load_idle);
}

int run_load_visits(Arguments arguments) {
  return run_with(arguments, "taut load visits", visits_config, load::run_load_visits);
}

int run_load_fanout(Arguments arguments) {
  return run_with(arguments, "taut load fanout", fanout_config, load::run_load_fanout);
}

}  // namespace taut
