// The journal beside its floor and its rivals: one run of one arm, as a line of JSON. tools/bench_journal.py
// runs it.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/config.h"
#include "base/exit_code.h"
#include "journal/format.h"
#include "journal_compare/floor.h"
#include "journal_compare/writers.h"

namespace taut::compare {
namespace {

enum class ArmKind : uint8_t { taut, sqlite, rocksdb, floor, mail };
constexpr std::string_view kArms[] = {"taut", "sqlite", "rocksdb", "floor", "mail"};
constexpr MakeArm kMake[] = {make_taut_arm, make_sqlite_arm, make_rocksdb_arm};
constexpr uint32_t kWritersMax = 512;

struct Settings {
  ArmKind arm = ArmKind::taut;
  std::string directory;
  std::string batches_file;
  WritersOptions writers;
  uint32_t think_us = 0;
};

Config table(Settings& s) {
  std::vector<ConfigRow> rows;
  rows.push_back(
      {.key = "arm", .section = "Run", .field = choice_field(s.arm, kArms), .help = "What is measured"});
  rows.push_back({.key = "directory",
                  .section = "Run",
                  .field = &s.directory,
                  .help = "An empty directory on the disk that is measured",
                  .value_name = "DIR",
                  .required = true});
  rows.push_back({.key = "batches-file",
                  .section = "Run",
                  .field = &s.batches_file,
                  .help = "Where an arm writes how many records its commits had, and the floor reads it",
                  .value_name = "FILE"});
  rows.push_back({.key = "writers",
                  .section = "Load",
                  .field = &s.writers.writers,
                  .help = "Closed loops that each wait for their record",
                  .min = 1,
                  .max = kWritersMax});
  rows.push_back({.key = "bytes",
                  .section = "Load",
                  .field = &s.writers.payload_bytes,
                  .help = "Payload of a record",
                  .unit = Unit::bytes,
                  .max = static_cast<int64_t>(journal::kPayloadBytesMax)});
  rows.push_back({.key = "think-us",
                  .section = "Load",
                  .field = &s.think_us,
                  .help = "Most microseconds from an ack to the writer's next record",
                  .max = 1'000'000});
  rows.push_back(
      {.key = "seconds", .section = "Load", .field = &s.writers.seconds, .help = "How long to measure"});
  rows.push_back(
      {.key = "warmup", .section = "Load", .field = &s.writers.warmup_s, .help = "Seconds before that"});
  return Config("journal_compare", "Measures one way to make records durable and prints a line of JSON.",
                std::move(rows));
}

int complain(const std::string& message, int code) {
  std::fputs(("journal_compare: " + message + "\n").c_str(), stderr);
  return code;
}

/// In the form of a report of `taut load`, so that the same rows can be made of it.
void print(const Measured& measured, uint32_t payload_bytes) {
  const double per_s = static_cast<double>(measured.records) / measured.seconds;
  const auto us = [&](double percent) {
    return static_cast<double>(measured.ack.percentile_ns(percent)) / 1e3;
  };
  const double records = std::accumulate(measured.batches.begin(), measured.batches.end(), 0.0);
  const double mean = measured.batches.empty() ? 0 : records / static_cast<double>(measured.batches.size());
  std::printf(
      "{\"throughput_per_s\":%.1f,\"bytes_per_s\":%.0f,\"batch_mean\":%.1f,"
      "\"latency_us\":{\"p50\":%.2f,\"p99\":%.2f,\"p999\":%.2f},"
      "\"lag_us\":{\"p50\":0,\"p99\":0,\"p999\":0},\"void\":false,\"void_reason\":\"\"}\n",
      per_s, per_s * static_cast<double>(journal::record_bytes(payload_bytes)), mean, us(50), us(99),
      us(99.9));
}

Result<Measured> measure(const Settings& s) {
  if (s.arm != ArmKind::floor) {
    const auto arm = kMake[static_cast<size_t>(s.arm)](s.directory);
    if (!arm) return std::unexpected(arm.error());
    Result<Measured> measured = run_writers(**arm, s.writers);
    if (measured && !s.batches_file.empty()) {
      std::ofstream out(s.batches_file);
      for (const uint32_t batch : measured->batches) out << batch << '\n';
      if (!out.flush()) return fail("cannot write " + s.batches_file);
    }
    return measured;
  }
  FloorOptions floor{.directory = s.directory,
                     .payload_bytes = s.writers.payload_bytes,
                     .seconds = s.writers.seconds,
                     .warmup_s = s.writers.warmup_s,
                     .cpu = s.writers.committer_cpu};
  if (!s.batches_file.empty()) {
    std::ifstream in(s.batches_file);
    floor.batches.assign(std::istream_iterator<uint32_t>(in), {});
    if (floor.batches.empty()) return fail("no batches in " + s.batches_file);
  }
  return run_floor(floor);
}

int run(std::span<const char* const> arguments) {
  Settings settings;
  settings.writers.committer_cpu = 0;
  settings.writers.writers_cpu = 1;
  Config config = table(settings);
  const auto asked = config.load(arguments);
  if (!asked) return complain(asked.error().message, kExitUsage);
  if (*asked != Config::Ask::run) {
    std::fputs(config.help().c_str(), stdout);
    return kExitOk;
  }
  settings.writers.think_ns_max = settings.think_us * 1'000LL;
  if (settings.arm == ArmKind::mail) {
    const Result<double> mail = mail_ns(settings.writers);
    if (!mail) return complain(mail.error().message, kExitFailed);
    std::printf("{\"mail_ns\":%.2f}\n", *mail);
    return kExitOk;
  }
  const auto measured = measure(settings);
  if (!measured) return complain(measured.error().message, kExitFailed);
  print(*measured, settings.writers.payload_bytes);
  return kExitOk;
}

}  // namespace
}  // namespace taut::compare

int main(int argc, char** argv) {
  return taut::compare::run({argv + std::min(argc, 1), argv + argc});
}
