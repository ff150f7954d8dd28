// Launches: kernels get the addresses that their arrays have on the device.
#include "device.h"

#include "../system.h"

using namespace melix::runtime;

namespace {

/// Calls visit(number, data, access) for each array that a kernel captures.
template <class Visit>
void forEachArray(const MelixKernel& kernel, const uint64_t* captures, const Visit& visit) {
  for (int64_t k = 0; k < kernel.count; k++) {
    void* data = reinterpret_cast<void*>(captures[k]);
    const char kind = kernel.captures[k];
    if (kind == MELIX_CAPTURE_NUMBER || !data) continue;
    visit(k, data, kind == MELIX_CAPTURE_WRITTEN ? AccessKind::Update : AccessKind::Read);
  }
}

} // namespace

void melix_device_launch(MelixTask* task, MelixKernel* kernel, int64_t extent, const uint64_t* captures) {
  if (extent <= 0) return;
  const int64_t use = newDeviceUse(), bytes = kernel->count * static_cast<int64_t>(sizeof(uint64_t));
  auto* words = static_cast<uint64_t*>(melix_scratch(task, bytes + static_cast<int64_t>(sizeof(uint64_t))));
  words[0] = static_cast<uint64_t>(extent);
  memcpy(words + 1, captures, static_cast<size_t>(bytes));
  forEachArray(*kernel, captures, [&](int64_t, void* data, AccessKind) { keepOnDevice(data, use); });
  forEachArray(*kernel, captures, [&](int64_t k, void* data, AccessKind access) {
    words[1 + k] = reinterpret_cast<uint64_t>(copyOnDevice(task, data, access, use));
  });
  deviceCounts.launches++;
  deviceCounts.kernels += kernel->launches++ == 0;
  const int64_t begin = nanosecondsNow();
  readyDevice()->launch(kernel, words);
  deviceCounts.busy += nanosecondsNow() - begin;
  forEachArray(*kernel, captures, [&](int64_t, void* data, AccessKind access) {
    if (access != AccessKind::Read) endWriteOnDevice(data);
  });
  checkDevice(task);
}
