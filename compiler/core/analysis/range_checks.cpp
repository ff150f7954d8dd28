// Whether checks can fail, by what is known of their operands.

#include "core/analysis/range_forms.h"

#include "core/ir/build.h"

#include <algorithm>

namespace melix::core {

bool Ranges::isNotZero(ValueId v) {
  const Op* op = def(v);
  if (op && op->kind == OpKind::Const)
    return signedBits(types_.kind(f_.typeOf(v)), op->as<Constant>().bits) != 0;
  std::optional<Range> r = range(v);
  return r && (facts_.atLeast(r->low, 1) || facts_.atMost(r->high, -1));
}

/// Where a branch has compared it, a value has two ranges, each end of which holds.
bool Ranges::indexFits(const Op& check) {
  const DimId last = dims_.sub(check.dims[0], dims_.constant(1));
  bool isNatural = false, isBelow = false;
  for (const std::optional<Range>& r : {range(check.operands[0]), ofValue(check.operands[0], maxDepth)}) {
    isNatural |= r && facts_.atLeast(r->low, 0);
    isBelow |= r && isNoLess(last, r->high);
  }
  return (isNatural && isBelow) || isIndexByOrder(*this, check.operands[0], check.dims[0]);
}

bool Ranges::sliceFits(const Op& check) {
  std::optional<Range> a = range(check.operands[0]), b = range(check.operands[1]);
  return a && b && facts_.atLeast(a->low, 0) && isNoLess(b->low, a->high) && isNoLess(check.dims[0], b->high);
}

/// A sum, difference, product or negative of integers.
bool Ranges::resultFits(const Op& check) {
  TypeKind kind = types_.kind(f_.typeOf(check.operands[0]));
  unsigned width = types::scalarBits(kind);
  bool isSigned = types::scalarClass(kind) == types::ScalarClass::SInt;
  if (width == 64 && !isSigned) return false;
  std::optional<Range> a = range(check.operands[0]), b = range(check.operands.back());
  if (!a || !b) return false;
  Range result;
  switch (check.as<CheckAttr>().kind) {
  case CheckKind::AddFits: result = {dims_.add(a->low, b->low), dims_.add(a->high, b->high)}; break;
  case CheckKind::SubFits: result = {dims_.sub(a->low, b->high), dims_.sub(a->high, b->low)}; break;
  case CheckKind::MulFits:
    if (a->low != a->high || b->low != b->high) return false;
    result = {dims_.mul(a->low, b->low), dims_.mul(a->low, b->low)};
    break;
  default: result = {dims_.sub(dims_.constant(0), a->high), dims_.sub(dims_.constant(0), a->low)};
  }
  types::DimFacts::Wide end = types::DimFacts::Wide(1) << (width - isSigned);
  return facts_.atMost(result.high, end - 1) && facts_.atLeast(result.low, isSigned ? -end : 0);
}

bool Ranges::pointsFit(const Op& check) {
  return isAtMost(dims_.product(check.dims), INT64_MAX) &&
         std::all_of(check.dims.begin(), check.dims.end(), [&](DimId d) { return isExact(d); });
}

bool Ranges::isIndex(ValueId v, DimId extent) {
  Op check;
  check.kind = OpKind::Check;
  check.operands = {v};
  check.dims = {extent};
  check.attr = CheckAttr{CheckKind::Index, {}, {}};
  return isProved(check);
}

/// Whether a value is the index of a loop that runs so often.
static bool isIndexOfLoop(const Function& f, ValueId v, ValueId count) {
  const Value& value = f.values[v];
  const OpId loop = value.region.valid() ? f.regions[value.region].parent : OpId();
  return loop.valid() && f.ops[loop].kind == OpKind::For && value.index == 0 &&
         f.ops[loop].operands[0] == count;
}

bool Ranges::isProved(const Op& check) {
  auto known = [&](size_t k) { return range(check.operands[k]); };
  auto constant = [&](size_t k) { return integer(check.operands[k]); };
  switch (check.as<CheckAttr>().kind) {
  case CheckKind::Index:
  case CheckKind::Slice: {
    size_t mark = facts_.mark(); // the axis is one of an array that is there
    learnExtents({check.dims[0]});
    bool holds = check.as<CheckAttr>().kind == CheckKind::Index ? indexFits(check) : sliceFits(check);
    facts_.undo(mark);
    return holds;
  }
  case CheckKind::DimEqual: return check.dims[0] == check.dims[1] && !dims_.isTooLarge(check.dims[0]);
  case CheckKind::DimNonNegative:
    return isExact(check.dims[0]) && (isAtLeast(check.dims[0], 0) || isNaturalByOrder(*this, check.dims[0]));
  case CheckKind::DimFits: return isAtMost(check.dims[0], types::maxExtent) && isExact(check.dims[0]);
  case CheckKind::ArrayFits: return arrayFits(check);
  case CheckKind::PointsFit: return pointsFit(check);
  case CheckKind::NotEmpty: return facts_.atLeast(check.dims[0], 1);
  case CheckKind::Divisor: return isNotZero(check.operands[0]);
  case CheckKind::DivideOverflow: {
    std::optional<Range> a = known(0), b = known(1);
    const unsigned width = types::scalarBits(types_.kind(f_.typeOf(check.operands[0])));
    const types::DimFacts::Wide least = -(types::DimFacts::Wide(1) << (width - 1));
    return (b && (facts_.atLeast(b->low, 0) || facts_.atMost(b->high, -2))) ||
           (a && facts_.atLeast(a->low, least + 1));
  }
  case CheckKind::Exponent: {
    std::optional<Range> r = known(0);
    return r && facts_.atLeast(r->low, 0);
  }
  case CheckKind::Assert: return constant(0).value_or(0) != 0;
  case CheckKind::AddFits:
  case CheckKind::SubFits:
  case CheckKind::MulFits:
  case CheckKind::NegFits: return resultFits(check);
  case CheckKind::ListIndex: {
    const std::optional<Range> index = known(0), length = known(1);
    if (isIndexOfLoop(f_, check.operands[0], check.operands[1])) return true;
    return index && length && facts_.atLeast(index->low, 0) &&
           isNoLess(dims_.sub(length->low, dims_.constant(1)), index->high);
  }
  case CheckKind::Converts: return false;
  }
  return false;
}

} // namespace melix::core
