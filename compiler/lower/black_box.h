#pragma once
// Values that no pass looks into.

#include "lower/body.h"

namespace melix::lower {

ValueId lowerBlackBox(BodyLowering& fn, const check::Node& node);

} // namespace melix::lower
