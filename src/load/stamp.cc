#include "load/stamp.h"

#include <cstring>

#include "base/assert.h"
#include "load/options.h"

namespace taut::load {

namespace {

constexpr size_t kFlowAt = 4;
constexpr size_t kSequenceAt = 8;
constexpr size_t kIntendedAt = 16;
constexpr size_t kCheckAt = 32;
static_assert(kFlowAt == kStampIdAt && kIntendedAt == kStampIdAt + kStampIdBytes);
static_assert(kStampBytes + kTextEnd.size() <= kTextBytesMin);

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr uint8_t kNotHex = 0xFF;

constexpr std::array<uint8_t, 256> make_hex_values() {
  std::array<uint8_t, 256> values{};
  values.fill(kNotHex);
  for (uint8_t i = 0; i < 16; ++i) values[static_cast<uint8_t>(kHexDigits[i])] = i;
  return values;
}
constexpr std::array<uint8_t, 256> kHexValues = make_hex_values();

template <size_t Digits>
void write_hex(uint64_t value, char* out) noexcept {
  for (size_t i = Digits; i-- > 0; value >>= 4) out[i] = kHexDigits[value & 0xF];
}

template <size_t Digits>
uint64_t read_hex(const char* in, uint8_t& bad) noexcept {
  uint64_t value = 0;
  for (size_t i = 0; i < Digits; ++i) {
    const uint8_t digit = kHexValues[static_cast<uint8_t>(in[i])];
    bad |= digit & 0xF0;
    value = value << 4 | (digit & 0xF);
  }
  return value;
}

// Spreads every bit of the stamp over the check, so that bytes of two messages mixed up do not pass.
uint32_t check_of(const Stamp& stamp) noexcept {
  uint64_t x = static_cast<uint64_t>(stamp.intended_ns);
  x ^= (uint64_t{stamp.flow} << 32 | stamp.sequence) * 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ULL;
  return static_cast<uint32_t>(x ^ (x >> 32));
}

}  // namespace

StampBytes write_stamp(const Stamp& stamp) noexcept {
  StampBytes bytes;
  std::memcpy(bytes.data(), kStampMarker.data(), kStampMarker.size());
  write_hex<4>(stamp.flow, bytes.data() + kFlowAt);
  write_hex<8>(stamp.sequence, bytes.data() + kSequenceAt);
  write_hex<16>(static_cast<uint64_t>(stamp.intended_ns), bytes.data() + kIntendedAt);
  write_hex<8>(check_of(stamp), bytes.data() + kCheckAt);
  return bytes;
}

std::optional<Stamp> read_stamp(std::string_view bytes) noexcept {
  if (bytes.size() < kStampBytes || !bytes.starts_with(kStampMarker)) return std::nullopt;
  uint8_t bad = 0;
  Stamp stamp;
  stamp.flow = static_cast<uint32_t>(read_hex<4>(bytes.data() + kFlowAt, bad));
  stamp.sequence = static_cast<uint32_t>(read_hex<8>(bytes.data() + kSequenceAt, bad));
  stamp.intended_ns = static_cast<int64_t>(read_hex<16>(bytes.data() + kIntendedAt, bad));
  const uint64_t check = read_hex<8>(bytes.data() + kCheckAt, bad);
  if (bad != 0 || check != check_of(stamp)) return std::nullopt;
  return stamp;
}

std::string blank_text(uint32_t size) {
  TAUT_ASSERT(size >= kTextBytesMin);
  std::string text(size, 'x');
  const StampBytes stamp = write_stamp({});
  text.replace(0, kStampBytes, stamp.data(), kStampBytes);
  text.replace(size - kTextEnd.size(), kTextEnd.size(), kTextEnd);
  return text;
}

size_t StampFinder::find(std::string_view body) noexcept {
  if (last_at_ < body.size() && body.substr(last_at_).starts_with(kStampMarker)) return last_at_;
  const size_t at = body.find(kStampMarker);
  if (at != std::string_view::npos) last_at_ = at;
  return at;
}

}  // namespace taut::load
