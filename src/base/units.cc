#include "base/units.h"

#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <string>

namespace taut {

namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

constexpr std::array<Unit, 6> kTimes = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};
constexpr std::array<Unit, 8> kSizes = {{{"", 1},
                                         {"B", 1},
                                         {"kB", 1'000},
                                         {"MB", 1'000'000},
                                         {"GB", 1'000'000'000},
                                         {"KiB", 1ULL << 10},
                                         {"MiB", 1ULL << 20},
                                         {"GiB", 1ULL << 30}}};

Result<uint64_t> parse(std::string_view text, std::span<const Unit> units, uint64_t limit,
                       const char* example) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units) {
    if (error != std::errc() || suffix != unit.name) continue;
    if (number > limit / unit.factor) break;
    return number * unit.factor;
  }
  return fail("\"" + std::string(text) + "\" is not like " + example);
}

}  // namespace

Result<int64_t> parse_duration_ns(std::string_view text) {
  if (text == "0") return 0;
  constexpr auto kLimit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const Result<uint64_t> ns = parse(text, kTimes, kLimit, "300ms, 25s or 10m");
  if (!ns) return std::unexpected(ns.error());
  return static_cast<int64_t>(*ns);
}

Result<uint64_t> parse_size_bytes(std::string_view text) {
  return parse(text, kSizes, std::numeric_limits<uint64_t>::max(), "4096, 16KiB or 1GB");
}

}  // namespace taut
