#include "loops/ir/monoid.h"

#include "core/analysis/evaluate.h"

namespace melix::loops {

using core::MonoidKind;
using core::OpKind;

ValueId monoidUnit(Builder& b, MonoidKind monoid, TypeKind kind) {
  return b.constant(scalarType(kind), core::unitOf(monoid, kind));
}

ValueId combine(Builder& b, MonoidKind monoid, ValueId x, ValueId y, TypeKind kind) {
  return b.arith(core::combiningOp(monoid), x, y, kind);
}

} // namespace melix::loops
