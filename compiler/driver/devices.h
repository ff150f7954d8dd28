#pragma once
// The devices of this machine, and code for them.

#include "codegen/codegen.h"

#include <optional>
#include <string>
#include <vector>

namespace melix::driver {

/// For which devices code is made that runs in this process: MELIX_DEVICE says it, or if it is not set and
/// `looks`, whether there is the driver of GPUs.
DeviceCode devicesHere(bool looks);

/// Sees in a child whether a device can be used: who opens a GPU can fork no more. `start` as melix_devices
/// has it. What a user is to be told is written; without a device code runs on this processor from then on.
/// Gives the exit status of what is refused.
int startDevicesOfChildren(int32_t flags);

/// Whether `sm_80` and the like is a card for which there can be code.
bool isGpuArchitecture(const std::string& name);
/// Makes machine code for GPUs by ptxas of the CUDA Toolkit, for each of `architectures` (`sm_80`). Says on
/// standard error why there is none.
std::optional<codegen::Assemble> findAssembler(const std::vector<std::string>& architectures);

} // namespace melix::driver
