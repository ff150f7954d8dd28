#pragma once
// Blocks that run on a device.

#include "lower/body.h"

namespace melix::lower {

/// The block becomes a function of its own for the device. Its parameters are the values that it reads; its
/// results are its value, the variables that it changes, and how it is left.
ValueId lowerOn(BodyLowering& fn, const check::Node& node);

} // namespace melix::lower
