// What ranges know at a place: what ops and checks before say, and the conditions around.

#include "core/analysis/ranges.h"
#include "core/ir/flow.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <array>
#include <span>

namespace melix::core {

namespace {

/// So many extents, and choices among them are all looked at: they double with each.
constexpr size_t fewExtents = 4;

/// Calls `visit` with each choice of some of the dims; of more than a few only with all of them and each
/// alone.
template <class Visit>
void forEachChoice(std::span<const DimId> dims, Visit visit) {
  if (dims.size() > fewExtents) {
    for (size_t k = 0; k < dims.size(); ++k) visit(dims.subspan(k, 1));
    return visit(dims);
  }
  std::array<DimId, fewExtents> chosen;
  for (unsigned bits = 1; bits < 1u << dims.size(); ++bits) {
    size_t count = 0;
    for (size_t k = 0; k < dims.size(); ++k)
      if (bits >> k & 1) chosen[count++] = dims[k];
    visit(std::span<const DimId>(chosen.data(), count));
  }
}

} // namespace

Ranges::Ranges(types::TypeStore& types, const Function& f)
    : f_(f), types_(types), dims_(types.dims), facts_(types.dims) {
  for (ValueId v : f.params()) learnSizes(f.typeOf(v), 0);
  isEntry_ = false;
}

Ranges::Ranges(const Module& m, FunctionId f) : Ranges(*analysis<EntryRanges>(m, f)) {}

/// Whether bounds of the dims are bounds of one product each: what is known of others then adds nothing.
static bool areProducts(const types::DimStore& store, std::span<const DimId> dims) {
  return std::ranges::all_of(dims, [&](DimId d) { return store.terms(d).size() <= 1; });
}

/// Extents of one array: each is a size, and so is the product of those that are not 0. What is a number of
/// these is a factor of every such product.
void Ranges::learnExtents(std::vector<DimId> dims) {
  DimId number = dims_.constant(1);
  std::erase_if(dims, [&](DimId d) {
    const std::optional<int64_t> c = dims_.asConstant(d);
    if (c && *c > 0) number = dims_.mul(number, d);
    return c.has_value();
  });
  if (dims_.isTooLarge(number)) return;
  for (DimId d : dims) facts_.assumeAtLeast(d, 0);
  forEachChoice(dims, [&](std::span<const DimId> chosen) {
    facts_.assumeAtMost(dims_.mul(number, dims_.product(chosen)), types::maxExtent);
  });
}

/// Where an extent is 0 the others alone are the product.
bool Ranges::arrayFits(const Op& check) const {
  bool fits = true;
  std::vector<DimId> dims(check.dims);
  std::erase_if(dims, [&](DimId d) { return dims_.asConstant(d) == 0; });
  forEachChoice(dims, [&](std::span<const DimId> chosen) {
    fits = fits && facts_.atMost(dims_.product(chosen), types::maxExtent);
  });
  return fits && (dims.size() <= fewExtents ||
                  std::all_of(dims.begin(), dims.end(), [&](DimId d) { return facts_.atLeast(d, 1); }));
}

/// Sizes of the arrays in a value of this type, but for those that only some of its elements or cases have.
/// Gives whether to learn them once more, where more is known, would add nothing.
bool Ranges::learnSizes(TypeId type, int depth) {
  constexpr int deepest = 3;
  if (learned_.contains(type)) return true;
  const types::Type t = types_[type];
  bool isAll = true;
  if (t.kind == TypeKind::Array) {
    isAll = areProducts(dims_, t.dims);
    learnExtents(t.dims);
  } else if (depth == deepest) {
    return true;
  }
  if (t.kind == TypeKind::Tuple)
    for (TypeId part : t.parts) isAll &= learnSizes(part, depth + 1);
  if (t.kind == TypeKind::Struct)
    for (uint32_t k = 0; k < types_.recordInfo(t.record).cases[0].fields.size(); ++k)
      isAll &= learnSizes(types_.fieldType(type, 0, k), depth + 1);
  if (isEntry_ && isAll && (depth == 0 || t.kind == TypeKind::Array)) learned_.insert(type);
  return isAll;
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

/// Whether nothing comes after a region.
static bool panics(const Function& f, RegionId r) {
  return std::ranges::any_of(f.regions[r].ops, [&](OpId id) { return f.ops[id].kind == OpKind::Panic; });
}

void Ranges::define(const Op& op) {
  if (op.kind == OpKind::BindDim) {
    numbers_.insert_or_assign(op.resultDims[0], op.operands[0]);
    const std::optional<Range> r = range(op.operands[0]);
    if (!r) return;
    const DimId size = dims_.symbol(op.resultDims[0]);
    facts_.assumeAtLeast(size, facts_.of(r->low).low);
    facts_.assumeAtMost(size, facts_.of(r->high).high);
    bound_.insert_or_assign(op.resultDims[0], *r);
    sizes_.insert_or_assign(op.operands[0], size);
    return;
  }
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
    case CheckKind::Index:
      narrow(op.operands[0], dims_.constant(0), dims_.sub(op.dims[0], dims_.constant(1)), maxDepth);
      if (const std::optional<Range> r = range(op.operands[0]); r && isExact(op.dims[0]))
        facts_.assumeAtLeast(op.dims[0], facts_.of(r->low).low + 1);
      break;
    case CheckKind::Assert: assume(op.operands[0], true, maxDepth); break;
    default: break;
    }
    return;
  }
  if (op.kind == OpKind::If)
    for (bool holds : {true, false})
      if (panics(f_, op.regions[holds ? 1 : 0])) assume(op.operands[0], holds, maxDepth);
  if (!makesResults(op.kind)) return;
  // A sweep over a range runs as often as the i64 says that its extent wraps to.
  if (!std::all_of(op.dims.begin(), op.dims.end(), [&](DimId d) { return isExact(d); })) return;
  for (ValueId v : op.results) learnSizes(f_.typeOf(v), 0);
}

