#pragma once
// The monoids of reductions, on scalars.

#include "loops/ir/build.h"

namespace melix::loops {

ValueId monoidUnit(Builder& b, core::MonoidKind monoid, TypeKind kind);
ValueId combine(Builder& b, core::MonoidKind monoid, ValueId x, ValueId y, TypeKind kind);

} // namespace melix::loops
