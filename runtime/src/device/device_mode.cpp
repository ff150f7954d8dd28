// MELIX_DEVICE: where code for a device runs.
#include "device.h"

#include "../system.h"

namespace melix::runtime {

namespace {

const Device* ready;
bool opensGpu;  ///< whether a GPU is opened when code for one is about to run
bool isNeeded;  ///< whether the program has no code for this processor instead
bool isForgone; ///< whether this process uses no device
int32_t told;   ///< whether nobody is to be told any more that `on gpu` runs on the processor

/// What MELIX_DEVICE says.
enum class Word : uint8_t { Unset, Gpu, Cpu, Emulated, Check, Unknown };

struct WordRow {
  const char* text;
  Word word;
};

const char* textOfWord() {
  const char* text = environmentVariable("MELIX_DEVICE");
  return text ? text : "";
}

Word readWord() {
  constexpr WordRow rows[] = {{"", Word::Unset},
                              {"gpu", Word::Gpu},
                              {"cpu", Word::Cpu},
                              {"emulated", Word::Emulated},
                              {"check", Word::Check}};
  for (const WordRow& row : rows)
    if (strcmp(textOfWord(), row.text) == 0) return row.word;
  return Word::Unknown;
}

void write(const TextBuffer& text) { writeText(2, text.data, text.len); }

void tellOnce() {
  if (__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED)) return;
  ScopedBuffer out;
  out.add("melix: no GPU (");
  out.add(gpuProblem());
  out.add("): `on gpu` runs on this processor\n");
  write(out);
}

int32_t refuse(int32_t status, const char* before, const char* word, const char* after) {
  ScopedBuffer out;
  out.add("error: ");
  out.add(before);
  out.add(word);
  out.add(after);
  out.addByte('\n');
  write(out);
  return status;
}

constexpr const char* noCodeHere = "this program has no code for this processor instead of a GPU";

/// Of a program that must run on a GPU.
int32_t startGpu(const char* reason) {
  ready = openGpu();
  if (ready) return MELIX_OK;
  ScopedBuffer before;
  before.add(reason);
  before.add(", and there is no GPU (");
  before.addByte('\0');
  return refuse(MELIX_FAILED, reinterpret_cast<const char*>(before.data), gpuProblem(), ")");
}

int32_t startEmulator(const Device* emulator) {
  ready = emulator;
  if (ready) return MELIX_OK;
  return refuse(MELIX_FAILED, "this program has no code for the emulator: `melix build ", "--with-emulator",
                "` makes one that has");
}

} // namespace

const Device* readyDevice() { return ready; }

int32_t startDevices(const Device* emulator, int32_t flags) {
  const bool required = flags & MELIX_DEVICE_NEEDED;
  ready = nullptr;
  opensGpu = false;
  isNeeded = required;
  hookDevices();
  startDeviceLog();
  if (isForgone) return MELIX_OK;
  switch (readWord()) {
  case Word::Unset:
    if (required) return startGpu(noCodeHere);
    opensGpu = true;
    return MELIX_OK;
  case Word::Gpu: return startGpu("MELIX_DEVICE=gpu");
  case Word::Emulated: return startEmulator(emulator);
  case Word::Cpu:
    told = 1;
    return required ? refuse(MELIX_FAILED, noCodeHere, "", ": MELIX_DEVICE=cpu cannot be") : MELIX_OK;
  case Word::Check:
    if (!(flags & MELIX_DEVICE_CHECKED))
      return refuse(MELIX_FAILED, "an executable has no code for MELIX_DEVICE=check: ", "`melix run`",
                    " has");
    ready = openGpu();
    return ready ? MELIX_OK : startEmulator(emulator);
  case Word::Unknown: break;
  }
  return refuse(MELIX_USAGE, "MELIX_DEVICE is `gpu`, `cpu`, `emulated` or `check`, not `", textOfWord(), "`");
}

void endDevices() {
  if (!ready) return;
  logDevice();
  dropCopiesOfConstants();
  emptyDevicePool(*ready);
}

} // namespace melix::runtime

using namespace melix::runtime;

const MelixDevices melix_devices = {[](int32_t flags) { return startDevices(nullptr, flags); }, endDevices,
                                    deviceStats};

int32_t melix_device_kind(int32_t probe, int32_t* flags) {
  const Word word = readWord();
  *flags = word == Word::Gpu || word == Word::Emulated ? MELIX_DEVICE_NEEDED : 0;
  if (word == Word::Check) *flags = MELIX_DEVICE_CHECKED;
  if (word == Word::Emulated) return MELIX_DEVICE_EMULATED;
  const bool isWanted = word == Word::Gpu || word == Word::Check || (word == Word::Unset && probe);
  if (isWanted && isDriverThere()) return MELIX_DEVICE_GPU;
  return word == Word::Check ? MELIX_DEVICE_EMULATED : MELIX_DEVICE_NONE;
}

void melix_device_forgo(void) {
  isForgone = true;
  told = 1;
}

/// A program that has no other code goes on where the device has failed: its next use of it panics.
int64_t melix_device_ready(int64_t) {
  if (opensGpu && !ready) {
    ready = openGpu();
    opensGpu = false;
  }
  if (ready && (isNeeded || !ready->failure())) return 1;
  tellOnce();
  return 0;
}