Ranges::Mark Ranges::enter(RegionId r) {
  const Mark mark = this->mark();
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
  if (op.kind == OpKind::If) assume(op.operands[0], r == op.regions[0], maxDepth);
  return mark;
}

Ranges::Mark Ranges::enter(ValueId condition, bool holds) {
  const Mark mark = this->mark();
  assume(condition, holds, maxDepth);
  return mark;
}

void Ranges::leave(Mark mark) {
  facts_.undo(mark.dims);
  orders_.erase(orders_.begin() + static_cast<long>(mark.orders), orders_.end());
  for (; trail_.size() > mark.values; trail_.pop_back()) {
    const auto& [v, before] = trail_.back();
    if (before)
      known_[v] = *before;
    else
      known_.erase(v);
  }
}

// --- conditions

/// What follows from a condition that is true, or false.
void Ranges::assume(ValueId condition, bool holds, int depth) {
  const Op* op = def(condition);
  if (!op || depth == 0) return;
  auto both = [&](ValueId a, ValueId b) {
    assume(a, holds, depth - 1);
    assume(b, holds, depth - 1);
  };
  if (op->kind == OpKind::Not) return assume(op->operands[0], !holds, depth - 1);
  if (op->kind == (holds ? OpKind::And : OpKind::Or)) return both(op->operands[0], op->operands[1]);
  if (op->kind == OpKind::If) { // `and` of two conditions has a false arm, `or` a true one
    const ValueId first = terminator(f_, op->regions[0]).operands[0],
                  second = terminator(f_, op->regions[1]).operands[0];
    if (holds && integer(second) == 0) return both(op->operands[0], first);
    if (!holds && integer(first) == 1) return both(op->operands[0], second);
  }
  if (op->kind == OpKind::Cmp && f_.typeOf(op->operands[0]) == types_.int64())
    assumeCompared(*op, holds, depth - 1);
}

void Ranges::assumeCompared(const Op& cmp, bool holds, int depth) {
  using ops::CmpKind;
  const ValueId a = cmp.operands[0], b = cmp.operands[1];
  const auto how = static_cast<CmpKind>(cmp.index());
  switch (how) {
  case CmpKind::Lt: return holds ? assumeNoLess(b, a, 1, depth) : assumeNoLess(a, b, 0, depth);
  case CmpKind::Gt: return holds ? assumeNoLess(a, b, 1, depth) : assumeNoLess(b, a, 0, depth);
  case CmpKind::Le: return holds ? assumeNoLess(b, a, 0, depth) : assumeNoLess(a, b, 1, depth);
  case CmpKind::Ge: return holds ? assumeNoLess(a, b, 0, depth) : assumeNoLess(b, a, 1, depth);
  default: break;
  }
  if (holds == (how == CmpKind::Eq)) {
    assumeNoLess(a, b, 0, depth);
    return assumeNoLess(b, a, 0, depth);
  }
  assumeOther(a, b, depth);
  assumeOther(b, a, depth);
}

/// a >= b + by.
void Ranges::assumeNoLess(ValueId a, ValueId b, int64_t by, int depth) {
  std::optional<Range> x = range(a, depth), y = range(b, depth);
  if (!x || !y) return;
  if (!integer(a) && !integer(b)) orders_.push_back({a, b, by});
  const DimId step = dims_.constant(by);
  if (x->low == x->high && y->low == y->high) facts_.assumeAtLeast(dims_.sub(x->low, y->low), by);
  narrow(a, dims_.add(y->low, step), std::nullopt, depth);
  narrow(b, std::nullopt, dims_.sub(x->high, step), depth);
}

/// Of two that differ one is beyond an end at which the other stands.
void Ranges::assumeOther(ValueId v, ValueId than, int depth) {
  const std::optional<int64_t> c = integer(than);
  const std::optional<Range> r = c ? range(v, depth) : std::nullopt;
  if (!r) return;
  const DimId one = dims_.constant(1);
  const bool isSize = r->low == r->high;
  if (facts_.atLeast(r->low, *c)) {
    if (isSize) facts_.assumeAtLeast(r->low, types::DimFacts::Wide(*c) + 1);
    narrow(v, dims_.add(dims_.constant(*c), one), std::nullopt, depth);
  } else if (facts_.atMost(r->high, *c)) {
    if (isSize) facts_.assumeAtMost(r->high, types::DimFacts::Wide(*c) - 1);
    narrow(v, std::nullopt, dims_.sub(dims_.constant(*c), one), depth);
  }
}

/// A range that is known holds within these ends too; of two ends that cannot be compared the new one is
/// kept.
void Ranges::narrow(ValueId v, std::optional<DimId> low, std::optional<DimId> high, int depth) {
  const std::optional<Range> now = range(v, depth);
  if (!now || now->low == now->high) return;
  Range next = *now;
  if (low && !dims_.isTooLarge(*low) && !isNoLess(next.low, *low)) next.low = *low;
  if (high && !dims_.isTooLarge(*high) && !isNoLess(*high, next.high)) next.high = *high;
  if (next.low == now->low && next.high == now->high) return;
  auto [at, fresh] = known_.try_emplace(v, next);
  trail_.emplace_back(v, fresh ? std::nullopt : std::optional(at->second));
  at->second = next;
}

} // namespace melix::core
