#include "core/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/bytes.h"

// GCC says it with a macro, clang with a feature.
#if !defined(__SANITIZE_ADDRESS__) && defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#endif

namespace taut {

namespace {

// As kLiveGuard, for blocks that are not live and for those from the heap.
constexpr uint64_t kFreeGuard = 0xDEAD'B10C'0FF0'6EE5ULL;
constexpr uint64_t kHeapGuard = 0x4EA9'B10C'1A49'3E77ULL;
constexpr uint64_t kCanary = 0xC0A1'517E'C0A1'517EULL;
constexpr int kFreeFill = 0xDD;
constexpr size_t kPageBytes = 4096;
constexpr int64_t kNotStamped = std::numeric_limits<int64_t>::min();
constexpr size_t kGranule = 64;

uint64_t guard_of(uint64_t kind, const Block* block) noexcept {
  return kind ^ reinterpret_cast<uintptr_t>(block);
}

/// The smallest class for a total of i * 64 bytes.
constexpr auto make_class_table() {
  std::array<uint8_t, BufferPool::kTotalBytes.back() / kGranule + 1> table{};
  uint8_t size_class = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    if (i * kGranule > BufferPool::kTotalBytes[size_class]) ++size_class;
    table[i] = size_class;
  }
  return table;
}
constexpr auto kClassOf = make_class_table();

/// Of one class: its size is a multiple of a cache line, and a slab holds at least two.
constexpr bool classes_fit() {
  for (const size_t total : BufferPool::kTotalBytes) {
    if (total % kGranule != 0 || total * 2 + BufferPool::kSlabHeaderBytes > BufferPool::kSlabBytes)
      return false;
  }
  return true;
}
static_assert(classes_fit());

/// `bytes` (whole slabs) aligned to a slab, zero-filled, or null.
char* map_aligned(size_t bytes) noexcept {
  const size_t mapped = bytes + BufferPool::kSlabBytes;
  void* const raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(raw);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) % BufferPool::kSlabBytes;
  const size_t after = mapped - before - bytes;
  if (before != 0) munmap(begin, before);
  if (after != 0) munmap(begin + before + bytes, after);
  // Where the host has no huge pages to give (or forbids them) small ones serve, slower at first touch.
  static_cast<void>(madvise(begin + before, bytes, MADV_HUGEPAGE));
  return begin + before;
}

/// Has the kernel back the range with pages at once; one by one where it does not know how (before 5.14).
void populate(char* begin, size_t bytes) noexcept {
  if (madvise(begin, bytes, MADV_POPULATE_WRITE) == 0) return;
  for (size_t at = 0; at < bytes; at += kPageBytes) begin[at] = 0;
}

void unmap(char* begin, size_t bytes) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(begin, bytes);  // the shadow stays behind for whoever gets the addresses next
  munmap(begin, bytes);
}

void write_canary(Block* block) noexcept {
  if constexpr (BufferPool::kCanaryBytes != 0) store_le(block->data() + block->capacity, kCanary);
}

bool canary_intact(const Block* block) noexcept {
  if constexpr (BufferPool::kCanaryBytes == 0) return true;
  return load_le<uint64_t>(block->data() + block->capacity) == kCanary;
}

}  // namespace

/// The first cache line of a slab; the blocks follow. Blocks are carved off when first needed.
struct BufferPool::Slab {
  BufferPool* pool;
  Block* free;  ///< carved blocks that came home
  Slab* next;
  Slab* prev;
  int64_t empty_since_ns;  ///< while in empty_extra_: stamped by the first trim() that sees it
  uint32_t carved;         ///< bytes from the slab's beginning that have been carved
  uint32_t live;           ///< blocks outstanding
  uint8_t size_class;
  bool is_base;

  [[nodiscard]] bool full() const noexcept {
    return free == nullptr && carved + kTotalBytes[size_class] > kSlabBytes;
  }
  /// REQUIRES: live == 0.
  void serve(uint8_t new_class) noexcept {
    if (new_class == size_class) return;
    size_class = new_class;
    free = nullptr;
    carved = kSlabHeaderBytes;
  }
};

