#include "gateway/conversation_id.h"

#include <array>
#include <charconv>

#include "base/assert.h"
#include "base/identity.h"

namespace taut::gateway {

namespace {

constexpr size_t kPartitionAt = 1;
constexpr size_t kPartitionDigits = 3;

void append_base36(std::string& out, uint64_t value) {
  std::array<char, 16> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, 36);
  out.append(digits.data(), end);
}

}  // namespace

std::string make_conversation_id(uint32_t partition, int64_t process_start_ms, uint64_t counter) {
  TAUT_ASSERT(partition < kPartitions);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string id = "c";
  for (int shift = 8; shift >= 0; shift -= 4) id += kHex[(partition >> shift) & 0xF];
  id += '-';
  append_base36(id, static_cast<uint64_t>(process_start_ms));
  id += '-';
  append_base36(id, counter);
  return id;
}

std::optional<uint32_t> partition_of_conversation(std::string_view id) {
  constexpr size_t kDashAt = kPartitionAt + kPartitionDigits;
  if (id.size() <= kDashAt || id[0] != 'c' || id[kDashAt] != '-') return std::nullopt;
  uint32_t partition = 0;
  const char* begin = id.data() + kPartitionAt;
  const auto [end, error] = std::from_chars(begin, begin + kPartitionDigits, partition, 16);
  if (error != std::errc{} || end != begin + kPartitionDigits) return std::nullopt;
  return partition;
}

}  // namespace taut::gateway
