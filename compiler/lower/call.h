#pragma once
// Calls and derivatives.

#include "lower/body.h"

namespace melix::lower {

ValueId lowerCall(BodyLowering& fn, const check::Node& node);
ValueId lowerDerivative(BodyLowering& fn, const check::Node& node);
TypeId resultOf(BodyLowering& fn, const core::Op& derivative);
std::vector<ValueId> capturesOf(BodyLowering& fn, ValueId known);

} // namespace melix::lower
