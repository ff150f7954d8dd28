#include "large_memory.h"

#include "task.h"

namespace melix::runtime {

namespace {

constexpr int maxKept = 64;
constexpr size_t maxKeptBytes = size_t(512) << 20;

struct Kept {
  void* memory;
  size_t size;
};
Kept kept[maxKept]; // the oldest first; unused entries at the end are null
size_t keptBytes;
uint32_t lock;

void removeKept(int k) {
  keptBytes -= kept[k].size;
  for (; k + 1 < maxKept; k++) kept[k] = kept[k + 1];
  kept[maxKept - 1] = {nullptr, 0};
}

/// The smallest kept piece that fits and is not much too large.
void* takeKept(size_t bytes, size_t& got) {
  SpinLock guard(&lock);
  int best = -1;
  for (int k = 0; k < maxKept && kept[k].memory; k++) {
    bool fits = kept[k].size >= bytes && kept[k].size - bytes <= bytes / 2;
    if (fits && (best < 0 || kept[k].size < kept[best].size)) best = k;
  }
  if (best < 0) return nullptr;
  void* memory = kept[best].memory;
  got = kept[best].size;
  removeKept(best);
  return memory;
}

void dropKept() {
  SpinLock guard(&lock);
  while (kept[0].memory) {
    free(kept[0].memory);
    removeKept(0);
  }
}

} // namespace

void* takeLargeMemory(size_t bytes, bool zeroed, size_t& got) {
  if (bytes >= leastKept) {
    if (void* memory = takeKept(bytes, got)) {
      if (zeroed) memset(memory, 0, bytes);
      return memory;
    }
  }
  got = bytes;
  void* memory = zeroed ? calloc(1, bytes) : malloc(bytes);
  if (memory) return memory;
  dropKept();
  return zeroed ? calloc(1, bytes) : malloc(bytes);
}

void giveLargeMemory(void* memory, size_t size) {
  if (size < leastKept || size > maxKeptBytes) {
    free(memory);
    return;
  }
  SpinLock guard(&lock);
  while (kept[maxKept - 1].memory || keptBytes + size > maxKeptBytes) { // the oldest goes
    free(kept[0].memory);
    removeKept(0);
  }
  int k = 0;
  while (kept[k].memory) k++;
  kept[k] = {memory, size};
  keptBytes += size;
}

} // namespace melix::runtime
