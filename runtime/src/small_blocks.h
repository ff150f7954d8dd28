#pragma once
// Memory of small blocks, kept for reuse by size: class k holds 64 (k + 1) bytes, header included. A free
// block belongs to the task that freed it until the task shares it. Then any task takes shared blocks, some
// at a time, before it asks for new memory. So a block that one thread makes and another one frees is used
// again.
#include "melix/abi.h"

#include <stddef.h>
#include <stdint.h>

namespace melix::runtime {

inline constexpr size_t lineBytes = 64;
inline uint8_t* alignToLine(uint8_t* p) {
  return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(p) + lineBytes - 1) & ~(lineBytes - 1));
}

inline constexpr unsigned smallClasses = 17;
inline constexpr uint8_t largeClass = 0;

/// The class of a block with this much data; largeClass if it is not small.
unsigned smallClassOf(uint64_t bytes);

struct SmallBlocks {
  MelixBlock* free[smallClasses]; ///< linked by `next`
  uint8_t* bump;                  ///< rest of the chunk that new ones are cut from
  uint8_t* bumpEnd;

  /// Null if no memory is to be had. Of the header only `shift` is set.
  MelixBlock* take(unsigned sizeClass) {
    MelixBlock* block = free[sizeClass];
    if (!block) [[unlikely]]
      return takeShared(sizeClass);
    free[sizeClass] = block->next;
    return block;
  }
  void give(MelixBlock* block) {
    block->next = free[block->sizeClass];
    free[block->sizeClass] = block;
  }
  /// Leaves all that is free to all tasks.
  void share();

private:
  MelixBlock* takeShared(unsigned sizeClass);
};

} // namespace melix::runtime
