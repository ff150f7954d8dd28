// MELIX_DEVICE: where code for a device runs.
#include "device.h"

#include "../system.h"

#include <dlfcn.h>

namespace melix::runtime {

namespace {

const Device* ready;
int32_t told; ///< whether nobody is to be told any more that `on gpu` runs on the processor

constexpr const char* driverLibrary = "libcuda.so.1";

/// Appends why no GPU can be used. An error of the loader ends with the text of an error number, which says
/// nothing more where the library is not there.
void addReason(TextBuffer& out) {
  if (void* library = dlopen(driverLibrary, RTLD_LAZY | RTLD_LOCAL)) {
    dlclose(library);
    out.add(driverLibrary);
    out.add(" is there, and this version of Melix does not drive it");
    return;
  }
  const char* text = dlerror();
  const char* end = text ? strstr(text, ": No such file") : nullptr;
  out.add(text ? text : driverLibrary,
          end ? end - text : static_cast<int64_t>(strlen(text ? text : driverLibrary)));
}

void write(const TextBuffer& text) { writeText(2, text.data, text.len); }

void tellOnce() {
  if (__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED)) return;
  ScopedBuffer out;
  out.add("melix: no GPU (");
  addReason(out);
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

int32_t refuseWithoutGpu() {
  ScopedBuffer reason;
  addReason(reason);
  reason.addByte('\0');
  return refuse(MELIX_FAILED, "MELIX_DEVICE=gpu, and there is no GPU (",
                reinterpret_cast<const char*>(reason.data), ")");
}

} // namespace

const Device* readyDevice() { return ready; }

int32_t startDevices(const Device* emulator) {
  const char* word = environmentVariable("MELIX_DEVICE");
  auto is = [word](const char* other) { return strcmp(word, other) == 0; };
  ready = nullptr;
  hookDevices();
  if (!word || !*word) return MELIX_OK;
  if (is("gpu")) return refuseWithoutGpu();
  if (is("emulated")) {
    ready = emulator;
    return ready ? MELIX_OK
                 : refuse(MELIX_FAILED, "this program has no code for the emulator: `melix build ",
                          "--with-emulator", "` makes one that has");
  }
  if (!is("cpu")) return refuse(MELIX_USAGE, "MELIX_DEVICE is `gpu`, `cpu` or `emulated`, not `", word, "`");
  told = 1;
  return MELIX_OK;
}

void endDevices() {
  if (!ready) return;
  logDevice();
  dropCopiesOfConstants();
  emptyDevicePool(*ready);
}

} // namespace melix::runtime

using namespace melix::runtime;

const MelixDevices melix_devices = {[] { return startDevices(nullptr); }, endDevices, deviceStats};

int32_t melix_device_emulates(void) {
  const char* word = environmentVariable("MELIX_DEVICE");
  return word && strcmp(word, "emulated") == 0;
}

int64_t melix_device_ready(int64_t) {
  if (ready) return 1;
  tellOnce();
  return 0;
}
