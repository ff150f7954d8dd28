#pragma once
// Comprehensions and reductions.

#include "lower/body.h"
#include "support/function_ref.h"

namespace melix::lower {

ValueId lowerNest(BodyLowering& fn, NodeId n);
ValueId orFiller(BodyLowering& fn, ValueId value, TypeId type);
ValueId filler(BodyLowering& fn, TypeId type);
ValueId axisParam(BodyLowering& fn, core::NestBuilder& made, DimId extent, LocalId index);
void inRegion(BodyLowering& fn, RegionId region, FunctionRef<void()> fill);

} // namespace melix::lower
