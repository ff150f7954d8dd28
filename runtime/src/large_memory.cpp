#include "large_memory.h"

#include "task.h"

#include "melix/abi.h"

#include <malloc.h>
#include <sys/mman.h>

namespace melix::runtime {

namespace {

constexpr size_t pageBytes = 4096, hugePageBytes = MELIX_LARGE_ALIGN;
constexpr int maxKept = 64;
constexpr size_t maxKeptBytes = size_t(512) << 20;

struct Kept {
  void* memory;
  size_t size;
};
Kept kept[maxKept]; // the oldest first; unused entries at the end are null
size_t keptBytes;
uint32_t lock;

size_t roundUp(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

/// Zeroed memory from the start of a huge page on. The system takes huge pages for it where it has some: 512
/// times fewer faults and entries of the TLB.
void* map(size_t bytes) {
  const size_t asked = bytes + hugePageBytes;
  void* raw = mmap(nullptr, asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* begin = static_cast<uint8_t*>(raw);
  auto* at = reinterpret_cast<uint8_t*>(roundUp(reinterpret_cast<uintptr_t>(begin), hugePageBytes));
  if (at > begin) munmap(begin, static_cast<size_t>(at - begin));
  if (begin + asked > at + bytes) munmap(at + bytes, static_cast<size_t>(begin + asked - (at + bytes)));
  madvise(at, bytes, MADV_HUGEPAGE);
  return at;
}

void* obtain(size_t bytes, bool zeroed) {
  if (bytes >= leastMapped) return map(bytes);
  return zeroed ? calloc(1, bytes) : malloc(bytes);
}
void release(void* memory, size_t size) {
  if (size >= leastMapped)
    munmap(memory, size);
  else
    free(memory);
}

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
    release(kept[0].memory, kept[0].size);
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
  got = bytes >= leastMapped ? roundUp(bytes, pageBytes) : bytes;
  if (void* memory = obtain(got, zeroed)) return memory;
  dropKept();
  return obtain(got, zeroed);
}

void giveLargeMemory(void* memory, size_t size) {
  if (size < leastKept || size > maxKeptBytes) {
    release(memory, size);
    return;
  }
  SpinLock guard(&lock);
  while (kept[maxKept - 1].memory || keptBytes + size > maxKeptBytes) { // the oldest goes
    release(kept[0].memory, kept[0].size);
    removeKept(0);
  }
  int k = 0;
  while (kept[k].memory) k++;
  kept[k] = {memory, size};
  keptBytes += size;
}

} // namespace melix::runtime

void melix_keep_heap(void) {
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, melix::runtime::leastMapped); // it grows by itself only as long as none is set
}