uint64_t BufferPool::Metrics::blocks_outstanding() const noexcept {
  uint64_t n = 0;
  for (const Cell& cell : blocks) n += cell.load();
  return n + overdrawn_blocks.load();
}

uint64_t BufferPool::Metrics::bytes_in_use() const noexcept {
  uint64_t bytes = overdrawn_bytes.load();
  for (size_t i = 0; i < kClasses; ++i) bytes += blocks[i].load() * kTotalBytes[i];
  return bytes;
}

BufferPool::BufferPool(const Options& options)
    : options_(options), base_bytes_((options.base_bytes + kSlabBytes - 1) / kSlabBytes * kSlabBytes) {
  static_assert(sizeof(Slab) <= kSlabHeaderBytes);
  if (base_bytes_ == 0) return;
  base_ = map_aligned(base_bytes_);
  TAUT_ASSERT(base_ != nullptr && "the host has no memory for the base set of a buffer pool");
  populate(base_, base_bytes_);
  metrics_.slab_bytes.add(base_bytes_);
  for (size_t at = 0; at < base_bytes_; at += kSlabBytes) {
    Slab* const slab =
        new (base_ + at) Slab{this, nullptr, nullptr, nullptr, kNotStamped, kSlabHeaderBytes, 0, 0, true};
    ASAN_POISON_MEMORY_REGION(base_ + at + kSlabHeaderBytes, kSlabBytes - kSlabHeaderBytes);
    push_back(empty_base_, slab);
  }
}

BufferPool::~BufferPool() {
  TAUT_DCHECK(metrics_.blocks_outstanding() == 0);
  while (Slab* const slab = empty_extra_.front) {
    unlink(empty_extra_, slab);
    unmap(reinterpret_cast<char*>(slab), kSlabBytes);
  }
  if (unready_ != nullptr) unmap(unready_, kSlabBytes);
  if (base_ != nullptr) unmap(base_, base_bytes_);
}

Block* BufferPool::allocate(size_t capacity) noexcept {
  check_owner();
  if (capacity > kCapacityMax) {
    metrics_.refused.add(1);
    return nullptr;
  }
  uint8_t size_class = kClassOf[(capacity + sizeof(Block) + kCanaryBytes + kGranule - 1) / kGranule];
  Slab* slab = slab_with_room(size_class);
  // At the limit a larger block is better than none.
  while (slab == nullptr && ++size_class < kClasses) slab = partial_[size_class].front;
  if (slab == nullptr) {
    metrics_.refused.add(1);
    return nullptr;
  }
  Block* const block = take(slab);
  if (slab->full()) unlink(partial_[size_class], slab);
  return block;
}

Block* BufferPool::allocate_anyway(size_t capacity) noexcept {
  Block* const block = allocate(capacity);
  return block != nullptr ? block : overdraw(capacity);
}

Block* BufferPool::overdraw(size_t capacity) noexcept {
  TAUT_ASSERT(capacity <= kCapacityMax);
  const size_t total = sizeof(Block) + capacity + kCanaryBytes;
  void* const memory = ::operator new(total, std::align_val_t(sizeof(Block)), std::nothrow);
  TAUT_ASSERT(memory != nullptr && "the host has no memory beyond the limit of a buffer pool");
  Block* const block = new (memory) Block{.capacity = static_cast<uint32_t>(capacity),
                                          .written = 0,
                                          .refs = 1,
                                          .home = options_.home,
                                          .size_class = kClasses,
                                          .state = Block::State::live,
                                          .guard = 0,
                                          .next = nullptr};
  block->guard = guard_of(kLiveGuard, block);
  write_canary(block);
  metrics_.overdrawn_blocks.add(1);
  metrics_.overdrawn_bytes.add(total);
  return block;
}

