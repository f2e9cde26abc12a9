// Mail in order of arrival, in one growing ring of memory: a shard's mail to itself, and its overflow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "base/assert.h"
#include "core/mail.h"

namespace taut {

/// One thread. Allocates only when it grows; release_memory() gives everything back.
class MailFifo {
 public:
  /// More than `limit` mails (a power of two) is our bug and ends the process.
  explicit MailFifo(uint32_t limit) : limit_(limit) {}

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] uint32_t size() const { return size_; }

  void push(const Mail& mail) {
    if (size_ == capacity_) grow();
    mails_[(head_ + size_) & (capacity_ - 1)] = mail;
    ++size_;
  }

  /// The oldest mails that lie together in memory, up to `most`; valid until the next push or consume.
  [[nodiscard]] std::span<const Mail> front(uint32_t most) const {
    return {mails_.get() + head_, std::min({size_, capacity_ - head_, most})};
  }

  /// REQUIRES: count ≤ size().
  void consume(uint32_t count) {
    TAUT_ASSERT(count <= size_);
    if (count == 0) return;
    head_ = (head_ + count) & (capacity_ - 1);
    size_ -= count;
  }

  /// REQUIRES: empty().
  void release_memory() {
    TAUT_ASSERT(empty());
    mails_.reset();
    capacity_ = 0;
    head_ = 0;
  }

 private:
  static constexpr uint32_t kCapacityFirst = 256;

  void grow() {
    TAUT_ASSERT(size_ < limit_);
    const uint32_t larger = capacity_ == 0 ? std::min(kCapacityFirst, limit_) : capacity_ * 2;
    auto mails = std::make_unique<Mail[]>(larger);
    for (uint32_t i = 0; i < size_; ++i) mails[i] = mails_[(head_ + i) & (capacity_ - 1)];
    mails_ = std::move(mails);
    capacity_ = larger;
    head_ = 0;
  }

  const uint32_t limit_;
  std::unique_ptr<Mail[]> mails_;
  uint32_t capacity_ = 0;  ///< 0 or a power of two
  uint32_t head_ = 0;
  uint32_t size_ = 0;
};

}  // namespace taut
