#pragma once
// Memory of large arrays. The C library gives large blocks back to the system when they are freed. Touching
// fresh pages costs about ten times as much as computing on them. So freed blocks are kept for the next array
// of about that size.

#include <stddef.h>

namespace melix::runtime {

inline constexpr size_t leastKept = size_t(128) << 10;
/// From this size on memory begins at a huge page.
inline constexpr size_t leastMapped = size_t(4) << 20;

/// At least `bytes`; the size of the memory goes to `got`. Null if there is none. Contents are undefined, or
/// zero.
void* takeLargeMemory(size_t bytes, bool zeroed, size_t& got);
/// Memory of takeLargeMemory, of the size it said.
void giveLargeMemory(void* memory, size_t size);

} // namespace melix::runtime
