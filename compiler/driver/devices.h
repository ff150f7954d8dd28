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

/// Starts devices for a process that forks: a GPU is opened in a child, as a process that has opened one can
/// fork no more. Messages are written; without a device code runs on this processor from then on. Gives an
/// exit status.
int startDevicesOfChildren(int32_t flags);

/// Whether `sm_80` and the like is a card for which there can be code.
bool isGpuArchitecture(const std::string& name);
/// Makes machine code for GPUs by ptxas of the CUDA Toolkit, for each of `architectures` (`sm_80`). Says on
/// standard error why there is none.
std::optional<codegen::Assemble> findAssembler(const std::vector<std::string>& architectures);

} // namespace melix::driver
