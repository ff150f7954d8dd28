// Launches: kernels get the addresses that their arrays have on the device.
#include "device.h"

#include "../system.h"

using namespace melix::runtime;

void melix_device_launch(MelixTask* task, MelixKernel* kernel, int64_t extent, const uint64_t* captures) {
  if (extent <= 0) return;
  const int64_t number = deviceCounts.launches + 1;
  auto* words =
      static_cast<uint64_t*>(melix_scratch(task, kernel->count * static_cast<int64_t>(sizeof(uint64_t))));
  for (int64_t k = 0; k < kernel->count; k++) {
    void* data = reinterpret_cast<void*>(captures[k]);
    const char kind = kernel->captures[k];
    words[k] = captures[k];
    if (kind == MELIX_CAPTURE_NUMBER || !data) continue;
    const AccessKind access = kind == MELIX_CAPTURE_WRITTEN ? AccessKind::Update : AccessKind::Read;
    words[k] = reinterpret_cast<uint64_t>(copyOnDevice(task, data, access, number));
  }
  deviceCounts.launches++;
  deviceCounts.kernels += kernel->launches++ == 0;
  const int64_t begin = nanosecondsNow();
  readyDevice()->launch(kernel, extent, words);
  deviceCounts.busy += nanosecondsNow() - begin;
}
