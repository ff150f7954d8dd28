// Blocks: where their memory comes from and the list each task keeps of its own.
#include "device_hooks.h"
#include "guarded_memory.h"
#include "large_memory.h"
#include "task.h"

using namespace melix::runtime;

namespace melix::runtime {

const DeviceHooks* deviceHooks;

namespace {

/// The class of a block with this much data: a small one, or behind these a middle one; largeClass if it is
/// neither.
unsigned classOf(uint64_t bytes) {
  if (guardsBlocks || bytes > mostMiddleBytes) return largeClass;
  const unsigned small = smallClassOf(bytes);
  return small != largeClass ? small : middleClassOf(bytes);
}

MelixBlock* takeGuarded(uint64_t bytes) {
  size_t got = 0, shift = 0;
  auto* block = reinterpret_cast<MelixBlock*>(takeGuardedMemory(bytes, got, shift));
  if (!block) return nullptr;
  block->shift = static_cast<uint16_t>(shift);
  block->obtained = got;
  return block;
}

MelixBlock* takeLarge(uint64_t bytes, bool zeroed) {
  constexpr uint64_t addressable = 1ull << 47;
  if (bytes > addressable / 2) return nullptr;
  if constexpr (guardsBlocks) return takeGuarded(bytes);
  size_t total = static_cast<size_t>(bytes) + MELIX_HEADER_BYTES + 2 * lineBytes, got;
  auto* raw = static_cast<uint8_t*>(takeLargeMemory(total, zeroed, got));
  if (!raw) return nullptr;
  uint8_t* at = alignToLine(raw) + (bytes < MELIX_STREAMED_BYTES && bytes >= leastMapped ? lineBytes : 0);
  auto* block = reinterpret_cast<MelixBlock*>(at);
  block->shift = static_cast<uint16_t>(at - raw);
  block->obtained = got;
  return block;
}

MelixBlock* takeMiddle(MelixTask* task, unsigned sizeClass) {
  MelixBlock* block = task->kept.middle.take(sizeClass);
  return block ? block : takeLarge(MiddleBlocks::bytesOf(sizeClass), false);
}

MelixBlock* takeBlock(MelixTask* task, unsigned sizeClass, uint64_t bytes, bool zeroed) {
  if (sizeClass == largeClass) return takeLarge(bytes, zeroed);
  MelixBlock* block = sizeClass < smallClasses ? task->small.take(sizeClass) : takeMiddle(task, sizeClass);
  if (block && zeroed) memset(dataOf(block), 0, bytes);
  return block;
}

uint32_t* listLock(MelixTask* user, MelixTask* owner) { return user->head.threaded ? &owner->lock : nullptr; }

[[noreturn]] void outOfMemory(MelixTask* task, int64_t bytes) {
  int64_t values[] = {bytes};
  melix_panic_format(task, "out of memory: {0} bytes asked for", 1, values);
}

MelixBlock* makeBlock(MelixTask* task, int64_t bytes, bool zeroed) {
  checkStack(task);
  if (task->landing && __atomic_load_n(&task->head.cancel, __ATOMIC_RELAXED)) [[unlikely]]
    melix_cancelled(task);
  if (bytes < 0) [[unlikely]] {
    int64_t values[] = {bytes};
    melix_panic_format(task, "negative size: {0} bytes", 1, values);
  }
  auto size = static_cast<uint64_t>(bytes);
  unsigned sizeClass = classOf(size);
  MelixBlock* block = takeBlock(task, sizeClass, size, zeroed);
  if (!block) [[unlikely]]
    outOfMemory(task, bytes);
  block->refs = 1;
  block->space = 0;
  block->valid = MELIX_VALID_HOST;
  block->bytes = size;
  block->owner = task;
  block->type = nullptr;
  block->layout = MELIX_LAYOUT_BYTES;
  block->sizeClass = static_cast<uint8_t>(sizeClass);
  block->filled = 0;
  {
    SpinLock guard(listLock(task, task));
    MelixBlock* list = task->list;
    block->prev = list;
    block->next = list->next;
    list->next->prev = block;
    list->next = block;
  }
  MelixStats& stats = task->stats;
  stats.liveBlocks++;
  stats.allocations++;
  stats.liveBytes += bytes;
  if (stats.liveBytes > stats.peakBytes) stats.peakBytes = stats.liveBytes;
  return block;
}

} // namespace

void unlinkBlock(MelixTask* task, MelixBlock* block) {
  SpinLock guard(listLock(task, block->owner));
  block->next->prev = block->prev;
  block->prev->next = block->next;
}

namespace {

void giveLarge(MelixBlock* block) {
  if constexpr (guardsBlocks)
    return giveGuardedMemory(reinterpret_cast<uint8_t*>(block), block->bytes, block->obtained, block->shift);
  giveLargeMemory(reinterpret_cast<uint8_t*>(block) - block->shift, block->obtained);
}

} // namespace

static void freeScratch(MelixTask* task) {
  if (task->kept.scratch) giveLarge(task->kept.scratch);
  task->kept.scratch = nullptr;
}

void freeKept(MelixTask* task) {
  freeScratch(task);
  for (unsigned k = 0; k < middleClasses; k++)
    while (MelixBlock* block = task->kept.middle.take(smallClasses + k)) giveLarge(block);
}

void freeBlock(MelixTask* task, MelixBlock* block) {
  if (block->space) [[unlikely]]
    deviceHooks->release(block);
  task->stats.liveBlocks--;
  task->stats.liveBytes -= static_cast<int64_t>(block->bytes);
  if (block->sizeClass == largeClass) return giveLarge(block);
  if (block->sizeClass < smallClasses) return task->small.give(block);
  if (!task->kept.middle.give(block)) giveLarge(block);
}

void freeList(MelixTask* task, MelixBlock& sentinel) {
  for (MelixBlock* block = sentinel.next; block != &sentinel;) {
    MelixBlock* next = block->next;
    freeBlock(task, block);
    block = next;
  }
  makeEmptyList(sentinel);
}

void adoptBlocks(MelixTask* to, MelixTask* from) {
  MelixBlock& source = *from->list;
  while (source.next != &source) {
    MelixBlock* block = source.next;
    source.next = block->next;
    block->owner = to;
    block->prev = to->list;
    block->next = to->list->next;
    to->list->next->prev = block;
    to->list->next = block;
  }
  source.prev = &source;
  to->stats.liveBlocks += from->stats.liveBlocks;
  to->stats.liveBytes += from->stats.liveBytes;
  to->stats.allocations += from->stats.allocations;
  from->stats = {};
}

} // namespace melix::runtime