void BufferPool::repay(Block* block) noexcept {
  metrics_.overdrawn_blocks.subtract(1);
  metrics_.overdrawn_bytes.subtract(sizeof(Block) + block->capacity + kCanaryBytes);
  block->guard = guard_of(kFreeGuard, block);
  ::operator delete(block, std::align_val_t(sizeof(Block)));
}

void BufferPool::free(Block* block) noexcept {
  check_owner();
  check_live(block);
  TAUT_ASSERT(block->refs == 1);
  block->refs = 0;
  give_back(block);
}

void BufferPool::trim(int64_t now_ns) noexcept {
  check_owner();
  for (Slab* s = empty_extra_.front; s != nullptr && s->empty_since_ns == kNotStamped; s = s->next) {
    s->empty_since_ns = now_ns;
  }
  for (uint32_t given = 0; given < kSlabsPerTrim; ++given) {
    Slab* const slab = empty_extra_.back;
    if (slab == nullptr || now_ns - slab->empty_since_ns < kQuietNs) return;
    unlink(empty_extra_, slab);
    unmap(reinterpret_cast<char*>(slab), kSlabBytes);
    metrics_.slab_bytes.subtract(kSlabBytes);
  }
}

BufferPool::Slab* BufferPool::slab_of(Block* block) noexcept {
  return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) & ~(kSlabBytes - 1));
}

/// The class's own slab if it has one with room, else an empty one (the base set first), else a new one.
BufferPool::Slab* BufferPool::slab_with_room(uint8_t size_class) noexcept {
  SlabList& partial = partial_[size_class];
  if (partial.front != nullptr) return partial.front;
  Slab* slab = nullptr;
  if (empty_base_.front != nullptr) {
    slab = empty_base_.front;
    unlink(empty_base_, slab);
  } else if (empty_extra_.front != nullptr) {
    slab = empty_extra_.front;
    unlink(empty_extra_, slab);
  } else {
    slab = next_slab();
    if (slab == nullptr) return nullptr;
  }
  scarce_ = scarce_ || (empty_base_.front == nullptr && empty_extra_.front == nullptr);
  slab->serve(size_class);
  push_front(partial, slab);
  return slab;
}

bool BufferPool::begin_slab() noexcept {
  if (unready_ != nullptr) return true;
  if (metrics_.slab_bytes.load() + kSlabBytes > options_.bytes_max) return false;
  unready_ = map_aligned(kSlabBytes);
  if (unready_ == nullptr) return false;
  ready_bytes_ = 0;
  metrics_.slab_bytes.add(kSlabBytes);
  return true;
}

/// The slab that prepare_some() has begun, or a new one, all of it populated.
BufferPool::Slab* BufferPool::next_slab() noexcept {
  if (!begin_slab()) return nullptr;
  if (ready_bytes_ < kSlabBytes) populate(unready_ + ready_bytes_, kSlabBytes - ready_bytes_);
  char* const memory = std::exchange(unready_, nullptr);
  ASAN_POISON_MEMORY_REGION(memory + kSlabHeaderBytes, kSlabBytes - kSlabHeaderBytes);
  return new (memory) Slab{this, nullptr, nullptr, nullptr, kNotStamped, kSlabHeaderBytes, 0, 0, false};
}

bool BufferPool::prepare_some() noexcept {
  check_owner();
  if (!scarce_) return false;
  if (!begin_slab()) {
    scarce_ = false;  // the limit is reached: asked again when something comes home and is taken again
    return false;
  }
  populate(unready_ + ready_bytes_, kPrepareBytes);
  ready_bytes_ += kPrepareBytes;
  if (ready_bytes_ < kSlabBytes) return true;
  push_front(empty_extra_, next_slab());
  scarce_ = false;
  return true;
}

