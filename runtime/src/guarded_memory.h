#pragma once
// Blocks between pages that trap, for finding accesses outside of arrays: what is built with
// MELIX_GUARD_PAGES takes all its blocks from here. Their data ends at the page behind, but for up to 63
// bytes that keep it aligned; those are filled and looked at when the block is given back. A block that was
// given back traps.

#include <stddef.h>
#include <stdint.h>

namespace melix::runtime {

#ifdef MELIX_GUARD_PAGES
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

} // namespace melix::runtime
