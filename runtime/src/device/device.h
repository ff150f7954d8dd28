#pragma once
// A device as the runtime sees it: memory of its own, and kernels that run in it.

#include "../task.h"

namespace melix::runtime {

struct Device {
  const char* name;
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
  /// Runs a kernel. The words are its entry's (MelixKernel::name), with addresses of the device; that
  /// of the MelixFailure is the device's own. If it has checks `failure` becomes the first point that fails
  /// one. False if there is no memory for its code.
  bool (*launch)(MelixKernel* kernel, uint64_t* words, MelixFailure* failure);
  /// Overwrites a copy that is valid no longer, of the device or the host, so that a read of it is noticed.
  /// Null: not done.
  void (*spoil)(void* copy, uint64_t bytes);
  /// The error after which the device does nothing any more; null: none.
  const char* (*failure)();
  /// So many points run at a time, at most: as many have scratch.
  uint64_t pointsAtOnce;
};

/// Whether the points of a kernel have scratch.
inline bool hasScratch(const MelixKernel& kernel) {
  for (const char* kind = kernel.captures; *kind; kind++)
    if (*kind == MELIX_CAPTURE_SCRATCH) return true;
  return false;
}

/// The device on which code for one runs; null while it runs on this processor.
const Device* readyDevice();
/// Reads MELIX_DEVICE, with the devices that the program has code for (MelixDevices::start).
int32_t startDevices(const Device* emulator, int32_t flags);
/// MelixDevices::end.
void endDevices();

// cuda.cpp
/// Whether there is the driver of GPUs. It is not opened: a process that forks then may not use it.
bool isDriverThere();
/// Opens the GPU, once in a process. Null if that fails, or the GPU has failed.
const Device* openGpu();
/// Why it is not open.
const char* gpuProblem();

// pool.cpp: memory of the device. Memory that is given back is kept for later blocks.
/// Null if the device has no more.
void* takeDeviceMemory(const Device& device, uint64_t bytes);
/// The size of the block that a request for so many bytes takes.
uint64_t takenBytes(uint64_t bytes);
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
/// The captures of a launch that are arrays become the addresses of the copies on the device, valid for its
/// reads and writes. Panics if there is no memory for one.
/// Gives the number of the use.
int64_t acquireCaptures(MelixTask* task, const MelixKernel& kernel, uint64_t* captures);
/// Memory for the scratch of a launch, whose copies have this number; null if there is none.
void* takeScratch(uint64_t bytes, int64_t use);
/// Launches that come later may have it at once.
void giveScratch(void* memory, uint64_t bytes);
/// Panics: the device has no memory for so many bytes; 0: for the code of a kernel.
[[noreturn]] void panicOfMemory(MelixTask* task, uint64_t bytes);
/// Makes room on the device for the code of a launch, whose copies have this number; false if there is none.
bool makeRoomForCode(int64_t use);
/// After a launch: the host gets the elements of the arrays that may not be on the device only.
void endWritesOnDevice(const MelixKernel& kernel, const uint64_t* captures);
/// Makes frees and copies of blocks look at their copies on the device.
void hookDevices();
/// The copies of constants, which nobody drops.
void dropCopiesOfConstants();

/// Panics if the device has failed. `task` runs the code that used it last.
void checkDevice(MelixTask* task);

/// Stands in functions that may copy: MELIX_DEVICE_LOG=2 has a line for each copy and wait, with the place in
/// the program.
class LoggedUse {
public:
  explicit LoggedUse(MelixTask* task) : task_(task) {}
  ~LoggedUse();

private:
  MelixTask* task_;
};

/// The time of work on the device, if it is asked for.
class BusyTime {
public:
  BusyTime();
  ~BusyTime();

private:
  int64_t begin_;
};

/// Counts since the start of the process.
struct DeviceCounts {
  MelixStats blocks;
  int64_t launches, kernels;
  struct Copies {
    int64_t count;
    uint64_t bytes;
  } in, out;
  int64_t waits; ///< of the host for the device
  int64_t busy;  ///< nanoseconds in which the host launched kernels or waited for them
};
extern DeviceCounts deviceCounts;
const MelixStats* deviceStats();
/// Reads MELIX_DEVICE_LOG.
void startDeviceLog();
/// Writes the counts if it asks for them.
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
