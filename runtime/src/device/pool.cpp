// Memory of the device by sizes: what a block gives back is the memory of the next one of its class. So a
// loop whose iterations do the same gets the same memory in each. Kernels run in the order of their launches:
// memory that is given back may be taken at once.
#include "../guarded_memory.h"
#include "device.h"

namespace melix::runtime {

namespace {

/// Eight classes for each power of two.
constexpr unsigned stepBits = 3, classes = 64 << stepBits;
constexpr uint64_t leastBytes = 256;

/// Memory that nobody uses. What describes it is the host's: the host may not write memory of the device.
struct Kept {
  void* memory;
  Kept* next;
};
Kept* kept[classes];

struct SizeClass {
  unsigned number;
  uint64_t bytes; ///< the largest size of it
};

SizeClass classOf(uint64_t bytes) {
  const uint64_t size = bytes < leastBytes ? leastBytes : bytes;
  const unsigned power = 63 - static_cast<unsigned>(__builtin_clzll(size)), shift = power - stepBits;
  const uint64_t steps = ((size - 1) >> shift) + 1; // 8 … 16
  return {(power << stepBits) + static_cast<unsigned>(steps - (1 << stepBits)), steps << shift};
}

/// Between guard pages it is as large as asked for.
constexpr bool keepsMemory = !guardsBlocks;

} // namespace

uint64_t takenBytes(uint64_t bytes) { return keepsMemory ? classOf(bytes).bytes : bytes; }

void* takeDeviceMemory(const Device& device, uint64_t bytes) {
  if (!keepsMemory) return device.reserve(bytes);
  const SizeClass sizes = classOf(bytes);
  if (Kept* first = kept[sizes.number]) {
    void* memory = first->memory;
    kept[sizes.number] = first->next;
    free(first);
    return memory;
  }
  return device.reserve(sizes.bytes);
}

void giveDeviceMemory(const Device& device, void* memory, uint64_t bytes) {
  auto* entry = keepsMemory ? static_cast<Kept*>(malloc(sizeof(Kept))) : nullptr;
  if (!entry) return device.release(memory);
  Kept*& first = kept[classOf(bytes).number];
  *entry = {memory, first};
  first = entry;
}

bool emptyDevicePool(const Device& device) {
  bool any = false;
  for (Kept*& first : kept) {
    while (Kept* entry = first) {
      first = entry->next;
      device.release(entry->memory);
      free(entry);
      any = true;
    }
  }
  return any;
}

} // namespace melix::runtime