/// REQUIRES: !slab->full().
Block* BufferPool::take(Slab* slab) noexcept {
  const uint8_t size_class = slab->size_class;
  const uint32_t total = kTotalBytes[size_class];
  Block* block = slab->free;
  if (block != nullptr) {
    TAUT_ASSERT(block->guard == guard_of(kFreeGuard, block));
    slab->free = block->next;
    __builtin_prefetch(slab->free, 1);
  } else {
    block = reinterpret_cast<Block*>(reinterpret_cast<char*>(slab) + slab->carved);
    slab->carved += total;
  }
  ASAN_UNPOISON_MEMORY_REGION(block, total);
  const auto capacity = static_cast<uint32_t>(total - sizeof(Block) - kCanaryBytes);
  new (block) Block{.capacity = capacity,
                    .written = 0,
                    .refs = 1,
                    .home = options_.home,
                    .size_class = size_class,
                    .state = Block::State::live,
                    .guard = guard_of(kLiveGuard, block),
                    .next = nullptr};
  write_canary(block);
  ++slab->live;
  metrics_.blocks[size_class].add(1);
  return block;
}

void BufferPool::give_back(Block* block) noexcept {
  TAUT_DCHECK(canary_intact(block));
  if (block->state == Block::State::secret) secure_wipe(block->data(), block->capacity);
  if (block->size_class == kClasses) return repay(block);
  Slab* const slab = slab_of(block);
  TAUT_ASSERT(slab->pool == this);
#ifdef TAUT_DEBUG
  std::memset(block->data(), kFreeFill, block->capacity);
#endif
  const bool was_full = slab->full();
  block->written = 0;
  block->state = Block::State::free;
  block->guard = guard_of(kFreeGuard, block);
  block->next = slab->free;
  slab->free = block;
  --slab->live;
  metrics_.blocks[slab->size_class].subtract(1);
  ASAN_POISON_MEMORY_REGION(block->data(), kTotalBytes[slab->size_class] - sizeof(Block));
  slab_gained_room(slab, was_full);
}

/// Keeps the lists right: base slabs in front, so that allocations gather there and the others run empty.
void BufferPool::slab_gained_room(Slab* slab, bool was_full) noexcept {
  SlabList& partial = partial_[slab->size_class];
  if (was_full) slab->is_base ? push_front(partial, slab) : push_back(partial, slab);
  if (slab->live != 0) return;
  unlink(partial, slab);
  slab->empty_since_ns = kNotStamped;
  push_front(slab->is_base ? empty_base_ : empty_extra_, slab);
}

void BufferPool::push_front(SlabList& list, Slab* slab) noexcept {
  slab->prev = nullptr;
  slab->next = list.front;
  (list.front != nullptr ? list.front->prev : list.back) = slab;
  list.front = slab;
}

void BufferPool::push_back(SlabList& list, Slab* slab) noexcept {
  slab->next = nullptr;
  slab->prev = list.back;
  (list.back != nullptr ? list.back->next : list.front) = slab;
  list.back = slab;
}

void BufferPool::unlink(SlabList& list, Slab* slab) noexcept {
  (slab->prev != nullptr ? slab->prev->next : list.front) = slab->next;
  (slab->next != nullptr ? slab->next->prev : list.back) = slab->prev;
}

void* PoolResource::do_allocate(size_t bytes, size_t alignment) {
  if (bytes <= BufferPool::kCapacityMax && alignment <= sizeof(Block)) {
    if (Block* const block = pool_.allocate(bytes); block != nullptr) return block->data();
  }
  // The same header in front, so that deallocate can tell the two apart.
  const size_t offset = std::max(alignment, sizeof(Block));
  char* const data = static_cast<char*>(::operator new(offset + bytes, std::align_val_t(offset))) + offset;
  Block* const header = new (data - sizeof(Block)) Block{};
  header->guard = guard_of(kHeapGuard, header);
  ++heap_allocations_;
  return data;
}

void PoolResource::do_deallocate(void* p, size_t, size_t alignment) {
  Block* const block = reinterpret_cast<Block*>(static_cast<char*>(p) - sizeof(Block));
  if (block->guard != guard_of(kHeapGuard, block)) {
    pool_.release(block);
    return;
  }
  const size_t offset = std::max(alignment, sizeof(Block));
  ::operator delete(static_cast<char*>(p) - offset, std::align_val_t(offset));
}

}  // namespace taut
