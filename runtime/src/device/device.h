#pragma once
// A device as the runtime sees it: memory of its own, and kernels that run in it.

#include "../task.h"

namespace melix::runtime {

struct Device {
  /// Memory of the device; null if it has no more.
  void* (*reserve)(uint64_t bytes);
  void (*release)(void* memory);
  /// The memory that is free, and all of it; 0: unknown.
  void (*measure)(uint64_t& free, uint64_t& all);
  void (*copyIn)(void* to, const void* from, uint64_t bytes);
  void (*copyOut)(void* to, const void* from, uint64_t bytes);
  /// Between places of the device that do not overlap.
  void (*copyWithin)(void* to, const void* from, uint64_t bytes);
  void (*clear)(void* memory, uint64_t bytes);
  /// Runs a kernel over [0, extent); its captures have the addresses of the device.
  void (*launch)(const MelixKernel* kernel, int64_t extent, uint64_t* captures);
  /// Overwrites a copy that is valid no longer, of the device or the host, so that a read of it is noticed.
  /// Null: not done.
  void (*spoil)(void* copy, uint64_t bytes);
};

/// The device on which code for one runs; null while it runs on this processor.
const Device* readyDevice();
/// Reads MELIX_DEVICE, with the devices that the program has code for (MelixDevices::start).
int32_t startDevices(const Device* emulator);
/// MelixDevices::end.
void endDevices();

// pool.cpp: memory of the device. Memory that is given back is kept for later blocks.
/// Null if the device has no more.
void* takeDeviceMemory(const Device& device, uint64_t bytes);
void giveDeviceMemory(const Device& device, void* memory, uint64_t bytes);
/// Gives the memory that is kept back to the device; false if there is none.
bool emptyDevicePool(const Device& device);

// residence.cpp: the copies that blocks have.
enum class AccessKind : uint8_t {
  Read,
  Update, ///< of some elements: all are valid before it, and in this copy only after it
  Write,  ///< of all elements
};
/// A number for a launch or copy, by which copies know that it uses them: none of them makes room for
/// another.
int64_t newDeviceUse();
/// The device's copy of a block, valid for an access. Panics if there is no memory for it.
void* copyOnDevice(MelixTask* task, void* data, AccessKind access, int64_t use);
/// A copy that a block has already stays for that use.
void keepOnDevice(void* data, int64_t use);
/// After a launch has written a block: the host gets the elements of one that may not be on the device only.
void endWriteOnDevice(void* data);
/// Makes frees and copies of blocks look at their copies on the device.
void hookDevices();
/// The copies of constants, which nobody drops.
void dropCopiesOfConstants();

/// Counts since the start of the process.
struct DeviceCounts {
  MelixStats blocks;
  int64_t launches, kernels;
  struct Copies {
    int64_t count;
    uint64_t bytes;
  } in, out;
  int64_t waits; ///< of the host for the device
  int64_t busy;  ///< nanoseconds
};
extern DeviceCounts deviceCounts;
const MelixStats* deviceStats();
/// Writes the counts if MELIX_DEVICE_LOG asks for them.
void logDevice();
/// Bytes, or 2^shift of them.
struct ByteUnit {
  const char* name;
  unsigned shift;
};
/// The largest of which there is one.
ByteUnit unitFor(uint64_t bytes);
/// `12.1`, or a number of bytes.
void addBytesIn(TextBuffer& out, uint64_t bytes, ByteUnit unit);

} // namespace melix::runtime
