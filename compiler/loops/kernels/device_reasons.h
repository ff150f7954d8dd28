#pragma once
#include "loops/ir/ir.h"

#include <string_view>

namespace melix::loops {

/// The reason for which a kernel, made of a loop, cannot run on a device: it reaches memory of the host,
/// stores references, or has a statement that only the host can run. Empty if nothing does.
std::string_view whyNotOnDevice(const Module& module, const Function& kernel);

/// Makes each function of a `grid` loop a kernel of the device, or notes why the host runs it. Requires: such
/// loops outlined, and their arrays in scratch where that is possible.
void assignDevices(Module& module);

} // namespace melix::loops
