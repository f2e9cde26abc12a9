// Counts the heap allocations of the process, so that "allocates nothing" is a number and not a hope.
//
// An executable that calls any of these functions gets malloc and its family replaced by versions that count
// and then call glibc's own. Sanitizers bring their own malloc: there available() is false and every count is
// 0.
#pragma once

#include <cstdint>

namespace taut {

[[nodiscard]] bool allocation_counter_available() noexcept;
/// malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign (and so operator new) by this thread so
/// far.
[[nodiscard]] uint64_t allocations_this_thread() noexcept;
/// The same over all threads, those that have ended included. Any thread.
[[nodiscard]] uint64_t allocations_total() noexcept;
/// Bytes that malloc has handed out and not got back. Takes malloc's locks for some microseconds: not on a
/// shard.
[[nodiscard]] uint64_t heap_bytes_in_use() noexcept;

}  // namespace taut
