// A shard's memory for messages and output: fixed-size blocks out of slabs, counted, guarded, freed at home.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <span>
#include <string_view>
#include <thread>

#include "base/assert.h"
#include "core/cell.h"

namespace taut {

class BufferPool;

/// The 32 bytes right before the data. A block belongs to the pool (free) or to its holders (refs of them);
/// only written bytes can be read or sent. Filled by one thread; after that other threads may read the bytes,
/// but refs and next stay with the home shard, and the block goes back there to be released.
struct Block {
  enum class State : uint8_t { free = 0, live = 1, secret = 2 };

  uint32_t capacity;   ///< bytes that fit behind the header
  uint32_t written;    ///< bytes appended so far
  uint32_t refs;       ///< holders; home shard only, not atomic
  uint16_t home;       ///< shard whose pool it came from
  uint8_t size_class;  ///< index into BufferPool::kTotalBytes; BufferPool::kClasses: of the heap
  State state;
  uint64_t guard;  ///< sentinel that depends on state and address; looked at in every build
  Block* next;     ///< free list; while the block is out, a queue link for its owner (null from allocate)

  [[nodiscard]] char* data() noexcept { return reinterpret_cast<char*>(this) + sizeof(Block); }
  [[nodiscard]] const char* data() const noexcept {
    return reinterpret_cast<const char*>(this) + sizeof(Block);
  }
  /// What may still be written; follow it with commit().
  [[nodiscard]] std::span<char> room() noexcept { return {data() + written, capacity - written}; }
  /// The written bytes, and only those.
  [[nodiscard]] std::string_view bytes() const noexcept { return {data(), written}; }
  /// Takes `size` bytes of room() as written. REQUIRES: size <= room().size().
  void commit(size_t size) noexcept {
    TAUT_ASSERT(size <= capacity - written);
    written += static_cast<uint32_t>(size);
  }
  /// Copies all of `more` behind the written bytes. REQUIRES: more.size() <= room().size().
  void append(std::string_view more) noexcept {
    TAUT_ASSERT(more.size() <= capacity - written);
    if (more.empty()) return;  // its data may be null, which memcpy does not take
    std::memcpy(data() + written, more.data(), more.size());
    written += static_cast<uint32_t>(more.size());
  }
  /// Has the whole block wiped when its last reference goes: tokens, passwords.
  void keep_secret() noexcept { state = State::secret; }
};
static_assert(sizeof(Block) == 32);

/// Blocks of 13 sizes in slabs of one huge page. Owner thread only (adopt() names it), metrics() any thread.
///
/// A slab holds one class at a time and its own free list; each class keeps a list of its slabs with room, so
/// allocate and release are a few loads and stores. A slab whose last block came home leaves its class and
/// can serve any other. The base set is mapped and touched in the constructor and kept; slabs beyond it go
/// back to the kernel by trim(). Data is aligned to 32 bytes.
///
/// Guarded in every build: double release, foreign blocks, overwritten headers. In debug builds also the byte
/// right behind the data (canary) and 0xDD in free data; with AddressSanitizer free data is poisoned.
class BufferPool {
 public:
  /// One huge page. On a virtual machine without nested paging a small page costs 13 us when user code first
  /// touches it and 6 us more when the kernel first reads it for a socket; 2 MiB in one huge page cost 116 us
  /// altogether.
  static constexpr size_t kSlabBytes = size_t{2} * 1024 * 1024;
  static constexpr size_t kSlabHeaderBytes = 64;
  /// Header and data. From 32 K on a little less than the name says, so that a slab holds 8, 4 or 2 of them.
  static constexpr std::array<uint32_t, 13> kTotalBytes = {128,  256,  512,   1024,  1536,  2048,  3072,
                                                           4096, 8192, 16384, 32704, 65472, 131008};
  static constexpr size_t kClasses = kTotalBytes.size();
#ifdef TAUT_DEBUG
  static constexpr size_t kCanaryBytes = 8;
#else
  static constexpr size_t kCanaryBytes = 0;
#endif
  /// The largest capacity that allocate() can give, in bytes.
  static constexpr size_t kCapacityMax = kTotalBytes.back() - sizeof(Block) - kCanaryBytes;
  /// How long a slab beyond the base set stays empty before trim() gives it back.
  static constexpr int64_t kQuietNs = 60'000'000'000;
  /// What one prepare_some() makes ready: a few microseconds.
  static constexpr size_t kPrepareBytes = size_t{32} * 1024;
  /// Slabs that one trim() gives back at most: an munmap of a slab costs tens of microseconds.
  static constexpr uint32_t kSlabsPerTrim = 4;

  struct Options {
    uint16_t home = 0;                             ///< shard id, written into every block
    size_t base_bytes = size_t{16} * 1024 * 1024;  ///< mapped, touched and kept; rounded up to whole slabs
    size_t bytes_max = size_t{256} * 1024 * 1024;  ///< of slabs, base set included
  };

  /// Written by the owner, read by anybody.
  struct Metrics {
    std::array<Cell, kClasses> blocks;  ///< outstanding, by class
    Cell slab_bytes;                    ///< mapped now
    Cell refused;                       ///< allocations that bytes_max or kCapacityMax turned down
    Cell overdrawn_blocks;              ///< outstanding, from allocate_anyway() beyond bytes_max
    Cell overdrawn_bytes;               ///< of those, headers included

