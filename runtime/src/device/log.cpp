// MELIX_DEVICE_LOG: what a program did on its device.
#include "device.h"

#include "../system.h"
#include "../trace.h"

namespace melix::runtime {

namespace {

bool isWanted;
bool hasLines; ///< for each copy

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
  hasLines = text && strcmp(text, "2") == 0;
  isWanted = hasLines || (text && strcmp(text, "1") == 0);
}

BusyTime::BusyTime() : begin_(isWanted ? nanosecondsNow() : 0) {}
BusyTime::~BusyTime() {
  if (isWanted) deviceCounts.busy += nanosecondsNow() - begin_;
}

namespace {

/// `, 2 copies in (8.0 kB)`, if there are any.
void addCopies(TextBuffer& out, const char* direction, int64_t count, uint64_t bytes) {
  if (count == 0) return;
  out.add(out.len > 0 ? ", " : "");
  addCount(out, count, "copy", "copies");
  out.addByte(' ');
  out.add(direction);
  out.add(" (");
  addBytes(out, bytes);
  out.addByte(')');
}

/// `file:line:column: `, where the code of the program is that the runtime works for.
void addPlace(TextBuffer& out, MelixTask* task) {
  ScopedBuffer place, frames;
  traceFrom(task, static_cast<const void* const*>(__builtin_frame_address(0)), place, frames);
  const auto* end = static_cast<const uint8_t*>(memchr(place.data, '\n', static_cast<size_t>(place.len)));
  out.add(place.data, end ? end - place.data : place.len);
  if (place.len > 0) out.add(": ");
}

} // namespace

LoggedUse::~LoggedUse() {
  if (!hasLines) return;
  static DeviceCounts told;
  const DeviceCounts now = deviceCounts;
  ScopedBuffer what;
  addCopies(what, "in", now.in.count - told.in.count, now.in.bytes - told.in.bytes);
  addCopies(what, "out", now.out.count - told.out.count, now.out.bytes - told.out.bytes);
  if (const int64_t waits = now.waits - told.waits; waits > 0) {
    what.add(what.len > 0 ? ", " : "");
    addCount(what, waits, "wait", "waits");
  }
  told = now;
  if (what.len == 0) return;
  ScopedBuffer out;
  out.add("melix: device: ");
  addPlace(out, task_);
  out.add(what.data, what.len);
  out.addByte('\n');
  writeText(2, out.data, out.len);
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
