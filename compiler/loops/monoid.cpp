#include "loops/monoid.h"

#include "core/evaluate.h"

namespace melix::loops {

using core::MonoidKind;
using core::OpKind;

ValueId monoidUnit(Builder& b, MonoidKind monoid, TypeKind kind) {
  return b.constant(scalarType(kind), core::unitOf(monoid, kind));
}

ValueId combine(Builder& b, MonoidKind monoid, ValueId x, ValueId y, TypeKind kind) {
  return b.arith(core::combiningOp(monoid), x, y, kind);
}

ValueId isBetter(Builder& b, MonoidKind monoid, ValueId term, ValueId best, TypeKind kind) {
  using ops::CmpKind;
  ValueId beyond = b.compare(monoid == MonoidKind::ArgMax ? CmpKind::Gt : CmpKind::Lt, term, best, kind);
  if (!types::isFloatKind(kind)) return beyond;
  ValueId termNan = b.compare(CmpKind::Ne, term, term, kind);
  ValueId bestOk = b.compare(CmpKind::Eq, best, best, kind);
  return b.either(beyond, b.both(termNan, bestOk));
}

} // namespace melix::loops
