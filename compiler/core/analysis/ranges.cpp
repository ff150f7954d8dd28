#include "core/analysis/ranges.h"

#include "core/ir/build.h"
#include "core/ir/flow.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <climits>
#include <unordered_set>

namespace melix::core {

bool Ranges::isNoLess(DimId a, DimId b) {
  if (std::optional<int64_t> least = dims_.asConstant(b)) return facts_.atLeast(a, *least);
  if (std::optional<int64_t> most = dims_.asConstant(a)) return facts_.atMost(b, *most);
  return isNatural(dims_.sub(a, b), fewExtremes);
}

/// Whether a dimension is never negative, for each side of extremes in it that it may be, or for one of those
/// that bound it.
bool Ranges::isNatural(DimId d, int extremes) {
  using types::DimAtomKind;
  if (isAtLeast(d, 0)) return true;
  for (const types::DimTerm& term : std::vector(dims_.terms(d))) {
    if (extremes == 0 || term.factors.size() != 1) continue;
    const types::DimAtom atom = dims_.atom(term.factors[0]);
    if (atom.kind != DimAtomKind::Min && atom.kind != DimAtomKind::Max) continue;
    DimId whole = atom.args[0];
    for (DimId side : atom.args)
      whole = atom.kind == DimAtomKind::Min ? dims_.min(whole, side) : dims_.max(whole, side);
    const DimId factor = dims_.constant(term.coefficient), rest = dims_.sub(d, dims_.mul(factor, whole));
    auto holds = [&](DimId side) {
      return isNatural(dims_.add(rest, dims_.mul(factor, side)), extremes - 1);
    };
    const bool isBound = (atom.kind == DimAtomKind::Max) == (term.coefficient > 0);
    if (isBound ? std::ranges::any_of(atom.args, holds) : std::ranges::all_of(atom.args, holds)) return true;
  }
  return false;
}

/// By what is known of the dimension, or of the numbers that its symbols are bound to.
bool Ranges::isAtLeast(DimId d, types::DimFacts::Wide bound) {
  return facts_.atLeast(d, bound) || (!bound_.empty() && facts_.atLeast(extreme(d, true), bound));
}
bool Ranges::isAtMost(DimId d, types::DimFacts::Wide bound) {
  return facts_.atMost(d, bound) || (!bound_.empty() && facts_.atMost(extreme(d, false), bound));
}

/// What a dimension is at least, or at most, by the ranges of the numbers that its symbols are bound to, one
/// symbol after another.
DimId Ranges::extreme(DimId d, bool isLeast) {
  std::vector<DimSym> symbols;
  dims_.collectSymbols(d, symbols);
  for (DimSym s : symbols) {
    const auto known = bound_.find(s);
    if (known == bound_.end()) continue;
    if (const std::optional<bool> rises = isRising(d, s))
      d = dims_.substitute(d, {{s, *rises == isLeast ? known->second.low : known->second.high}});
  }
  return d;
}

/// Whether a dimension never falls where the symbol rises, or never rises there: as its terms do, and the
/// sides of extremes.
std::optional<bool> Ranges::isRising(DimId d, DimSym s) {
  using types::DimAtomKind;
  const DimId next = dims_.add(dims_.symbol(s), dims_.constant(1));
  const DimId step = dims_.sub(dims_.substitute(d, {{s, next}}), d);
  if (dims_.isTooLarge(step)) return std::nullopt;
  if (!dims_.mentions(step, s)) {
    if (facts_.atLeast(step, 0)) return true;
    if (facts_.atMost(step, 0)) return false;
  }
  auto isOf = [&](types::DimAtomId id) {
    const types::DimAtom& atom = dims_.atom(id);
    return atom.symbol == s ||
           std::ranges::any_of(atom.args, [&](DimId side) { return dims_.mentions(side, s); });
  };
  std::optional<bool> all;
  for (const types::DimTerm& term : std::vector(dims_.terms(d))) {
    if (std::ranges::none_of(term.factors, isOf)) continue;
    if (term.factors.size() != 1) return std::nullopt;
    const types::DimAtom atom = dims_.atom(term.factors[0]);
    const bool isSymbol = atom.kind == DimAtomKind::Symbol;
    if (!isSymbol && atom.kind != DimAtomKind::Min && atom.kind != DimAtomKind::Max) return std::nullopt;
    for (DimId side : isSymbol ? std::vector{dims_.symbol(s)} : atom.args) {
      if (!dims_.mentions(side, s)) continue;
      const std::optional<bool> rises = isSymbol ? true : isRising(side, s);
      if (!rises || (all && *all != (*rises == (term.coefficient > 0)))) return std::nullopt;
      all = *rises == (term.coefficient > 0);
    }
  }
  return all;
}

static DimId greater(Ranges& ranges, types::DimStore& dims, DimId a, DimId b) {
  return ranges.isNoLess(a, b) ? a : ranges.isNoLess(b, a) ? b : dims.max(a, b);
}
static DimId lesser(Ranges& ranges, types::DimStore& dims, DimId a, DimId b) {
  return ranges.isNoLess(a, b) ? b : ranges.isNoLess(b, a) ? a : dims.min(a, b);
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
  const auto known = known_.find(v);
  if (known != known_.end()) return known->second;
  std::optional<Range> found = ofValue(v, depth - 1);
  return found ? found : Range{dims_.constant(INT64_MIN), dims_.constant(INT64_MAX)};
}

std::optional<Ranges::Range> Ranges::ofValue(ValueId v, int depth) {
  const Op* op = def(v);
  if (!op) return ofParameter(v, depth);
  auto isIt = [&](ValueId result) { return result == v; };
  const auto k =
      static_cast<size_t>(std::find_if(op->results.begin(), op->results.end(), isIt) - op->results.begin());
  switch (op->kind) {
  case OpKind::If:
    return outside(*op, ofEither(op->operands[0], terminator(f_, op->regions[0]).operands[k],
                                 terminator(f_, op->regions[1]).operands[k], depth / 2));
  case OpKind::Select: return ofEither(op->operands[0], op->operands[1], op->operands[2], depth / 2);
  case OpKind::Nest: return ofNestResult(*op, v, depth);
  default: return ofOp(*op, depth);
  }
}

/// The range of what a region of the op yields, without sizes that are found inside: another one each time.
std::optional<Ranges::Range> Ranges::outside(const Op& op, std::optional<Range> inside) {
  std::vector<DimSym> symbols;
  if (inside) {
    dims_.collectSymbols(inside->low, symbols);
    dims_.collectSymbols(inside->high, symbols);
  }
  if (symbols.empty()) return inside;
  std::unordered_set<DimSym> own;
  for (RegionId r : op.regions) {
    own.insert(f_.regions[r].dimParams.begin(), f_.regions[r].dimParams.end());
    forEachOp(f_, r, [&](OpId id) {
      own.insert(f_.ops[id].resultDims.begin(), f_.ops[id].resultDims.end());
      for (RegionId inner : f_.ops[id].regions)
        own.insert(f_.regions[inner].dimParams.begin(), f_.regions[inner].dimParams.end());
    });
  }
  auto isOwn = [&](DimSym s) { return own.contains(s); };
  if (std::ranges::none_of(symbols, isOwn)) return inside;
  const Range wider{extreme(inside->low, true), extreme(inside->high, false)};
  symbols.clear();
  dims_.collectSymbols(wider.low, symbols);
  dims_.collectSymbols(wider.high, symbols);
  return std::ranges::none_of(symbols, isOwn) ? std::optional(wider) : std::nullopt;
}

/// Each of the two where the condition lets it be.
std::optional<Ranges::Range> Ranges::ofEither(ValueId condition, ValueId yes, ValueId no, int depth) {
  auto rangeWhere = [&](ValueId v, bool holds) {
    const Mark before = mark();
    assume(condition, holds, depth);
    std::optional<Range> r = range(v, depth);
    leave(before);
    return r;
  };
  std::optional<Range> a = rangeWhere(yes, true), b = rangeWhere(no, false);
  if (!a || !b) return std::nullopt;
  return Range{lesser(*this, dims_, a->low, b->low), greater(*this, dims_, a->high, b->high)};
}

/// A read of integers whose array is computed here.
std::optional<Ranges::Range> Ranges::ofElement(const Op& op, int depth) {
  const Op* array = def(op.operands[0]);
  if (array && array->kind == OpKind::Nest) return ofNestResult(*array, op.operands[0], depth);
  if (!array || array->kind != OpKind::ArgSort) return std::nullopt;
  const DimId extent = types_[f_.typeOf(op.operands[0])].dims[0];
  return Range{dims_.constant(0), dims_.sub(extent, dims_.constant(1))};
}

/// What a nest collects, or where the best of its points stands; of an array, its elements.
std::optional<Ranges::Range> Ranges::ofNestResult(const Op& nest, ValueId result, int depth) {
  const NestView view(f_, nest);
  for (const NestPart& part : view.parts()) {
    const std::span<const ValueId> own = view.results(part);
    const auto at = std::find(own.begin(), own.end(), result);
    if (at == own.end()) continue;
    if (part.spec->kind == NestResultKind::Collect) return outside(nest, range(view.yields(part)[0], depth));
    if (!isPosition(*part.spec)) return std::nullopt;
    auto axis = static_cast<uint32_t>(at - own.begin()); // of those that are reduced
    const std::vector<uint32_t>& keep = part.spec->keep;
    for (uint32_t a = 0; a <= axis; ++a) axis += std::ranges::find(keep, a) != keep.end();
    const DimId extent = nest.dims[axis];
    return isExact(extent) ? std::optional(Range{dims_.constant(0), dims_.sub(extent, dims_.constant(1))})
                           : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Ranges::Range> Ranges::ofOp(const Op& op, int depth) {
  auto operand = [&](size_t k) { return range(op.operands[k], depth); };
  switch (op.kind) {
  case OpKind::DimValue:
    if (!isExact(op.dims[0])) return std::nullopt;
    return Range{op.dims[0], op.dims[0]};
  case OpKind::Length: return Range{dims_.constant(0), dims_.constant(types::maxExtent)};
  case OpKind::Add:
  case OpKind::Sub: return ofSum(op, depth);
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
  case OpKind::Get: return ofElement(op, depth);
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
  if (op.kind == OpKind::Max)
    return Range{greater(*this, dims_, a->low, b->low), greater(*this, dims_, a->high, b->high)};
  return Range{lesser(*this, dims_, a->low, b->low), lesser(*this, dims_, a->high, b->high)};
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

/// A carry that each iteration leaves or makes greater by a constant, while the condition holds it below a
/// limit. Of a loop whose body is being rewritten, which has no end then, nothing is known.
std::optional<Ranges::Range> Ranges::ofCarry(const Op& loop, uint32_t k, int depth) {
  const LoopView view(f_, loop);
  const std::vector<OpId>& body = f_.regions[view.body()].ops;
  if (body.empty() || f_.ops[body.back()].kind != OpKind::Yield) return std::nullopt;
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

/// `from` + the index of a loop of `to - from` iterations, or none if that is negative: it stays below `to`.
std::optional<Ranges::Range> Ranges::ofOffset(ValueId from, ValueId index, int depth) {
  const Value& value = f_.values[index];
  const OpId parent = value.def.valid() ? OpId() : f_.regions[value.region].parent;
  if (!parent.valid() || f_.ops[parent].kind != OpKind::For || value.index != 0) return std::nullopt;
  const Op* span = def(f_.ops[parent].operands[0]);
  if (span && span->kind == OpKind::Max && integer(span->operands[1]) == 0) span = def(span->operands[0]);
  if (!span || span->kind != OpKind::Sub || span->operands[1] != from) return std::nullopt;
  const Op* end = def(span->operands[0]); // of `max(to, from)` the loop that runs has `to`
  const bool isGreater = end && end->kind == OpKind::Max && end->operands[1] == from;
  std::optional<Range> first = range(from, depth),
                       to = range(isGreater ? end->operands[0] : span->operands[0], depth);
  if (!first || !to || !unwrapped({dims_.sub(to->low, first->high), dims_.sub(to->high, first->low)}))
    return std::nullopt;
  return Range{first->low, dims_.sub(to->high, dims_.constant(1))};
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

bool Ranges::isAtMost(ValueId v, int64_t bound) {
  std::optional<Range> r = range(v);
  return r && facts_.atMost(r->high, bound);
}

std::optional<DimId> Ranges::extentOf(ValueId v) {
  const std::optional<Range> r = range(v);
  if (!r || !facts_.atLeast(r->low, 0) || !facts_.atMost(r->high, types::maxExtent - 1)) return std::nullopt;
  return dims_.add(r->high, dims_.constant(1));
}

std::optional<DimId> Ranges::sizeOf(ValueId v) {
  std::optional<Range> r = range(v);
  return r && r->low == r->high ? std::optional(r->low) : std::nullopt;
}

bool Ranges::isNoLess(ValueId a, ValueId b) {
  std::optional<Range> x = range(a), y = range(b);
  return x && y && isNoLess(x->low, y->high);
}

std::optional<bool> Ranges::compared(const Op& cmp) {
  const ValueId a = cmp.operands[0], b = cmp.operands[1];
  if (f_.typeOf(a) != types_.int64()) return std::nullopt;
  const auto kind = static_cast<ops::CmpKind>(cmp.index());
  const bool isStrict = kind == ops::CmpKind::Lt || kind == ops::CmpKind::Gt;
  const bool isReversed = kind == ops::CmpKind::Le || kind == ops::CmpKind::Gt;
  if (!isStrict && kind != ops::CmpKind::Le && kind != ops::CmpKind::Ge) return std::nullopt;
  const std::optional<Range> x = range(isReversed ? b : a), y = range(isReversed ? a : b);
  if (!x || !y) return std::nullopt;
  if (isNoLess(x->low, y->high)) return !isStrict;
  const DimId above = dims_.add(x->high, dims_.constant(1));
  if (!dims_.isTooLarge(above) && isNoLess(y->low, above)) return isStrict;
  return std::nullopt;
}

} // namespace melix::core
