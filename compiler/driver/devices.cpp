#include "driver/devices.h"

#include "driver/child.h"
#include "driver/commands.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/program_input.h"

#include "melix/abi.h"

#include <cstdlib>

namespace melix::driver {

DeviceCode devicesHere(bool looks) {
  int32_t flags = 0;
  const int32_t kind = melix_device_kind(looks, &flags);
  if (kind == MELIX_DEVICE_NONE) return {};
  const bool isChecked = flags & MELIX_DEVICE_CHECKED;
  return {.host = !(flags & MELIX_DEVICE_NEEDED),
          .emulator = kind == MELIX_DEVICE_EMULATED || isChecked, // stands in where the GPU cannot be used
          .gpu = kind == MELIX_DEVICE_GPU,
          .checked = isChecked};
}

int startDevicesOfChildren(int32_t flags) {
  const MelixDevices& devices = melix_devices_and_emulator;
  int32_t ignored = 0;
  if (melix_device_kind(1, &ignored) != MELIX_DEVICE_GPU) {
    const int32_t refused = devices.start(flags);
    if (refused == MELIX_OK) melix_device_ready(static_cast<int64_t>(Device::Gpu));
    return refused;
  }
  constexpr double seconds = 60;
  const ChildEnd end = runInChild(
      [&](std::optional<std::string>& told) {
        const int32_t refused = devices.start(flags);
        const bool isReady = refused == MELIX_OK && melix_device_ready(static_cast<int64_t>(Device::Gpu));
        told = isReady ? "ready" : std::to_string(refused);
        return Success;
      },
      seconds);
  writeError(end.output);
  if (end.returned && end.told == "ready") return Success;
  const bool isNeeded =
      flags & (MELIX_DEVICE_NEEDED | MELIX_DEVICE_CHECKED); // code goes there without asking
  if (!end.returned && isNeeded) writeProblem("there is no GPU: its driver ends a process that opens it");
  if (!end.returned && !isNeeded)
    writeError("melix: no GPU (its driver ends a process that opens it): `on gpu` runs on this processor\n");
  melix_device_forgo();
  return end.returned ? std::atoi(end.told.c_str()) : isNeeded ? Failure : Success;
}

int commandDevices(const Invocation&) {
  const int32_t status = melix_list_devices();
  melix_flush();
  return status;
}

} // namespace melix::driver
