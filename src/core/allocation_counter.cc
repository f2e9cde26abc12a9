#include "core/allocation_counter.h"

#include <malloc.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define TAUT_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TAUT_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef TAUT_COUNTS_ALLOCATIONS
#define TAUT_COUNTS_ALLOCATIONS 1
#endif

namespace taut {

#if TAUT_COUNTS_ALLOCATIONS

namespace {

/// A few cells for the total instead of one, so that threads seldom meet in one; a line (and the one the
/// prefetcher adds) each.
struct alignas(128) TotalCell {
  std::atomic<uint64_t> count{0};
};
constexpr uint32_t kTotalCells = 32;
constinit std::array<TotalCell, kTotalCells> totals;
constinit std::atomic<uint32_t> threads_seen{0};

// Initial-exec: the general model may call malloc at a thread's first access, which would come back here.
constinit thread_local uint64_t this_thread [[gnu::tls_model("initial-exec")]] = 0;
constinit thread_local uint32_t cell_of_this_thread [[gnu::tls_model("initial-exec")]] = 0;  // its number + 1

void count_one() noexcept {
  ++this_thread;
  // Relaxed without a pair, here and below: the numbers publish nothing but themselves.
  if (cell_of_this_thread == 0) {
    cell_of_this_thread = threads_seen.fetch_add(1, std::memory_order_relaxed) % kTotalCells + 1;
  }
  totals[cell_of_this_thread - 1].count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

bool allocation_counter_available() noexcept {
  return true;
}

uint64_t allocations_this_thread() noexcept {
  return this_thread;
}

uint64_t allocations_total() noexcept {
  uint64_t n = 0;
  for (const TotalCell& cell : totals) n += cell.count.load(std::memory_order_relaxed);  // no pair, see above
  return n;
}

uint64_t heap_bytes_in_use() noexcept {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace taut

// What follows replaces the C library's functions, for the executable and every shared library it loads.

#define TAUT_INTERPOSE extern "C" [[gnu::visibility("default")]]

extern "C" {
void* __libc_malloc(size_t size);                      // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(size_t count, size_t size);        // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* memory, size_t size);       // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(size_t alignment, size_t size);  // NOLINT(bugprone-reserved-identifier)
void __libc_free(void* memory);                        // NOLINT(bugprone-reserved-identifier)
}

TAUT_INTERPOSE void* malloc(size_t size) noexcept {
  taut::count_one();
  return __libc_malloc(size);
}

TAUT_INTERPOSE void* calloc(size_t count, size_t size) noexcept {
  taut::count_one();
  return __libc_calloc(count, size);
}

TAUT_INTERPOSE void* realloc(void* memory, size_t size) noexcept {
  taut::count_one();
  return __libc_realloc(memory, size);
}

TAUT_INTERPOSE void* memalign(size_t alignment, size_t size) noexcept {
  taut::count_one();
  return __libc_memalign(alignment, size);
}

TAUT_INTERPOSE void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return memalign(alignment, size);
}

TAUT_INTERPOSE int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* const p = memalign(alignment, size);
  if (p == nullptr) return ENOMEM;
  *memory = p;
  return 0;
}

TAUT_INTERPOSE void free(void* memory) noexcept {
  __libc_free(memory);
}

#else

bool allocation_counter_available() noexcept {
  return false;
}
uint64_t allocations_this_thread() noexcept {
  return 0;
}
uint64_t allocations_total() noexcept {
  return 0;
}
uint64_t heap_bytes_in_use() noexcept {
  return 0;
}

}  // namespace taut

#endif
