// A value that one thread replaces now and then while others go on using it, such as a certificate.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace taut {

/// Holds the newest value; what was replaced lives until its last reader has looked again.
/// publish() may be called by any thread; each reader belongs to one thread.
template <class T>
class Published {
 public:
  explicit Published(std::shared_ptr<const T> first) : value_(std::move(first)) {}

  void publish(std::shared_ptr<const T> value) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
    // Release: pairs with the acquire in Reader::get(); the lock there orders the value itself.
    version_.fetch_add(1, std::memory_order_release);
  }

  /// One thread's view. While nothing was published, a look costs one load; the lock is taken once for each
  /// new value.
  class Reader {
   public:
    /// `source` outlives the reader.
    explicit Reader(Published& source) : source_(source) {}

    /// Valid until the next call.
    [[nodiscard]] const T& get() {
      // Acquire: pairs with the release in publish().
      const uint64_t version = source_.version_.load(std::memory_order_acquire);
      if (mine_ == nullptr || version != seen_) {
        const std::lock_guard lock(source_.mutex_);
        mine_ = source_.value_;
        seen_ = source_.version_.load(std::memory_order_relaxed);  // it only changes under the lock
      }
      return *mine_;
    }

   private:
    Published& source_;
    std::shared_ptr<const T> mine_;
    uint64_t seen_ = 0;
  };

 private:
  std::mutex mutex_;
  std::shared_ptr<const T> value_;
  std::atomic<uint64_t> version_{0};
};

}  // namespace taut
