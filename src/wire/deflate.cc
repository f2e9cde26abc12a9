#include "wire/deflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/padding.h"

namespace taut::wire {
namespace {

/// No zlib header, and the largest window: whatever a peer uses can be read.
constexpr int kRawWindowBits = -15;
/// zlib's default: 256 KiB of state.
constexpr int kMemoryLevel = 8;
/// What a flush ends with, and what therefore is not sent (RFC 7692, 7.2.1).
constexpr size_t kFlushEndBytes = 4;
/// The same, and an empty last block behind it: zlib then knows that nothing follows, and needs no window.
constexpr std::array<char, 6> kMessageEnd = {0x00, 0x00, '\xFF', '\xFF', 0x03, 0x00};

unsigned char* zlib_bytes(char* at) {
  return reinterpret_cast<unsigned char*>(at);
}

/// Where a message is cut, inflate() asks for a window to go on with later. Nobody will: it gets none.
void* allocate_nothing(void* /*opaque*/, unsigned /*items*/, unsigned /*size*/) {
  return nullptr;
}

}  // namespace

Inflater::Inflater(uint32_t message_bytes_max)
    : stream_(std::make_unique<z_stream_s>()),
      payload_(message_bytes_max + kMessageEnd.size()),
      message_(message_bytes_max + 1 + kReadablePadding),  // the one tells what is too long
      message_bytes_max_(message_bytes_max) {
  TAUT_ASSERT(inflateInit2(stream_.get(), kRawWindowBits) == Z_OK);
  stream_->zalloc = allocate_nothing;
}

Inflater::~Inflater() {
  inflateEnd(stream_.get());
}

Inflated Inflater::inflate(std::span<const char> payload) noexcept {
  TAUT_ASSERT(payload.size() <= message_bytes_max_);
  std::memcpy(payload_.data(), payload.data(), payload.size());
  std::memcpy(payload_.data() + payload.size(), kMessageEnd.data(), kMessageEnd.size());
  stream_->next_in = zlib_bytes(payload_.data());
  stream_->avail_in = static_cast<unsigned>(payload.size() + kMessageEnd.size());
  stream_->next_out = zlib_bytes(message_.data());
  stream_->avail_out = static_cast<unsigned>(message_bytes_max_ + 1);
  int result = Z_STREAM_END;
  while (result == Z_STREAM_END && stream_->avail_in != 0) {  // a peer may write last blocks, too (7.2.3.4)
    inflateReset(stream_.get());
    result = ::inflate(stream_.get(), Z_FINISH);
  }
  secure_wipe(payload_.data(), payload.size());
  const size_t size = message_bytes_max_ + 1 - stream_->avail_out;
  if (result == Z_STREAM_END && size <= message_bytes_max_) return {.message = {message_.data(), size}};
  secure_wipe(message_.data(), size);
  if (size > message_bytes_max_) return {.close_code = CloseCode::too_big, .reason = "message too big"};
  return {.close_code = CloseCode::broken_utf8, .reason = "compressed message is broken"};
}

Deflater::Deflater(uint32_t payload_bytes_max)
    : stream_(std::make_unique<z_stream_s>()), payload_(payload_bytes_max + kFlushEndBytes + 1) {
  // The fastest level: the receivers of all other messages wait for it.
  TAUT_ASSERT(deflateInit2(stream_.get(), Z_BEST_SPEED, Z_DEFLATED, kRawWindowBits, kMemoryLevel,
                           Z_DEFAULT_STRATEGY) == Z_OK);
}

Deflater::~Deflater() {
  deflateEnd(stream_.get());
}

std::string_view Deflater::deflate(std::string_view message, uint64_t number) noexcept {
  if (message.size() < kDeflateBytesMin) return {};
  if (number == 0 || number != last_number_) last_ = compress(message);
  last_number_ = number;
  return last_;
}

std::string_view Deflater::compress(std::string_view message) noexcept {
  deflateReset(stream_.get());
  const size_t room = std::min(payload_.size(), message.size() + kFlushEndBytes);
  stream_->next_in = zlib_bytes(const_cast<char*>(message.data()));
  stream_->avail_in = static_cast<unsigned>(message.size());
  stream_->next_out = zlib_bytes(payload_.data());
  stream_->avail_out = static_cast<unsigned>(room);
  const int result = ::deflate(stream_.get(), Z_SYNC_FLUSH);
  TAUT_ASSERT(result == Z_OK);
  const bool smaller = stream_->avail_out != 0;  // without room left the flush may not be complete
  const size_t size = smaller ? room - stream_->avail_out - kFlushEndBytes : message.size();
  bytes_in_ += message.size();
  bytes_out_ += size;
  return smaller ? std::string_view(payload_.data(), size) : std::string_view();
}

}  // namespace taut::wire
