#pragma once
// The kernels of a device, the nests that the host runs instead and why, and the places where the host
// touches arrays that a device may have: for `melix explain-device`.

#include "loops/ir/ir.h"

#include <string>
#include <vector>

namespace melix::loops {

struct DevicePlace {
  enum class Kind : uint8_t {
    Launch,  ///< a kernel of a device
    OnHost,  ///< a nest that the host runs
    Loop,    ///< a loop in which nothing is launched, or a call that is recursion
    Crossing ///< elements that are copied if the other side has changed them
  };
  Kind kind;
  LocId loc;
  std::string what;
  NameId array{}; ///< of a crossing: the name of the array, which may be one of a function that was called
};

/// In the order of the functions. Requires: the passes have run, for a device.
std::vector<DevicePlace> devicePlaces(const Module& module);

} // namespace melix::loops
