// Launches: kernels get the addresses that their arrays have on the device.
#include "device.h"

using namespace melix::runtime;

int64_t melix_device_launch(MelixTask* task, MelixKernel* kernel, int64_t extent, const uint64_t* captures,
                            uint64_t* numbers) {
  if (extent <= 0) return -1;
  const LoggedUse logged(task);
  constexpr auto word = static_cast<int64_t>(sizeof(uint64_t));
  auto* words = static_cast<uint64_t*>(melix_scratch(task, (2 + kernel->count) * word));
  words[0] = static_cast<uint64_t>(extent);
  memcpy(words + 1, captures, static_cast<size_t>(kernel->count * word));
  const int64_t use = acquireCaptures(task, *kernel, words + 1);
  deviceCounts.launches++;
  deviceCounts.kernels += kernel->launches++ == 0;
  MelixFailure failure{};
  {
    BusyTime busy;
    while (!readyDevice()->launch(kernel, words, &failure)) makeRoomForCode(task, use);
  }
  deviceCounts.waits += kernel->checks > 0;
  endWritesOnDevice(*kernel, captures);
  checkDevice(task);
  if (failure.left == 0) return -1;
  memcpy(numbers, failure.numbers, sizeof failure.numbers);
  return failure.check;
}
