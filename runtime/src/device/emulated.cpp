// The emulated device: kernels run on this processor, in memory of their own. An array that the host and the
// device have is two: what one writes the other sees after a copy only, and a copy that is valid no longer is
// overwritten, so that code which reads it gives other results. Reads of the host's memory by a kernel are
// not noticed.
#include "device.h"
#include "emulator.h"

#include "../system.h"

#include <sys/mman.h>

namespace melix::runtime {

namespace {

constexpr uint64_t pageBytes = 4096;

uint64_t limit; ///< of memory, by MELIX_EMULATED_MEMORY; 0: as much as the host has
uint64_t used;  ///< of it, in bytes as they were asked for
uint64_t seed;  ///< of the order in which threads run, by MELIX_DEVICE_SEED
bool isSeeded;

// --- memory ----------------------------------------------------------------------------------------------

/// In the page before the memory of each array.
struct Mapping {
  uint64_t whole, bytes;
};

uint64_t roundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

/// An array ends where a page begins that nobody may touch, but for what its alignment leaves.
void* reserve(uint64_t bytes) {
  if (limit && (bytes > limit || used > limit - bytes)) return nullptr;
  const uint64_t data = roundUp(bytes, MELIX_DATA_ALIGN), pages = roundUp(data, pageBytes);
  const uint64_t whole = pageBytes + pages + pageBytes;
  void* at = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  auto* begin = static_cast<uint8_t*>(at);
  mprotect(begin + pageBytes + pages, pageBytes, PROT_NONE);
  *static_cast<Mapping*>(at) = {whole, bytes};
  used += bytes;
  return begin + pageBytes + (pages - data);
}

/// Data begins in the page after that of its mapping.
void release(void* memory) {
  const auto first = reinterpret_cast<uintptr_t>(memory) / pageBytes * pageBytes;
  void* at = reinterpret_cast<void*>(first - pageBytes);
  const Mapping mapping = *static_cast<Mapping*>(at);
  used -= mapping.bytes;
  munmap(at, mapping.whole);
}

void measure(uint64_t& free, uint64_t& all) {
  all = limit;
  free = limit - used;
}

void copy(void* to, const void* from, uint64_t bytes) { memcpy(to, from, bytes); }
void clear(void* memory, uint64_t bytes) { memset(memory, 0, bytes); }

/// Of every type of floats this is a NaN.
void spoil(void* copy, uint64_t bytes) {
  constexpr uint8_t pattern[] = {0xCB, 0xFF, 0xFF, 0xFF};
  auto* at = static_cast<uint8_t*>(copy);
  for (uint64_t k = 0; k < bytes; k++) at[k] = pattern[k % sizeof pattern];
}

// --- kernels ---------------------------------------------------------------------------------------------

uint64_t nextRandom() {
  seed += 0x9E3779B97F4A7C15;
  uint64_t z = seed;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

uint64_t commonDivisor(uint64_t a, uint64_t b) {
  while (b) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// A step that visits each of `extent` points once before it comes back to the first.
uint64_t randomStep(uint64_t extent) {
  for (;;) {
    const uint64_t step = 1 + nextRandom() % extent;
    if (commonDivisor(step, extent) == 1) return step;
  }
}

/// A launch under way.
struct Launch {
  const MelixKernel& kernel;
  uint64_t extent;
  const uint64_t* captures;
  MelixFailure* failure;

  void run(uint64_t k) const {
    const auto point = static_cast<int64_t>(k);
    uint64_t numbers[MELIX_CHECK_NUMBERS];
    const int64_t check = kernel.emulated(numbers, captures, point, point + 1);
    if (check < 0 || failure->left >= extent - k) return;
    failure->left = extent - k;
    failure->check = check;
    memcpy(failure->numbers, numbers, sizeof numbers);
  }
};

/// The points run one after the other, in an order of their own: no kernel may depend on it.
bool launch(MelixKernel* kernel, uint64_t* words, MelixFailure* failure) {
  const Launch made{*kernel, words[0], words + 1, failure};
  Order order(words[0]);
  for (uint64_t k; order.next(k);) made.run(k);
  return true;
}

const char* failure() { return nullptr; }

constexpr Device emulator = {"gpu 0", reserve, release, measure, copy,    copy,
                             copy,    clear,   launch,  spoil,   failure, 1};

/// A number of a variable; false if it is set and no number.
bool readNumber(const char* name, uint64_t& number, bool& isSet) {
  const char* text = environmentVariable(name);
  isSet = text && *text;
  number = 0;
  for (; isSet && *text; text++) {
    const auto digit = static_cast<unsigned>(*text - '0');
    if (digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, digit, &number))
      return false;
  }
  return true;
}

int32_t refuseNumber(const char* message) {
  writeText(2, reinterpret_cast<const uint8_t*>(message), static_cast<int64_t>(strlen(message)));
  return MELIX_USAGE;
}

int32_t startWithEmulator(int32_t flags) {
  bool isLimited;
  if (!readNumber("MELIX_DEVICE_SEED", seed, isSeeded))
    return refuseNumber("error: MELIX_DEVICE_SEED is a number, 0 or more\n");
  if (!readNumber("MELIX_EMULATED_MEMORY", limit, isLimited))
    return refuseNumber("error: MELIX_EMULATED_MEMORY is a number of bytes\n");
  return startDevices(&emulator, flags);
}

} // namespace

Order::Order(uint64_t count) : count_(count), left_(count), at_(count > 1), step_(2), isDrawn_(isSeeded) {
  if (!isDrawn_ || count == 0) return;
  step_ = randomStep(count);
  at_ = nextRandom() % count;
}

bool Order::next(uint64_t& number) {
  if (left_ == 0) return false;
  --left_;
  number = at_;
  if (isDrawn_)
    at_ = at_ >= count_ - step_ ? at_ - (count_ - step_) : at_ + step_;
  else
    at_ = at_ + 2 < count_ || at_ % 2 == 0 ? at_ + 2 : 0;
  return true;
}

} // namespace melix::runtime

using namespace melix::runtime;

const MelixDevices melix_devices_and_emulator = {startWithEmulator, endDevices, deviceStats};
