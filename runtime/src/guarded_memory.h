#pragma once
// Blocks for finding accesses outside of arrays.
//
// A build with MELIX_GUARD_PAGES takes all its blocks from here, between pages that trap. Their data ends at
// the next page, except for up to 63 bytes that keep it aligned. These bytes are filled, and checked when the
// block is given back. A block that was given back traps.
//
// A build with MELIX_SANITIZE_PROGRAMS takes its blocks from the address sanitizer's allocator, each as large
// as its data. The memory around the data, the header except its count, the rest of a list and a block that
// was given back are poisoned. Compiled code asks before each access.

#include <stddef.h>
#include <stdint.h>

namespace melix::runtime {

#if defined(MELIX_GUARD_PAGES) || defined(MELIX_SANITIZE_PROGRAMS)
inline constexpr bool guardsBlocks = true;
#else
inline constexpr bool guardsBlocks = false;
#endif

/// Memory for a header of 64 bytes and `bytes` of data after it, which are zero; gives the header. `got` is
/// the size of all that was taken, including the pages around, and `shift` the place of the header in it.
/// Null if there is no memory.
uint8_t* takeGuardedMemory(uint64_t bytes, size_t& got, size_t& shift);
/// Ends the program if the bytes after the data were written.
void giveGuardedMemory(uint8_t* header, uint64_t bytes, size_t size, size_t shift);

#ifdef MELIX_SANITIZE_PROGRAMS
/// Of `data`, which has `bytes`, the first `used` may be touched from now on.
void guardRest(const uint8_t* data, uint64_t used, uint64_t bytes);
#else
inline void guardRest(const uint8_t*, uint64_t, uint64_t) {}
#endif

} // namespace melix::runtime
