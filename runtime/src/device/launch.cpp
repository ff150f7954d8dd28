// Launches: the arrays of a kernel are copied to the device before it, and those that it writes back after
// it.
#include "device.h"

#include "../system.h"

namespace melix::runtime {

DeviceCounts deviceCounts;

namespace {

void count(DeviceCounts::Copies& copies, uint64_t bytes) {
  copies.count++;
  copies.bytes += bytes;
}

void countReserved(uint64_t bytes) {
  MelixStats& blocks = deviceCounts.blocks;
  blocks.liveBlocks++;
  blocks.allocations++;
  blocks.liveBytes += static_cast<int64_t>(bytes);
  if (blocks.liveBytes > blocks.peakBytes) blocks.peakBytes = blocks.liveBytes;
}
void countReleased(uint64_t bytes) {
  deviceCounts.blocks.liveBlocks--;
  deviceCounts.blocks.liveBytes -= static_cast<int64_t>(bytes);
}

/// The arrays of one launch on the device.
class LaunchedArrays {
public:
  /// A launch of a kernel with so many captures.
  LaunchedArrays(MelixTask* task, const Device& device, int64_t captures) : task_(task), device_(device) {
    const auto bytes = static_cast<int64_t>(sizeof(Copy) + sizeof(uint64_t));
    copies_ = static_cast<Copy*>(melix_scratch(task, captures * bytes));
    captures_ = reinterpret_cast<uint64_t*>(copies_ + captures);
  }

  uint64_t* captures() { return captures_; }

  void* copyOf(void* data, bool isWritten) {
    for (int64_t k = 0; k < count_; k++) {
      if (copies_[k].host != data) continue;
      copies_[k].isWritten |= isWritten;
      return copies_[k].device;
    }
    const uint64_t bytes = headerOf(data)->bytes;
    void* made = device_.reserve(bytes);
    if (!made) {
      release();
      constexpr char text[] = "out of memory on the device";
      melix_panic(task_, reinterpret_cast<const uint8_t*>(text), sizeof text - 1);
    }
    countReserved(bytes);
    device_.copyIn(made, data, bytes);
    count(deviceCounts.in, bytes);
    copies_[count_++] = {data, made, bytes, isWritten};
    return made;
  }

  void copyBack() {
    for (int64_t k = 0; k < count_; k++) {
      if (!copies_[k].isWritten) continue;
      device_.copyOut(copies_[k].host, copies_[k].device, copies_[k].bytes);
      count(deviceCounts.out, copies_[k].bytes);
    }
  }
  void release() {
    for (int64_t k = 0; k < count_; k++) {
      device_.release(copies_[k].device);
      countReleased(copies_[k].bytes);
    }
    count_ = 0;
  }

private:
  struct Copy {
    void* host;
    void* device;
    uint64_t bytes;
    bool isWritten;
  };
  MelixTask* task_;
  const Device& device_;
  Copy* copies_;
  uint64_t* captures_;
  int64_t count_ = 0;
};

} // namespace

const MelixStats* deviceStats() { return readyDevice() ? &deviceCounts.blocks : nullptr; }

} // namespace melix::runtime

using namespace melix::runtime;

void melix_device_launch(MelixTask* task, MelixKernel* kernel, int64_t extent, const uint64_t* captures) {
  if (extent <= 0) return;
  const Device& device = *readyDevice();
  LaunchedArrays arrays(task, device, kernel->count);
  for (int64_t k = 0; k < kernel->count; k++) {
    void* data = reinterpret_cast<void*>(captures[k]);
    const char kind = kernel->captures[k];
    const bool isArray = kind != MELIX_CAPTURE_NUMBER && data;
    arrays.captures()[k] =
        isArray ? reinterpret_cast<uint64_t>(arrays.copyOf(data, kind == MELIX_CAPTURE_WRITTEN))
                : captures[k];
  }
  deviceCounts.launches++;
  deviceCounts.kernels += kernel->launches++ == 0;
  const int64_t begin = nanosecondsNow();
  device.launch(kernel, extent, arrays.captures());
  deviceCounts.busy += nanosecondsNow() - begin;
  arrays.copyBack();
  arrays.release();
}
