#include "core/ranges.h"

#include "core/build.h"
#include "core/flow.h"
#include "core/walk.h"

#include <algorithm>
#include <climits>

namespace melix::core {

namespace {

/// So many extents, and choices among them are all looked at: they double with each.
constexpr size_t fewExtents = 4;

/// Calls `visit` with each choice of some of the dims; of more than a few only with all of them and each
/// alone.
template <class Visit>
void forEachChoice(const std::vector<DimId>& dims, Visit visit) {
  if (dims.size() > fewExtents) {
    for (DimId d : dims) visit(std::vector<DimId>{d});
    return visit(dims);
  }
  for (unsigned bits = 1; bits < 1u << dims.size(); ++bits) {
    std::vector<DimId> chosen;
    for (size_t k = 0; k < dims.size(); ++k)
      if (bits >> k & 1) chosen.push_back(dims[k]);
    visit(chosen);
  }
}

} // namespace

Ranges::Ranges(Module& m, const Function& f)
    : f_(f), types_(m.types), dims_(m.types.dims), facts_(m.types.dims) {
  for (ValueId v : f.params()) learnSizes(f.typeOf(v), 0);
}

// --- facts

/// Extents of one array: each is a size, and so is the product of those that are not 0.
void Ranges::learnExtents(std::vector<DimId> dims) {
  for (DimId d : dims) facts_.assumeAtLeast(d, 0);
  std::erase_if(dims, [&](DimId d) { return dims_.asConstant(d) == 0; });
  forEachChoice(dims, [&](const std::vector<DimId>& chosen) {
    facts_.assumeAtMost(dims_.product(chosen), types::maxExtent);
  });
}

/// Sizes of the arrays in a value of this type, but for those that only some of its elements or cases have.
void Ranges::learnSizes(TypeId type, int depth) {
  constexpr int deepest = 3;
  const types::Type t = types_[type];
  if (t.kind == TypeKind::Array) return learnExtents(t.dims);
  if (depth == deepest) return;
  if (t.kind == TypeKind::Tuple)
    for (TypeId part : t.parts) learnSizes(part, depth + 1);
  if (t.kind == TypeKind::Struct)
    for (uint32_t k = 0; k < types_.recordInfo(t.record).cases[0].fields.size(); ++k)
      learnSizes(types_.fieldType(type, 0, k), depth + 1);
}

/// Whether an op makes what it gives, so that its sizes are sizes. Others pass on what branches and loops
/// give or what was made up, which may be such as nobody reads; a cast only claims.
static bool makesResults(OpKind kind) {
  switch (kind) {
  case OpKind::Nest:
  case OpKind::Call:
  case OpKind::ArrayOf:
  case OpKind::ToArray:
  case OpKind::Reshape:
  case OpKind::ArgSort:
  case OpKind::Builtin: return true;
  default: return false;
  }
}

void Ranges::define(const Op& op) {
  if (op.kind == OpKind::Check) {
    switch (op.as<CheckAttr>().kind) {
    case CheckKind::DimFits: facts_.assumeAtMost(op.dims[0], types::maxExtent); break;
    case CheckKind::DimNonNegative:
      if (isExact(op.dims[0])) facts_.assumeAtLeast(op.dims[0], 0);
      break;
    case CheckKind::NotEmpty:
      if (isExact(op.dims[0])) facts_.assumeAtLeast(op.dims[0], 1);
      break;
    case CheckKind::ArrayFits: learnExtents(std::vector<DimId>(op.dims)); break;
    default: break;
    }
    return;
  }
  if (!makesResults(op.kind)) return;
  // A sweep over a range runs as often as the i64 says that its extent wraps to.
  if (!std::all_of(op.dims.begin(), op.dims.end(), [&](DimId d) { return isExact(d); })) return;
  for (ValueId v : op.results) learnSizes(f_.typeOf(v), 0);
}

size_t Ranges::enter(RegionId r) {
  size_t mark = facts_.mark();
  OpId parent = f_.regions[r].parent;
  if (!parent.valid()) return mark;
  const Op& op = f_.ops[parent];
  if (op.kind == OpKind::Nest && r == op.regions[0])
    for (DimId d : op.dims)
      if (isExact(d)) facts_.assumeAtLeast(d, 1);
  if (op.kind == OpKind::For)
    if (const Op* count = def(op.operands[0]);
        count && count->kind == OpKind::DimValue && isExact(count->dims[0]))
      facts_.assumeAtLeast(count->dims[0], 1);
  return mark;
}

void Ranges::leave(size_t mark) { facts_.undo(mark); }

// --- ranges of values

bool Ranges::noLess(DimId a, DimId b) {
  if (std::optional<int64_t> least = dims_.asConstant(b)) return facts_.atLeast(a, *least);
  if (std::optional<int64_t> most = dims_.asConstant(a)) return facts_.atMost(b, *most);
  return facts_.atLeast(dims_.sub(a, b), 0);
}

std::optional<int64_t> Ranges::integer(ValueId v) const {
  const Op* op = def(v);
  TypeKind kind = types_.kind(f_.typeOf(v));
  if (!op || op->kind != OpKind::Const || !(types::isIntKind(kind) || kind == TypeKind::Bool))
    return std::nullopt;
  if (kind == TypeKind::U64 && static_cast<int64_t>(op->as<Constant>().bits) < 0) return std::nullopt;
  return signedBits(kind, op->as<Constant>().bits);
}

std::optional<Ranges::Range> Ranges::unwrapped(Range r) const {
  bool fits = facts_.atLeast(r.low, INT64_MIN) && facts_.atMost(r.high, INT64_MAX);
  return fits ? std::optional(r) : std::nullopt;
}

std::optional<Ranges::Range> Ranges::range(ValueId v, int depth) {
  if (std::optional<int64_t> c = integer(v)) return Range{dims_.constant(*c), dims_.constant(*c)};
  if (depth == 0 || f_.typeOf(v) != types_.int64()) return std::nullopt;
  const Op* op = def(v);
  std::optional<Range> found = op ? ofOp(*op, depth - 1) : ofParameter(v, depth - 1);
  return found ? found : Range{dims_.constant(INT64_MIN), dims_.constant(INT64_MAX)};
}

std::optional<Ranges::Range> Ranges::ofOp(const Op& op, int depth) {
  auto operand = [&](size_t k) { return range(op.operands[k], depth); };
  switch (op.kind) {
  case OpKind::DimValue:
    if (!isExact(op.dims[0])) return std::nullopt;
    return Range{op.dims[0], op.dims[0]};
  case OpKind::Length: return Range{dims_.constant(0), dims_.constant(types::maxExtent)};
  case OpKind::Add:
  case OpKind::Sub: {
    std::optional<Range> a = operand(0), b = operand(1);
    if (!a || !b) return std::nullopt;
    if (op.kind == OpKind::Add) return unwrapped({dims_.add(a->low, b->low), dims_.add(a->high, b->high)});
    return unwrapped({dims_.sub(a->low, b->high), dims_.sub(a->high, b->low)});
  }
  case OpKind::Neg: {
    std::optional<Range> a = operand(0);
    DimId zero = dims_.constant(0);
    if (!a) return std::nullopt;
    return unwrapped({dims_.sub(zero, a->high), dims_.sub(zero, a->low)});
  }
  case OpKind::Mul: return ofProduct(op, depth);
  case OpKind::IDiv:
  case OpKind::IRem: return ofQuotient(op, depth);
  case OpKind::Min:
  case OpKind::Max: return ofExtremum(op, depth);
  case OpKind::Convert: return ofConverted(op);
  default: return std::nullopt;
  }
}

/// By a factor that is one number, whose sign is known; else by the numbers that bound both.
std::optional<Ranges::Range> Ranges::ofProduct(const Op& op, int depth) {
  std::optional<Range> a = range(op.operands[0], depth), b = range(op.operands[1], depth);
  if (!a || !b) return std::nullopt;
  if (a->low == a->high) std::swap(a, b);
  if (b->low == b->high) {
    Range product{dims_.mul(a->low, b->low), dims_.mul(a->high, b->low)};
    if (facts_.atLeast(b->low, 0)) return unwrapped(product);
    if (facts_.atMost(b->low, 0)) return unwrapped({product.high, product.low});
  }
  return std::nullopt;
}

std::optional<Ranges::Range> Ranges::ofQuotient(const Op& op, int depth) {
  std::optional<Range> a = range(op.operands[0], depth), b = range(op.operands[1], depth);
  if (!a || !b || !facts_.atLeast(b->low, 1)) return std::nullopt;
  DimId zero = dims_.constant(0), one = dims_.constant(1);
  if (op.kind == OpKind::IRem) return Range{zero, dims_.sub(b->high, one)};
  if (b->low == b->high) return Range{dims_.floorDiv(a->low, b->low), dims_.floorDiv(a->high, b->low)};
  if (facts_.atLeast(a->low, 0)) return Range{zero, a->high};
  return std::nullopt;
}

std::optional<Ranges::Range> Ranges::ofExtremum(const Op& op, int depth) {
  std::optional<Range> a = range(op.operands[0], depth), b = range(op.operands[1], depth);
  if (!a || !b) return std::nullopt;
  auto greater = [&](DimId x, DimId y) { return noLess(x, y) ? x : noLess(y, x) ? y : dims_.max(x, y); };
  auto less = [&](DimId x, DimId y) { return noLess(x, y) ? y : noLess(y, x) ? x : dims_.min(x, y); };
  if (op.kind == OpKind::Max) return Range{greater(a->low, b->low), greater(a->high, b->high)};
  return Range{less(a->low, b->low), less(a->high, b->high)};
}

/// What a narrower integer holds.
std::optional<Ranges::Range> Ranges::ofConverted(const Op& op) {
  TypeKind from = types_.kind(f_.typeOf(op.operands[0]));
  unsigned width = types::scalarBits(from);
  if (!types::isIntKind(from) || width >= 64) return std::nullopt;
  bool isSigned = types::scalarClass(from) == types::ScalarClass::SInt;
  int64_t end = int64_t(1) << (width - isSigned);
  return Range{dims_.constant(isSigned ? -end : 0), dims_.constant(end - 1)};
}

/// An axis of a nest or the index of a loop: from 0 up to the last one.
std::optional<Ranges::Range> Ranges::ofParameter(ValueId v, int depth) {
  const Value& value = f_.values[v];
  OpId parent = f_.regions[value.region].parent;
  if (!parent.valid()) return std::nullopt;
  const Op& op = f_.ops[parent];
  DimId zero = dims_.constant(0), last = dims_.constant(INT64_MAX);
  if (op.kind == OpKind::Nest && value.region == op.regions[0] && value.index < op.dims.size()) {
    if (isExact(op.dims[value.index])) last = dims_.sub(op.dims[value.index], dims_.constant(1));
    return Range{zero, last};
  }
  if (op.kind == OpKind::For && value.index == 0) return Range{zero, lastOf(op, depth)};
  if (op.kind == OpKind::While && value.region == op.regions[1]) return ofCarry(op, value.index, depth);
  return std::nullopt;
}

/// A carry that each turn leaves or makes greater by a constant, while the condition holds it below a limit.
std::optional<Ranges::Range> Ranges::ofCarry(const Op& loop, uint32_t k, int depth) {
  const LoopView view(f_, loop);
  const ValueId carry = view.carryParams()[k], next = view.carryYields()[k];
  const Op* step = def(next);
  std::optional<int64_t> grows = next == carry ? std::optional<int64_t>(0) : std::nullopt;
  if (step && step->kind == OpKind::Add && step->operands[0] == carry) grows = integer(step->operands[1]);
  std::optional<Range> first = range(view.carryOperands()[k], depth);
  if (!grows || *grows < 0 || !first) return std::nullopt;
  const RegionId condition = view.condition();
  std::optional<DimId> limit =
      limitOf(terminator(f_, condition).operands[0], view.carryParams(condition)[k], depth);
  if (!limit) return std::nullopt;
  DimId last = dims_.sub(*limit, dims_.constant(1));
  if (!unwrapped({first->low, dims_.add(last, dims_.constant(*grows))})) return std::nullopt;
  return Range{first->low, last};
}

/// What `carry` is less than where the condition holds.
std::optional<DimId> Ranges::limitOf(ValueId condition, ValueId carry, int depth) {
  const Op* op = def(condition);
  if (!op || depth == 0) return std::nullopt;
  if (op->kind == OpKind::And) {
    std::optional<DimId> left = limitOf(op->operands[0], carry, depth - 1);
    return left ? left : limitOf(op->operands[1], carry, depth - 1);
  }
  if (op->kind == OpKind::If &&
      integer(terminator(f_, op->regions[1]).operands[0]) == 0) // `and` of two conditions
    return limitOf(op->operands[0], carry, depth - 1);
  bool less = op->kind == OpKind::Cmp && op->index() == static_cast<uint32_t>(ops::CmpKind::Lt);
  if (!less || op->operands[0] != carry) return std::nullopt;
  std::optional<Range> limit = range(op->operands[1], depth - 1);
  return limit ? std::optional(limit->high) : std::nullopt;
}

/// The last index of a loop that runs. Where its count is `max(to, from) - from`, that is to - from, since
/// else it does not run.
DimId Ranges::lastOf(const Op& loop, int depth) {
  DimId one = dims_.constant(1), none = dims_.constant(INT64_MAX);
  const Op* count = def(loop.operands[0]);
  const Op* end = count && count->kind == OpKind::Sub ? def(count->operands[0]) : nullptr;
  if (end && end->kind == OpKind::Max && end->operands[1] == count->operands[1]) {
    std::optional<Range> to = range(end->operands[0], depth), from = range(count->operands[1], depth);
    std::optional<Range> span;
    if (to && from) span = unwrapped({dims_.sub(to->low, from->high), dims_.sub(to->high, from->low)});
    if (span) return dims_.sub(span->high, one);
  }
  const Op* most = count && count->kind == OpKind::Max ? count : nullptr;
  bool notBelowZero = most && integer(most->operands[1]) == 0;
  std::optional<Range> all = range(notBelowZero ? most->operands[0] : loop.operands[0], depth);
  return all && facts_.atLeast(all->high, INT64_MIN + 1) ? dims_.sub(all->high, one) : none;
}

bool Ranges::isAtLeast(ValueId v, int64_t bound) {
  std::optional<Range> r = range(v);
  return r && facts_.atLeast(r->low, bound);
}

bool Ranges::isNoLess(ValueId a, ValueId b) {
  std::optional<Range> x = range(a), y = range(b);
  return x && y && noLess(x->low, y->high);
}

// --- checks

bool Ranges::isNotZero(ValueId v) {
  const Op* op = def(v);
  if (op && op->kind == OpKind::Const)
    return signedBits(types_.kind(f_.typeOf(v)), op->as<Constant>().bits) != 0;
  std::optional<Range> r = range(v);
  return r && (facts_.atLeast(r->low, 1) || facts_.atMost(r->high, -1));
}

bool Ranges::indexFits(const Op& check) {
  std::optional<Range> r = range(check.operands[0]);
  return r && facts_.atLeast(r->low, 0) && noLess(dims_.sub(check.dims[0], dims_.constant(1)), r->high);
}

bool Ranges::sliceFits(const Op& check) {
  std::optional<Range> a = range(check.operands[0]), b = range(check.operands[1]);
  return a && b && facts_.atLeast(a->low, 0) && noLess(b->low, a->high) && noLess(check.dims[0], b->high);
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

/// Where an extent is 0 the others alone are the product.
bool Ranges::arrayFits(const Op& check) const {
  bool fits = true;
  std::vector<DimId> dims(check.dims);
  std::erase_if(dims, [&](DimId d) { return dims_.asConstant(d) == 0; });
  forEachChoice(dims, [&](const std::vector<DimId>& chosen) {
    fits = fits && facts_.atMost(dims_.product(chosen), types::maxExtent);
  });
  return fits && (dims.size() <= fewExtents ||
                  std::all_of(dims.begin(), dims.end(), [&](DimId d) { return facts_.atLeast(d, 1); }));
}

bool Ranges::pointsFit(const Op& check) const {
  return facts_.atMost(dims_.product(check.dims), INT64_MAX) &&
         std::all_of(check.dims.begin(), check.dims.end(), [&](DimId d) { return isExact(d); });
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
  case CheckKind::DimNonNegative: return facts_.atLeast(check.dims[0], 0) && isExact(check.dims[0]);
  case CheckKind::DimFits: return facts_.atMost(check.dims[0], types::maxExtent) && isExact(check.dims[0]);
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
  case CheckKind::ListIndex:
  case CheckKind::Converts: return false;
  }
  return false;
}

} // namespace melix::core