    [[nodiscard]] uint64_t blocks_outstanding() const noexcept;
    /// Of outstanding blocks, headers included.
    [[nodiscard]] uint64_t bytes_in_use() const noexcept;
  };

  /// Touches the base set (first touch decides the NUMA node, so construct it on the shard's core). Aborts
  /// with one line if the host refuses the base set.
  explicit BufferPool(const Options& options);
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  /// Unmaps everything. REQUIRES: no block outstanding.
  ~BufferPool();

  /// The calling thread becomes the owner that debug builds check; before the first call nobody is checked.
  void adopt() noexcept { owner_ = std::this_thread::get_id(); }

  /// A block with room for at least `capacity` bytes, refs 1, written 0; null when none is that large or
  /// bytes_max would be passed.
  [[nodiscard]] Block* allocate(size_t capacity) noexcept;
  /// The same for what must happen even in a full pool: what allocate() turns down comes from the heap, block
  /// by block, and goes back there. The caller bounds how much of it there can be. Aborts with one line if
  /// the host has no memory. REQUIRES: capacity <= kCapacityMax.
  [[nodiscard]] Block* allocate_anyway(size_t capacity) noexcept;
  /// REQUIRES: home == this pool, live.
  void add_ref(Block* block) noexcept {
    check_owner();
    check_live(block);
    ++block->refs;
  }
  /// One reference less; the last one frees the block. REQUIRES: home == this pool, live.
  void release(Block* block) noexcept {
    check_owner();
    check_live(block);
    if (--block->refs == 0) give_back(block);
  }
  /// Frees a block that has one holder. REQUIRES: refs == 1, home == this pool, live.
  void free(Block* block) noexcept;

  /// For idle moments: makes a part of the next slab ready, if the last empty one has been taken. False when
  /// there is nothing to do. Done here it delays no message.
  bool prepare_some() noexcept;

  /// Gives back slabs beyond the base set that have been empty for kQuietNs, at most kSlabsPerTrim of them.
  /// Call it about once a second; costs a few ns when there is nothing to do.
  void trim(int64_t now_ns) noexcept;

  [[nodiscard]] const Metrics& metrics() const noexcept { return metrics_; }
  [[nodiscard]] uint16_t home() const noexcept { return options_.home; }

 private:
  /// Arbitrary, and unlikely as data; mixed with the block's address, so that a copied header is not a valid
  /// one.
  static constexpr uint64_t kLiveGuard = 0x7A11'B10C'5AFE'D00DULL;

  struct Slab;
  struct SlabList {
    Slab* front = nullptr;
    Slab* back = nullptr;
  };

  static Slab* slab_of(Block* block) noexcept;
  static void push_front(SlabList& list, Slab* slab) noexcept;
  static void push_back(SlabList& list, Slab* slab) noexcept;
  static void unlink(SlabList& list, Slab* slab) noexcept;

  void check_owner() const noexcept {
    TAUT_DCHECK(owner_ == std::thread::id() || owner_ == std::this_thread::get_id());
  }
  void check_live(const Block* block) const noexcept {
    TAUT_ASSERT(block->guard == (kLiveGuard ^ reinterpret_cast<uintptr_t>(block)));
    TAUT_ASSERT(block->home == options_.home);
  }
  [[nodiscard]] Slab* slab_with_room(uint8_t size_class) noexcept;
  [[nodiscard]] Slab* next_slab() noexcept;
  [[nodiscard]] bool begin_slab() noexcept;
  [[nodiscard]] Block* take(Slab* slab) noexcept;
  [[nodiscard]] Block* overdraw(size_t capacity) noexcept;
  void repay(Block* block) noexcept;
  void give_back(Block* block) noexcept;
  void slab_gained_room(Slab* slab, bool was_full) noexcept;

  // constant after construction
  const Options options_;
  char* base_ = nullptr;  ///< one mapping of base_bytes_ bytes
  size_t base_bytes_ = 0;
  // owner thread only
  std::array<SlabList, kClasses> partial_;  ///< slabs with both live and free blocks
  SlabList empty_base_;
  SlabList empty_extra_;     ///< most recently emptied in front
  char* unready_ = nullptr;  ///< the next slab, of which ready_bytes_ are populated
  size_t ready_bytes_ = 0;
  bool scarce_ = false;  ///< the last empty slab has been taken
  std::thread::id owner_;
  // written by the owner, read by anybody
  Metrics metrics_;
};

/// Standard containers on a pool (owner thread only). What is too large for a block, or what the pool
/// refuses, comes from the heap and is counted. Alignment up to 32 is the pool's.
class PoolResource final : public std::pmr::memory_resource {
 public:
  /// The pool outlives the resource, the resource everything allocated from it.
  explicit PoolResource(BufferPool& pool) noexcept : pool_(pool) {}

  /// Allocations that went to the heap so far.
  [[nodiscard]] uint64_t heap_allocations() const noexcept { return heap_allocations_; }

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* p, size_t bytes, size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  BufferPool& pool_;
  uint64_t heap_allocations_ = 0;
};

}  // namespace taut
