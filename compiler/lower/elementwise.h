#pragma once
// Ops on whole arrays, and elements collected.

#include "lower/body.h"

namespace melix::lower {

ValueId lowerElementwise(BodyLowering& fn, const check::Node& node);
ValueId reductionStep(BodyLowering& fn, OpKind kind, ValueId left, ValueId right);

} // namespace melix::lower
