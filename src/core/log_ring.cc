#include "core/log_ring.h"

namespace taut {

LogRing::LogRing(uint32_t source, LogLevel level, uint32_t records)
    : source_(source), mask_(records - 1U), records_(new LogRecord[records]), level_(level) {
  TAUT_ASSERT(records != 0 && std::has_single_bit(records));
}

void LogRing::put_text(LogRecord& record, std::string_view text) noexcept {
  const size_t size = std::min(text.size(), LogRecord::kTextBytes - record.text_size);
  if (size < text.size()) record.cut = true;
  std::memcpy(record.text.data() + record.text_size, text.data(), size);
  put_bits(record, LogRecord::Kind::text, uint64_t{record.text_size} << 32 | size);
  record.text_size = static_cast<uint8_t>(record.text_size + size);
}

/// The next record to fill, or null (and one more dropped) when the ring is full.
LogRecord* LogRing::claim() noexcept {
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (tail - head_seen_ > mask_) {
    // Acquire: pairs with the release in drain(); the consumer is done with the record that is overwritten
    // now.
    head_seen_ = head_.load(std::memory_order_acquire);
    if (tail - head_seen_ > mask_) {
      // Relaxed, no pair: only this thread writes it, and it publishes nothing but itself.
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return nullptr;
    }
  }
  return &records_[tail & mask_];
}

void LogRing::publish() noexcept {
  // Release: pairs with the acquire in drain(), which then reads whole records.
  tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace taut
