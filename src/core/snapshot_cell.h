// A small struct that one thread replaces and any thread reads whole: a sequence lock over relaxed words.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace taut {

/// store() belongs to one thread and never waits; load() to everybody, and tries again while a store is under
/// way. Source: Boehm, "Can seqlocks get along with programming language memory models?", MSPC 2012 (the data
/// are atomic words, so a torn read is discarded and never a race).
template <class T>
  requires std::is_trivially_copyable_v<T>
class SnapshotCell {
 public:
  void store(const T& value) noexcept {
    Words words{};
    std::memcpy(words.data(), &value, sizeof(T));
    const uint64_t version = version_.load(std::memory_order_relaxed);  // ours alone to write
    version_.store(version + 1, std::memory_order_relaxed);  // odd; pairs with the last load in load()
    for (size_t i = 0; i < kWords; ++i) {
      // Each pairs with its acquire load: who sees a word sees the odd version as well.
      words_[i].store(words[i], std::memory_order_release);
    }
    version_.store(version + 2, std::memory_order_release);  // pairs with the first load in load()
  }

  [[nodiscard]] T load() const noexcept {
    Words words{};
    for (;;) {
      const uint64_t before =
          version_.load(std::memory_order_acquire);  // pairs with the last store in store()
      for (size_t i = 0; i < kWords; ++i) {
        words[i] = words_[i].load(std::memory_order_acquire);  // pairs with the release of a later store()
      }
      // After the words, by their acquires; pairs with the first store of the store() that wrote them.
      if (before % 2 == 0 && version_.load(std::memory_order_relaxed) == before) break;
    }
    T value;
    std::memcpy(static_cast<void*>(&value), words.data(), sizeof(T));
    return value;
  }

 private:
  static constexpr size_t kWords = (sizeof(T) + 7) / 8;
  using Words = std::array<uint64_t, kWords>;

  std::atomic<uint64_t> version_{0};
  std::array<std::atomic<uint64_t>, kWords> words_{};
};

}  // namespace taut
