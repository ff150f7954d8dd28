#pragma once
// Comprehensions and reductions.

#include "lower/body.h"

namespace melix::lower {

ValueId lowerNest(BodyLowering& fn, NodeId n);
ValueId orFiller(BodyLowering& fn, ValueId value, TypeId type);
ValueId filler(BodyLowering& fn, TypeId type);
ValueId axisParam(BodyLowering& fn, core::NestBuilder& made, DimId extent, LocalId index);
void inRegion(BodyLowering& fn, RegionId region, const std::function<void()>& fill);

} // namespace melix::lower
