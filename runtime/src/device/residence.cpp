// Copies of blocks on the device: an array is one block of the host, which may have memory on the device too.
// `MelixBlock::valid` says which of the two has its elements. Copies are made when they are used, and stay.
#include "../device_hooks.h"
#include "device.h"
#include "device_copies.h"

namespace melix::runtime {

DeviceCounts deviceCounts;

namespace {

DeviceCopies copies;
uint32_t lock; ///< of all of this: workers free blocks and copy some to the host

void count(DeviceCounts::Copies& kind, uint64_t bytes) {
  kind.count++;
  kind.bytes += bytes;
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

/// Also an array of the frame.
bool isConstant(const MelixBlock* block) { return block->refs < 0; }
/// Whether its elements may be valid on the device only. The runtime looks into other blocks, such as those
/// of Lists: the host's copy stays valid, and each launch gets a new one.
bool mayMove(const MelixBlock* block) { return block->layout == MELIX_LAYOUT_BYTES && !isConstant(block); }
bool has(const MelixBlock* block, uint16_t copy) { return block->valid & copy; }

void spoil(const Device& device, void* copy, uint64_t bytes) {
  if (device.spoil) device.spoil(copy, bytes);
}

void copyIn(const Device& device, void* to, const void* from, uint64_t bytes) {
  device.copyIn(to, from, bytes);
  count(deviceCounts.in, bytes);
}
void copyOut(const Device& device, void* to, const void* from, uint64_t bytes) {
  {
    BusyTime busy;
    device.copyOut(to, from, bytes);
  }
  count(deviceCounts.out, bytes);
  deviceCounts.waits++;
}

/// Gives up memory of which nobody needs the elements.
void release(const Device& device, DeviceCopy* copy) {
  giveDeviceMemory(device, copy->memory, copy->block->bytes);
  countReleased(copy->block->bytes);
  if (!isConstant(copy->block)) copy->block->space = 0;
  copies.remove(copy);
}

// --- the host's copy -------------------------------------------------------------------------------------

/// A block of which the device has a copy exists only while there is a device.
void makeValidOnHost(MelixBlock* block) {
  if (has(block, MELIX_VALID_HOST)) return;
  if (has(block, MELIX_VALID_DEVICE))
    copyOut(*readyDevice(), dataOf(block), copies.find(block)->memory, block->bytes);
  else if (has(block, MELIX_VALID_ZERO))
    memset(dataOf(block), 0, block->bytes);
  block->valid = static_cast<uint16_t>((block->valid | MELIX_VALID_HOST) & ~MELIX_VALID_ZERO);
}

void acquireOnHost(MelixBlock* block, bool isUpdated) {
  makeValidOnHost(block);
  if (!isUpdated) return;
  if (has(block, MELIX_VALID_DEVICE)) spoil(*readyDevice(), copies.find(block)->memory, block->bytes);
  block->valid = MELIX_VALID_HOST;
}

// --- the device's copy -----------------------------------------------------------------------------------

/// The copy whose last use is longest ago, of those that the launch does not need and that `may` go.
template <class May>
DeviceCopy* oldestThat(int64_t use, const May& may) {
  DeviceCopy* copy = copies.oldest();
  while (copy && (copy->use == use || !may(copy->block))) copy = copy->after;
  return copy;
}

/// Gives memory back to the device, first what costs least: what the pool keeps, copies that are not needed,
/// then copies that the host has to get. False if there is nothing.
bool makeRoom(const Device& device, int64_t use) {
  if (emptyDevicePool(device)) return true;
  auto isSpare = [](const MelixBlock* b) {
    return isConstant(b) || has(b, MELIX_VALID_HOST) || !has(b, MELIX_VALID_DEVICE);
  };
  DeviceCopy* copy = oldestThat(use, isSpare);
  if (!copy) copy = oldestThat(use, [](const MelixBlock*) { return true; });
  if (!copy) return false;
  if (!isConstant(copy->block)) {
    if (!isSpare(copy->block)) makeValidOnHost(copy->block);
    copy->block->valid = static_cast<uint16_t>(copy->block->valid & ~MELIX_VALID_DEVICE);
  }
  release(device, copy);
  return true;
}

/// Null if the device has no memory for it, whatever makes room.
DeviceCopy* makeCopy(const Device& device, MelixBlock* block, int64_t use) {
  void* memory = takeDeviceMemory(device, block->bytes);
  while (!memory && makeRoom(device, use)) memory = takeDeviceMemory(device, block->bytes);
  DeviceCopy* made = memory ? copies.add(block, memory) : nullptr;
  if (!made) {
    if (memory) giveDeviceMemory(device, memory, block->bytes);
    return nullptr;
  }
  countReserved(block->bytes);
  if (!isConstant(block)) block->space = 1;
  spoil(device, memory, block->bytes);
  return made;
}

/// The bytes that hold a value: not the room after the elements of a List.
uint64_t usedBytes(const MelixBlock* block, const void* data) {
  if (block->layout != MELIX_LAYOUT_LIST) return block->bytes;
  return MELIX_LIST_ELEMENTS + static_cast<uint64_t>(melix_list_length(data)) * block->type->size;
}

void makeValidOnDevice(const Device& device, MelixBlock* block, const DeviceCopy& copy) {
  if (has(block, MELIX_VALID_HOST))
    copyIn(device, copy.memory, dataOf(block), usedBytes(block, dataOf(block)));
  else if (has(block, MELIX_VALID_ZERO))
    device.clear(copy.memory, block->bytes);
}

/// `copy`: the one that there is. Nobody changes a constant, and its header is not written: a copy of it is
/// always valid.
DeviceCopy* acquireOnDevice(const Device& device, MelixBlock* block, DeviceCopy* copy, AccessKind access,
                            int64_t use) {
  const bool isNew = !copy;
  if (isNew) copy = makeCopy(device, block, use);
  if (!copy) return nullptr;
  copies.use(copy, use);
  if (!mayMove(block)) {
    if (isNew || !isConstant(block)) makeValidOnDevice(device, block, *copy);
    return copy;
  }
  if (!has(block, MELIX_VALID_DEVICE) && access != AccessKind::Write) makeValidOnDevice(device, block, *copy);
  if (access == AccessKind::Read) {
    block->valid = static_cast<uint16_t>((block->valid | MELIX_VALID_DEVICE) & ~MELIX_VALID_ZERO);
  } else {
    if (has(block, MELIX_VALID_HOST)) spoil(device, dataOf(block), block->bytes);
    block->valid = MELIX_VALID_DEVICE;
  }
  return copy;
}

[[noreturn]] void panicOfDevice(MelixTask* task, const Device& device) {
  static TextBuffer text; // the panic leaves this frame
  text.clear();
  text.add(device.name);
  text.add(" has failed, and this process can use it no more: ");
  text.add(device.failure());
  melix_panic(task, text.data, text.len);
}

/// There is no room for so many bytes; 0 is for code.
[[noreturn]] void outOfMemory(MelixTask* task, const Device& device, uint64_t bytes) {
  uint64_t free = 0, all = 0;
  if (bytes > 0) bytes = takenBytes(bytes);
  device.measure(free, all);
  static TextBuffer text; // the panic leaves this frame
  text.clear();
  const ByteUnit unit = unitFor(bytes), unitOfAll = unitFor(all);
  text.add("out of memory on ");
  text.add(device.name);
  text.add(": ");
  if (bytes > 0) {
    addBytesIn(text, bytes, unit);
    text.addByte(' ');
    text.add(unit.name);
  } else {
    text.add("the code of a kernel is");
  }
  text.add(" asked for");
  if (all) {
    text.add(", ");
    addBytesIn(text, free, unitOfAll);
    text.add(" of ");
    addBytesIn(text, all, unitOfAll);
    text.addByte(' ');
    text.add(unitOfAll.name);
    text.add(" free");
  }
  melix_panic(task, text.data, text.len);
}

/// The lock is not held while a panic leaves.
DeviceCopy* acquireOrPanic(MelixTask* task, MelixBlock* block, AccessKind access, int64_t use) {
  const Device& device = *readyDevice();
  DeviceCopy* copy;
  {
    SpinLock guard(&lock);
    copy = acquireOnDevice(device, block, copies.find(block), access, use);
  }
  checkDevice(task);
  if (!copy) outOfMemory(task, device, block->bytes);
  return copy;
}

/// The device's copy of a place inside a block that has one.
uint8_t* placeOnDevice(void* data, const void* place) {
  const auto offset = static_cast<const uint8_t*>(place) - static_cast<const uint8_t*>(data);
  return static_cast<uint8_t*>(copies.find(headerOf(data))->memory) + offset;
}

// --- hooks -----------------------------------------------------------------------------------------------

void releaseBlock(MelixBlock* block) {
  SpinLock guard(&lock);
  if (DeviceCopy* copy = copies.find(block)) release(*readyDevice(), copy);
}

/// Where the elements are.
void copyBlock(MelixTask* task, MelixBlock* to, MelixBlock* from) {
  const LoggedUse logged(task);
  if (!has(from, MELIX_VALID_DEVICE)) { // no elements: undefined, or zero
    to->valid = from->valid;
    return;
  }
  to->valid = 0;
  const int64_t use = newDeviceUse();
  const DeviceCopy* source = acquireOrPanic(task, from, AccessKind::Read, use);
  const DeviceCopy* target = acquireOrPanic(task, to, AccessKind::Write, use);
  readyDevice()->copyWithin(target->memory, source->memory, from->bytes);
  checkDevice(task);
}

constexpr DeviceHooks hooks = {releaseBlock, copyBlock};

} // namespace

void hookDevices() { deviceHooks = &hooks; }

void* copyOnDevice(MelixTask* task, void* data, AccessKind access, int64_t use) {
  return acquireOrPanic(task, headerOf(data), access, use)->memory;
}

void checkDevice(MelixTask* task) {
  const Device& device = *readyDevice();
  if (device.failure()) panicOfDevice(task, device);
}

int64_t newDeviceUse() {
  static int64_t uses;
  return ++uses;
}

namespace {

/// Calls visit(number, block, access) for each array that a kernel captures.
template <class Visit>
void forEachArray(const MelixKernel& kernel, const uint64_t* captures, const Visit& visit) {
  for (int64_t k = 0; k < kernel.count; k++) {
    const char kind = kernel.captures[k];
    const bool isArray = kind == MELIX_CAPTURE_READ || kind == MELIX_CAPTURE_WRITTEN;
    if (!isArray || !captures[k]) continue;
    visit(k, headerOf(reinterpret_cast<void*>(captures[k])),
          kind == MELIX_CAPTURE_WRITTEN ? AccessKind::Update : AccessKind::Read);
  }
}

} // namespace

/// The copies that there are stay for the launch, whatever needs room.
int64_t acquireCaptures(MelixTask* task, const MelixKernel& kernel, uint64_t* captures) {
  const Device& device = *readyDevice();
  const int64_t use = newDeviceUse();
  uint64_t missing = 0; ///< bytes for which there is no memory
  {
    SpinLock guard(&lock);
    forEachArray(kernel, captures, [&](int64_t, MelixBlock* block, AccessKind) {
      if (DeviceCopy* copy = copies.find(block)) copies.use(copy, use);
    });
    forEachArray(kernel, captures, [&](int64_t k, MelixBlock* block, AccessKind access) {
      if (missing > 0) return;
      const DeviceCopy* copy = acquireOnDevice(device, block, copies.find(block), access, use);
      if (!copy) missing = block->bytes;
      if (copy) captures[k] = reinterpret_cast<uint64_t>(copy->memory);
    });
  }
  if (missing == 0) return use;
  checkDevice(task);
  outOfMemory(task, device, missing);
}

void* takeScratch(uint64_t bytes, int64_t use) {
  const Device& device = *readyDevice();
  SpinLock guard(&lock);
  void* memory = takeDeviceMemory(device, bytes);
  while (!memory && makeRoom(device, use)) memory = takeDeviceMemory(device, bytes);
  return memory;
}

void giveScratch(void* memory, uint64_t bytes) {
  SpinLock guard(&lock);
  giveDeviceMemory(*readyDevice(), memory, bytes);
}

void panicOfMemory(MelixTask* task, uint64_t bytes) { outOfMemory(task, *readyDevice(), bytes); }

bool makeRoomForCode(int64_t use) {
  SpinLock guard(&lock);
  return makeRoom(*readyDevice(), use);
}

void endWritesOnDevice(const MelixKernel& kernel, const uint64_t* captures) {
  forEachArray(kernel, captures, [&](int64_t, MelixBlock* block, AccessKind access) {
    if (access == AccessKind::Read || mayMove(block)) return;
    SpinLock guard(&lock);
    copyOut(*readyDevice(), dataOf(block), copies.find(block)->memory, usedBytes(block, dataOf(block)));
  });
}

void dropCopiesOfConstants() {
  SpinLock guard(&lock);
  for (DeviceCopy* copy = copies.oldest(); copy;) {
    DeviceCopy* after = copy->after;
    if (isConstant(copy->block)) release(*readyDevice(), copy);
    copy = after;
  }
}

const MelixStats* deviceStats() { return readyDevice() ? &deviceCounts.blocks : nullptr; }

} // namespace melix::runtime

using namespace melix::runtime;

void melix_device_acquire(MelixTask* task, void* data, int32_t update) {
  const LoggedUse logged(task);
  {
    SpinLock guard(&lock);
    acquireOnHost(headerOf(data), update != 0);
  }
  if (readyDevice()) checkDevice(task);
}

void melix_device_copy(MelixTask* task, void* to, void* toPlace, void* from, const void* fromPlace,
                       int64_t bytes) {
  if (bytes <= 0) return;
  const LoggedUse logged(task);
  const auto size = static_cast<uint64_t>(bytes);
  MelixBlock *target = headerOf(to), *source = headerOf(from);
  if (!mayMove(target)) return melix_device_fetch(task, from, fromPlace, toPlace, bytes);
  const bool isThere = has(source, MELIX_VALID_DEVICE);
  if (!isThere) melix_device_acquire(task, from, 0);
  if (!isThere && !has(target, MELIX_VALID_DEVICE)) {
    melix_device_acquire(task, to, 1);
    memcpy(toPlace, fromPlace, size);
    return;
  }
  const int64_t use = newDeviceUse();
  const AccessKind access = size == target->bytes ? AccessKind::Write : AccessKind::Update;
  const auto toOffset = static_cast<uint8_t*>(toPlace) - static_cast<uint8_t*>(to);
  const auto fromOffset = static_cast<const uint8_t*>(fromPlace) - static_cast<const uint8_t*>(from);
  auto* place = static_cast<uint8_t*>(copyOnDevice(task, to, access, use)) + toOffset;
  if (isThere) {
    const void* here = copyOnDevice(task, from, AccessKind::Read, use);
    readyDevice()->copyWithin(place, static_cast<const uint8_t*>(here) + fromOffset, size);
  } else {
    copyIn(*readyDevice(), place, fromPlace, size);
  }
  checkDevice(task);
}

/// A small block is copied as a whole: that takes as long, and what follows often reads other elements of it.
void melix_device_fetch(MelixTask* task, void* data, const void* place, void* to, int64_t bytes) {
  constexpr uint64_t mostWhole = 64 << 10;
  const LoggedUse logged(task);
  const MelixBlock* block = headerOf(data);
  if (!has(block, MELIX_VALID_HOST) && has(block, MELIX_VALID_DEVICE) && block->bytes > mostWhole) {
    {
      SpinLock guard(&lock);
      copyOut(*readyDevice(), to, placeOnDevice(data, place), static_cast<uint64_t>(bytes));
    }
    return checkDevice(task);
  }
  if (!has(block, MELIX_VALID_HOST)) melix_device_acquire(task, data, 0);
  memcpy(to, place, static_cast<size_t>(bytes));
}

void melix_device_put(MelixTask* task, void* data, void* place, const void* from, int64_t bytes) {
  const LoggedUse logged(task);
  const auto size = static_cast<uint64_t>(bytes);
  const MelixBlock* block = headerOf(data);
  if (has(block, MELIX_VALID_DEVICE)) {
    {
      SpinLock guard(&lock);
      copyIn(*readyDevice(), placeOnDevice(data, place), from, size);
    }
    checkDevice(task);
    if (!has(block, MELIX_VALID_HOST)) return;
  } else if (!has(block, MELIX_VALID_HOST)) {
    melix_device_acquire(task, data, 1);
  }
  memcpy(place, from, size);
}
