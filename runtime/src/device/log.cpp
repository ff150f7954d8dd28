// MELIX_DEVICE_LOG: what a program did on its device.
#include "device.h"

#include "../system.h"

namespace melix::runtime {

namespace {

bool isWanted;

/// `3 launches`
void addCount(TextBuffer& out, int64_t number, const char* one, const char* more) {
  out.addInt(number);
  out.addByte(' ');
  out.add(number == 1 ? one : more);
}

/// A number of tenths.
void addTenths(TextBuffer& out, uint64_t tenths) {
  out.addUnsigned(tenths / 10);
  out.addByte('.');
  out.addUnsigned(tenths % 10);
}

/// `8.0 kB`
void addBytes(TextBuffer& out, uint64_t bytes) {
  constexpr const char* units[] = {"kB", "MB", "GB", "TB"};
  uint64_t tenths = (bytes + 50) / 100;
  size_t unit = 0;
  for (; tenths >= 10000 && unit + 1 < sizeof units / sizeof *units; unit++) tenths = (tenths + 500) / 1000;
  addTenths(out, tenths);
  out.addByte(' ');
  out.add(units[unit]);
}

} // namespace

ByteUnit unitFor(uint64_t bytes) {
  constexpr ByteUnit units[] = {{"bytes", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
  size_t k = 0;
  while (k + 1 < sizeof units / sizeof *units && bytes >> units[k + 1].shift) k++;
  return units[k];
}

void addBytesIn(TextBuffer& out, uint64_t bytes, ByteUnit unit) {
  if (unit.shift == 0)
    out.addUnsigned(bytes);
  else
    addTenths(out, ((bytes >> (unit.shift - 10)) * 10 + 512) >> 10);
}

void startDeviceLog() {
  const char* text = environmentVariable("MELIX_DEVICE_LOG");
  isWanted = text && strcmp(text, "1") == 0;
}

BusyTime::BusyTime() : begin_(isWanted ? nanosecondsNow() : 0) {}
BusyTime::~BusyTime() {
  if (isWanted) deviceCounts.busy += nanosecondsNow() - begin_;
}

void logDevice() {
  if (!readyDevice() || !isWanted) return;
  const DeviceCounts& counts = deviceCounts;
  ScopedBuffer out;
  out.add("melix: device: ");
  addCount(out, counts.launches, "launch", "launches");
  out.add(" of ");
  addCount(out, counts.kernels, "kernel", "kernels");
  out.add(", ");
  addCount(out, counts.in.count, "copy", "copies");
  out.add(" in (");
  addBytes(out, counts.in.bytes);
  out.add("), ");
  out.addInt(counts.out.count);
  out.add(" out (");
  addBytes(out, counts.out.bytes);
  out.add("), ");
  addCount(out, counts.waits, "wait", "waits");
  out.add(", busy ");
  addTenths(out, static_cast<uint64_t>(counts.busy + 50000) / 100000);
  out.add(" ms\n");
  writeText(2, out.data, out.len);
}

} // namespace melix::runtime
