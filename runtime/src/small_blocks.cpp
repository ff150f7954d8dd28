#include "small_blocks.h"

#include "spin_lock.h"

#include <stdlib.h>

namespace melix::runtime {

namespace {

constexpr size_t chunkBytes = 64 * 1024;
constexpr int taken = 16; ///< blocks that a task takes at a time of what is shared

/// Chunks that blocks are cut from live as long as the process; the list keeps them reachable.
struct Chunk {
  Chunk* next;
  uint8_t rest[lineBytes - sizeof(Chunk*)];
};
Chunk* chunks;
/// By class: lists of blocks, linked by `prev` of the first block of each.
MelixBlock* shared[smallClasses];
uint32_t sharedLock;

/// The first blocks of what is shared, as a list, or null.
MelixBlock* takeSome(unsigned sizeClass) {
  if (!__atomic_load_n(&shared[sizeClass], __ATOMIC_RELAXED)) return nullptr;
  SpinLock guard(&sharedLock);
  MelixBlock* first = shared[sizeClass];
  if (!first) return nullptr;
  MelixBlock* last = first;
  for (int k = 1; k < taken && last->next; k++) last = last->next;
  MelixBlock* rest = last->next;
  if (rest) rest->prev = first->prev;
  shared[sizeClass] = rest ? rest : first->prev;
  last->next = nullptr;
  return first;
}

bool takeChunk(SmallBlocks& small) {
  auto* raw = static_cast<uint8_t*>(malloc(chunkBytes + lineBytes));
  if (!raw) return false;
  auto* chunk = reinterpret_cast<Chunk*>(alignToLine(raw));
  SpinLock guard(&sharedLock);
  chunk->next = chunks;
  chunks = chunk;
  small.bump = reinterpret_cast<uint8_t*>(chunk) + lineBytes;
  small.bumpEnd = reinterpret_cast<uint8_t*>(chunk) + chunkBytes;
  return true;
}

MelixBlock* cut(SmallBlocks& small, unsigned sizeClass) {
  const size_t bytes = (sizeClass + 1) * lineBytes;
  if (static_cast<size_t>(small.bumpEnd - small.bump) < bytes && !takeChunk(small)) return nullptr;
  auto* block = reinterpret_cast<MelixBlock*>(small.bump);
  small.bump += bytes;
  block->shift = 0;
  return block;
}

} // namespace

unsigned smallClassOf(uint64_t bytes) {
  const uint64_t lines = bytes == 0 ? 1 : (bytes + lineBytes - 1) / lineBytes;
  return lines < smallClasses ? static_cast<unsigned>(lines) : largeClass;
}

MelixBlock* SmallBlocks::takeShared(unsigned sizeClass) {
  free[sizeClass] = takeSome(sizeClass);
  return free[sizeClass] ? take(sizeClass) : cut(*this, sizeClass);
}

void SmallBlocks::share() {
  SpinLock guard(&sharedLock);
  for (unsigned k = 0; k < smallClasses; k++) {
    if (!free[k]) continue;
    free[k]->prev = shared[k];
    shared[k] = free[k];
    free[k] = nullptr;
  }
}

} // namespace melix::runtime
