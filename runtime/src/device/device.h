#pragma once
// A device as the runtime sees it: memory of its own, and kernels that run in it.

#include "../task.h"

namespace melix::runtime {

struct Device {
  /// Memory of the device; null if it has no more.
  void* (*reserve)(uint64_t bytes);
  void (*release)(void* memory);
  void (*copyIn)(void* to, const void* from, uint64_t bytes);
  void (*copyOut)(void* to, const void* from, uint64_t bytes);
  /// Runs a kernel over [0, extent); its captures have the addresses of the device.
  void (*launch)(const MelixKernel* kernel, int64_t extent, uint64_t* captures);
};

/// The device on which code for one runs; null while it runs on this processor.
const Device* readyDevice();
/// Reads MELIX_DEVICE, with the devices that the program has code for (MelixDevices::start).
int32_t startDevices(const Device* emulator);

/// Counts since the start of the process.
struct DeviceCounts {
  MelixStats blocks;
  int64_t launches, kernels;
  struct Copies {
    int64_t count;
    uint64_t bytes;
  } in, out;
  int64_t busy; ///< nanoseconds
};
extern DeviceCounts deviceCounts;
const MelixStats* deviceStats();
/// Writes the counts if MELIX_DEVICE_LOG asks for them.
void logDevice();

} // namespace melix::runtime
