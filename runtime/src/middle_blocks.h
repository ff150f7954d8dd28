#pragma once
// Free blocks that are larger than small ones and no large arrays, of up to 128 KiB: a call that makes an
// array and drops it has its memory from the call before. The C library makes them; some of each class are
// kept for reuse by the task that freed them. Each power of two has four sizes, so that no more than a fifth
// of a block is unused.
#include "small_blocks.h"

namespace melix::runtime {

inline constexpr unsigned middleClasses = 28; ///< numbered after the small ones
inline constexpr size_t mostMiddleBytes = size_t(128) << 10;

/// The class of a block with this much data, which is more than small blocks have.
inline unsigned middleClassOf(uint64_t bytes) {
  const auto last = static_cast<unsigned>((bytes + lineBytes - 1) / lineBytes) - 1;
  const unsigned bits = 31 - static_cast<unsigned>(__builtin_clz(last));
  return smallClasses + 4 * (bits - 4) + (last >> (bits - 2) & 3);
}
static_assert(smallClasses - 1 == 1 << 4 && mostMiddleBytes / lineBytes == 1 << (4 + middleClasses / 4));

struct MiddleBlocks {
  MelixBlock* free[middleClasses]; ///< linked by `next`
  uint32_t count[middleClasses];

  /// The data of the largest block of a class.
  static uint64_t bytesOf(unsigned sizeClass) {
    const unsigned k = sizeClass - smallClasses;
    return uint64_t(lineBytes) * (5 + k % 4) << (2 + k / 4);
  }
  /// Null if none is kept.
  MelixBlock* take(unsigned sizeClass) {
    const unsigned k = sizeClass - smallClasses;
    MelixBlock* block = free[k];
    if (!block) return nullptr;
    free[k] = block->next;
    count[k]--;
    return block;
  }
  /// Whether it is kept: there are not many of its class.
  bool give(MelixBlock* block) {
    const unsigned k = block->sizeClass - smallClasses;
    if (count[k] * bytesOf(block->sizeClass) > mostMiddleBytes) return false;
    block->next = free[k];
    free[k] = block;
    count[k]++;
    return true;
  }
};

/// Memory of the C library that a task keeps.
struct KeptMemory {
  MiddleBlocks middle;
  MelixBlock* scratch; ///< the memory of melix_scratch; in no list
};

} // namespace melix::runtime
