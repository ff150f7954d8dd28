// The emulated device: kernels run on this processor, in memory of their own. An array that the host and the
// device have is two: what one writes the other sees after a copy only. Reads of the host's memory by a
// kernel are not noticed.
#include "device.h"

#include <sys/mman.h>

namespace melix::runtime {

namespace {

constexpr uint64_t pageBytes = 4096;

/// Before the memory of each array: a page that holds its size, so that arrays begin on pages of their own.
struct Mapping {
  uint64_t bytes;
};

void* reserve(uint64_t bytes) {
  const uint64_t whole = pageBytes + (bytes + pageBytes - 1) / pageBytes * pageBytes;
  void* at = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  static_cast<Mapping*>(at)->bytes = whole;
  return static_cast<uint8_t*>(at) + pageBytes;
}

void release(void* memory) {
  void* at = static_cast<uint8_t*>(memory) - pageBytes;
  munmap(at, static_cast<Mapping*>(at)->bytes);
}

void copy(void* to, const void* from, uint64_t bytes) { memcpy(to, from, bytes); }

/// The points run one after the other, those of odd numbers first: no kernel may depend on their order.
void launch(const MelixKernel* kernel, int64_t extent, uint64_t* captures) {
  for (int64_t first = 1; first >= 0; first--)
    for (int64_t k = first; k < extent; k += 2) kernel->emulated(nullptr, captures, k, k + 1);
}

constexpr Device emulator = {reserve, release, copy, copy, launch};

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

const MelixDevices melix_devices_and_emulator = {[] { return startDevices(&emulator); }, logDevice,
                                                 deviceStats};
