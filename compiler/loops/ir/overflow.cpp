#include "loops/ir/overflow.h"

#include <limits>

namespace melix::loops {

using core::CheckKind;
using core::OpKind;
using ops::CmpKind;

ValueId resultFits(Builder& b, core::CheckKind check, const std::vector<ValueId>& v, TypeKind kind) {
  ValueId zero = b.zero(scalarType(kind));
  auto is = [&](CmpKind how, ValueId x, ValueId y) { return b.compare(how, x, y, kind); };
  if (check == CheckKind::NegFits)
    return is(CmpKind::Ne, v[0], isSigned(kind) ? b.constant(scalarType(kind), leastOf(kind)) : zero);
  if (check == CheckKind::MulFits) {
    // Without wrapping the product divided by a factor is the other; MIN / -1 is no quotient and gives 0.
    ValueId product = b.arith(OpKind::Mul, v[0], v[1], kind);
    return b.either(is(CmpKind::Eq, v[0], zero),
                    is(CmpKind::Eq, b.arith(OpKind::IDiv, product, v[0], kind), v[1]));
  }
  bool adds = check == CheckKind::AddFits;
  ValueId result = b.arith(adds ? OpKind::Add : OpKind::Sub, v[0], v[1], kind);
  if (!isSigned(kind)) return is(CmpKind::Le, adds ? v[0] : v[1], adds ? result : v[0]);
  // Adding what is not negative, or subtracting what is, does not make it less; and the other way round.
  ValueId grows = is(CmpKind::Ge, v[1], zero);
  ValueId grew = is(adds ? CmpKind::Ge : CmpKind::Le, result, v[0]);
  return b.scalar(OpKind::Cmp, {grows, grew}, TypeKind::Bool, TypeKind::Bool,
                  static_cast<uint32_t>(CmpKind::Eq));
}

ValueId dimStepFits(Builder& b, core::OpKind kind, ValueId x, ValueId y) {
  switch (kind) {
  case OpKind::Add: return resultFits(b, CheckKind::AddFits, {x, y}, TypeKind::I64);
  case OpKind::Mul: return resultFits(b, CheckKind::MulFits, {x, y}, TypeKind::I64);
  case OpKind::IDiv:
    return b.either(b.compare(CmpKind::Ne, x, b.integer(std::numeric_limits<int64_t>::min())),
                    b.compare(CmpKind::Ne, y, b.integer(-1)));
  default: return b.boolean(true);
  }
}

ValueId productFits(Builder& b, const std::vector<ValueId>& sizes, int64_t most, bool skipsZero) {
  ValueId one = b.integer(1), product = one, fits = b.boolean(true), none = b.boolean(false);
  for (ValueId size : sizes) {
    ValueId factor = b.arith(OpKind::Max, size, one);
    fits = b.both(fits, b.compare(CmpKind::Le, product, b.arith(OpKind::IDiv, b.integer(most), factor)));
    none = b.either(none, b.compare(CmpKind::Eq, size, b.integer(0)));
    product = b.arith(OpKind::Mul, product, factor);
  }
  return skipsZero ? fits : b.either(fits, none);
}

} // namespace melix::loops
