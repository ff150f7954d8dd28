#pragma once
// Blocks for finding accesses outside of arrays. What is built with MELIX_GUARD_PAGES takes all its blocks
// from here, between pages that trap: their data ends at the page behind, but for up to 63 bytes that keep it
// aligned; those are filled and looked at when the block is given back. A block that was given back traps.
// What is built with MELIX_SANITIZE_PROGRAMS takes them from the address sanitizer's allocator, each as large
// as its data: what lies around it, its header but for the count, the rest of a list and a block that was
// given back are poisoned, and compiled code asks before each access.

#include <stddef.h>
#include <stdint.h>

namespace melix::runtime {

#if defined(MELIX_GUARD_PAGES) || defined(MELIX_SANITIZE_PROGRAMS)
inline constexpr bool guardsBlocks = true;
#else
inline constexpr bool guardsBlocks = false;
#endif

/// Memory for a header of 64 bytes and `bytes` of data behind it, which are zero; gives the header. `got` is
/// the size of all that was taken, the pages around included, and `shift` where in it the header is. Null if
/// there is none.
uint8_t* takeGuardedMemory(uint64_t bytes, size_t& got, size_t& shift);
/// Ends the program if the bytes behind the data were written.
void giveGuardedMemory(uint8_t* header, uint64_t bytes, size_t size, size_t shift);

#ifdef MELIX_SANITIZE_PROGRAMS
/// Of `data`, which has `bytes`, the first `used` may be touched from now on.
void guardRest(const uint8_t* data, uint64_t used, uint64_t bytes);
#else
inline void guardRest(const uint8_t*, uint64_t, uint64_t) {}
#endif

} // namespace melix::runtime