void* melix_alloc(MelixTask* task, int64_t bytes) { return dataOf(makeBlock(task, bytes, false)); }

void* melix_alloc_zeroed(MelixTask* task, int64_t bytes) { return dataOf(makeBlock(task, bytes, true)); }

void* melix_alloc_typed(MelixTask* task, int64_t bytes, const MelixType* type, int32_t layout) {
  MelixBlock* block = makeBlock(task, bytes, true);
  bool refs = layout == MELIX_LAYOUT_NODE || (type && (type->flags & MELIX_HOLDS_REFS));
  block->type = refs || layout == MELIX_LAYOUT_LIST ? type : nullptr;
  block->layout = static_cast<uint8_t>(block->type ? layout : MELIX_LAYOUT_BYTES);
  return dataOf(block);
}

/// Between guards it is as large as asked for.
void* melix_scratch(MelixTask* task, int64_t bytes) {
  const auto size = static_cast<uint64_t>(bytes);
  if (MelixBlock* block = task->kept.scratch;
      block && (guardsBlocks ? block->bytes == size : block->bytes >= size))
    return dataOf(block);
  checkStack(task);
  freeScratch(task);
  task->kept.scratch = takeLarge(size, false);
  if (!task->kept.scratch) [[unlikely]]
    outOfMemory(task, bytes);
  task->kept.scratch->bytes = size;
  return dataOf(task->kept.scratch);
}

int64_t melix_checked_bytes(MelixTask* task, int64_t elem, int64_t rank, const int64_t* dims) {
  int64_t elements = 1, bytes = 0; // elements as if no extent were 0
  bool empty = false, tooLarge = false;
  for (int64_t k = 0; k < rank; k++) {
    if (dims[k] < 0) {
      int64_t values[] = {k, dims[k]};
      melix_panic_format(task, "dimension {0} of an array is {1}", 2, values);
    }
    empty |= dims[k] == 0;
    if (dims[k] > 0)
      tooLarge |= __builtin_mul_overflow(elements, dims[k], &elements) || elements > MELIX_MAX_EXTENT;
  }
  tooLarge |= !empty && __builtin_mul_overflow(elements, elem, &bytes);
  if (tooLarge) panicText(task, "an array of this shape is too large");
  return bytes;
}

MelixStats melix_stats(MelixTask* task) { return task->stats; }
