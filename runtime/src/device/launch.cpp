// Launches: kernels get the addresses that their arrays have on the device, and scratch.
#include "device.h"

namespace melix::runtime {
namespace {

constexpr uint64_t mostScratch = 256 << 20; ///< bytes of a launch, unless a point needs more

/// Scratch on the device, in pieces: a point or group has one at a time.
struct Scratch {
  uint64_t pieces = 0, bytes = 0;
  void* memory = nullptr;
};

uint64_t scratchOfPoint(const MelixKernel& kernel, const uint64_t* captures) {
  uint64_t bytes = 0;
  for (int64_t k = 0; k < kernel.count; k++)
    if (kernel.captures[k] == MELIX_CAPTURE_SCRATCH)
      bytes += (captures[k] + MELIX_SCRATCH_ALIGN - 1) / MELIX_SCRATCH_ALIGN * MELIX_SCRATCH_ALIGN;
  return bytes;
}

/// Fewer pieces where the device has less memory. Panics if it has none for one.
Scratch takePieces(MelixTask* task, const MelixKernel& kernel, uint64_t extent, const uint64_t* captures,
                   int64_t use) {
  const uint64_t most = readyDevice()->pointsAtOnce, each = scratchOfPoint(kernel, captures);
  Scratch made;
  made.pieces = extent < most ? extent : most;
  if (each == 0) return made;
  const uint64_t some = mostScratch / each;
  if (made.pieces > some) made.pieces = some > 0 ? some : 1;
  for (;; made.pieces /= 2) {
    made.bytes = made.pieces * each;
    made.memory = takeScratch(made.bytes, use);
    if (made.memory) return made;
    checkDevice(task);
    if (made.pieces == 1) panicOfMemory(task, each);
  }
}

} // namespace
} // namespace melix::runtime

using namespace melix::runtime;

int64_t melix_device_launch(MelixTask* task, MelixKernel* kernel, int64_t extent, const uint64_t* captures,
                            uint64_t* numbers) {
  if (extent <= 0) return -1;
  const LoggedUse logged(task);
  constexpr auto word = static_cast<int64_t>(sizeof(uint64_t));
  auto* words = static_cast<uint64_t*>(melix_scratch(task, (4 + kernel->count) * word));
  words[0] = static_cast<uint64_t>(extent);
  memcpy(words + 1, captures, static_cast<size_t>(kernel->count * word));
  const int64_t use = acquireCaptures(task, *kernel, words + 1);
  Scratch scratch;
  if (hasScratch(*kernel)) {
    scratch = takePieces(task, *kernel, words[0], captures, use);
    words[1 + kernel->count] = scratch.pieces;
    words[2 + kernel->count] = reinterpret_cast<uint64_t>(scratch.memory);
  }
  deviceCounts.launches++;
  deviceCounts.kernels += kernel->launches++ == 0;
  MelixFailure failure{};
  {
    BusyTime busy;
    while (!readyDevice()->launch(kernel, words, &failure))
      if (!makeRoomForCode(use)) {
        if (scratch.memory) giveScratch(scratch.memory, scratch.bytes);
        checkDevice(task);
        panicOfMemory(task, 0);
      }
  }
  deviceCounts.waits += kernel->checks > 0;
  if (scratch.memory) giveScratch(scratch.memory, scratch.bytes);
  endWritesOnDevice(*kernel, captures);
  checkDevice(task);
  if (failure.left == 0) return -1;
  memcpy(numbers, failure.numbers, sizeof failure.numbers);
  return failure.check;
}
