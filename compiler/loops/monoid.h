#pragma once
// The monoids of reductions, on scalars.

#include "loops/build.h"

namespace melix::loops {

ValueId monoidUnit(Builder& b, core::MonoidKind monoid, TypeKind kind);
ValueId combine(Builder& b, core::MonoidKind monoid, ValueId x, ValueId y, TypeKind kind);
/// Of argmin and argmax: whether a term is strictly beyond the best, or the first NaN; once the best is NaN
/// nothing is better.
ValueId isBetter(Builder& b, core::MonoidKind monoid, ValueId term, ValueId best, TypeKind kind);

} // namespace melix::loops
