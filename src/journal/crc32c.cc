#include "journal/crc32c.h"

#include <array>

#include "base/bytes.h"

namespace taut::journal {

namespace {

constexpr uint32_t kPolynomial = 0x82F6'3B78;  // bits reversed

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] uint32_t by_instruction(std::string_view bytes, uint32_t before) noexcept {
  uint64_t crc = ~before;
  while (bytes.size() >= sizeof(uint64_t)) {
    crc = __builtin_ia32_crc32di(crc, load_le<uint64_t>(bytes.data()));
    bytes.remove_prefix(sizeof(uint64_t));
  }
  auto rest = static_cast<uint32_t>(crc);
  for (const char byte : bytes) rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(byte));
  return ~rest;
}

const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;
#endif

}  // namespace

uint32_t crc32c_by_table(std::string_view bytes, uint32_t before) noexcept {
  uint32_t crc = ~before;
  for (const char byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

uint32_t crc32c(std::string_view bytes, uint32_t before) noexcept {
#if defined(__x86_64__)
  if (kHasInstruction) return by_instruction(bytes, before);
#endif
  return crc32c_by_table(bytes, before);
}

}  // namespace taut::journal
