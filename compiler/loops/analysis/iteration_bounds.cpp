#include "loops/analysis/iteration_bounds.h"

#include "loops/ir/clone.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int deepest = 16;                ///< operations between a loop's end and a constant
constexpr uint64_t longestBlock = 1 << 13; ///< terms of a sum

} // namespace

std::vector<ValueId> conjuncts(const Function& fn, ValueId condition) {
  const Stmt* s = scalarOf(fn, condition);
  if (!s || s->as<ScalarAttr>().op != OpKind::And || s->as<ScalarAttr>().from != TypeKind::Bool)
    return {condition};
  std::vector<ValueId> out = conjuncts(fn, s->operands[0]);
  for (ValueId v : conjuncts(fn, s->operands[1])) out.push_back(v);
  return out;
}

void dropProvenConjuncts(Function& fn, StmtId branch, RegionId home, FunctionRef<bool(ValueId)> holds) {
  std::vector<ValueId> left = conjuncts(fn, fn.stmts[branch].operands[0]);
  if (std::erase_if(left, holds) == 0) return;
  Builder b(fn);
  b.loc = fn.stmts[branch].loc;
  if (!left.empty()) {
    const RegionId made = b.begin();
    ValueId all = left[0];
    for (size_t k = 1; k < left.size(); ++k) all = b.both(all, left[k]);
    b.end();
    splice(fn, made, home, placeOf(fn, home, branch));
    fn.stmts[branch].operands[0] = all;
    return;
  }
  const RegionId yes = fn.stmts[branch].regions[0];
  const std::vector<ValueId> yields = fn.stmts[fn.regions[yes].stmts.back()].operands;
  for (size_t k = 0; k < yields.size(); ++k) replaceUses(fn, home, fn.stmts[branch].results[k], yields[k]);
  splice(fn, yes, home, placeOf(fn, home, branch));
  std::erase(fn.regions[home].stmts, branch);
}

ValueId emitFitsWithoutOverflow(Builder& b, ValueId v) {
  return b.both(b.compare(CmpKind::Le, v, b.integer(smallNumber)),
                b.compare(CmpKind::Ge, v, b.integer(-smallNumber)));
}

// --- rows
// ----------------------------------------------------------------------------------------------------------

MaskRange::MaskRange(Builder& b, StmtId loop, StmtId around)
    : b_(b), fn_(b.fn), loop_(loop), around_(around) {
  inside_ = regionsWithin(fn_, fn_.stmts[around.valid() ? around : loop].regions[0]);
}

bool MaskRange::isWithin(ValueId v) const { return inside_.contains(fn_.values[v].region); }

/// Over the row, loop indices and values from outside.
std::optional<LinearForm> MaskRange::formOf(ValueId v) const {
  const ValueId index = row();
  return linearForm(fn_, v, [&](ValueId x) { return x == index || !isWithin(x) || !scalarOf(fn_, x); });
}

std::optional<StmtId> MaskRange::loopOf(ValueId index) const {
  if (around_.valid() && fn_.regions[fn_.stmts[around_].regions[0]].params[0] == index) return around_;
  for (RegionId r : inside_)
    for (StmtId id : fn_.regions[r].stmts)
      if (fn_.stmts[id].kind == StmtKind::For && fn_.regions[fn_.stmts[id].regions[0]].params[0] == index)
        return id;
  return std::nullopt;
}

/// What does not change in the loop, where the builder stands.
std::optional<ValueId> MaskRange::fromOutside(ValueId v) {
  if (const uint64_t* known = asConstant(fn_, v)) {
    if (*known > static_cast<uint64_t>(smallNumber)) return std::nullopt;
    return b_.integer(static_cast<int64_t>(*known));
  }
  if (isWithin(v)) return std::nullopt;
  requireSmall(v);
  return v;
}

/// Whether a number is not negative as far as its form shows, in which nothing wraps: loops inside count, and
/// blocks of their sums begin at multiples.
bool MaskRange::isNatural(ValueId v, int depth) const {
  if (const uint64_t* known = asConstant(fn_, v)) return *known <= static_cast<uint64_t>(smallNumber);
  if (depth == 0) return false;
  const auto isFine = [&](ValueId of) { return isNatural(of, depth - 1); };
  if (const std::optional<StmtId> loop = loopOf(v)) return isFine(fn_.stmts[*loop].operands[0]);
  const Stmt* s = scalarOf(fn_, v);
  if (!s || s->as<ScalarAttr>().from != TypeKind::I64) return false;
  switch (s->as<ScalarAttr>().op) {
  case OpKind::Mul: return isBlock(s->operands[0], s->operands[1], depth);
  case OpKind::IDiv:
  case OpKind::IRem:
  case OpKind::Min: return std::ranges::all_of(s->operands, isFine);
  case OpKind::Max: return std::ranges::any_of(s->operands, isFine);
  default: return false;
  }
}
/// So many blocks of a constant length.
bool MaskRange::isBlock(ValueId count, ValueId length, int depth) const {
  const uint64_t* known = asConstant(fn_, length);
  const Stmt* s = scalarOf(fn_, count);
  const bool isProduct = s && s->as<ScalarAttr>().op == OpKind::Mul;
  return known && *known <= longestBlock && !isProduct && isNatural(count, depth - 1);
}

/// The first index of a loop inside, or the last: what it is at least, or at most. That of a part of a sum is
/// a multiple of how many it has.
std::optional<ValueId> MaskRange::endOf(StmtId loop, bool last) {
  const ValueId end = fn_.stmts[loop].operands[last ? 1 : 0];
  std::optional<ValueId> at = fromOutside(end);
  const Stmt* s = scalarOf(fn_, end);
  if (!at && s && s->as<ScalarAttr>().op == (last ? OpKind::Min : OpKind::Max))
    for (ValueId v : std::vector(s->operands))
      if (!at) at = fromOutside(v);
  if (!at && !last && isNatural(end, deepest)) at = b_.integer(0);
  if (at && last) at = b_.arith(OpKind::Sub, *at, b_.integer(1));
  return at;
}

void MaskRange::requireSmall(ValueId v) {
  if (std::ranges::find(small_, v) != small_.end()) return;
  if (const uint64_t* known = asConstant(fn_, v); known && *known <= static_cast<uint64_t>(smallNumber))
    return;
  const ValueId is = emitFitsWithoutOverflow(b_, v);
  isExact_ = isExact_.valid() ? b_.both(isExact_, is) : is;
}

/// The least or greatest that the form without the row is at any iteration of the loops inside.
std::optional<ValueId> MaskRange::extreme(const LinearForm& form, bool greatest) {
  ValueId sum = b_.integer(form.constant);
  for (auto [v, factor] : form.terms) {
    if (v == row()) continue;
    std::optional<ValueId> at;
    if (!isWithin(v)) {
      at = fromOutside(v);
    } else if (const std::optional<StmtId> loop = loopOf(v)) {
      at = endOf(*loop, greatest == (factor > 0));
    }
    if (!at) return std::nullopt;
    sum = b_.arith(OpKind::Add, sum, b_.arith(OpKind::Mul, *at, b_.integer(factor)));
  }
  return sum;
}

/// Whether the order of two sums is that of their difference to 0. They are compared modulo 2^64, so neither
/// may wrap: their terms are small, and a term of which that is not tested does not cancel out.
bool MaskRange::canCompare(const LinearForm& a, const LinearForm& b) const {
  auto cancels = [&](const auto& term) {
    return isWithin(term.first) && b.factorOf(term.first) == term.second;
  };
  return isSmall(a) && isSmall(b) && std::ranges::none_of(a.terms, cancels);
}

bool MaskRange::take(ValueId condition, bool holds) {
  const Stmt* s = scalarOf(fn_, condition);
  if (!s || s->as<ScalarAttr>().op != OpKind::Cmp || s->as<ScalarAttr>().from != TypeKind::I64) return false;
  const auto asked = static_cast<CmpKind>(s->as<ScalarAttr>().index);
  const CmpKind how = holds ? asked : ops::inverse(asked);
  const std::vector<ValueId> sides = s->operands;
  const bool isBelow = how == CmpKind::Lt || how == CmpKind::Le;
  if (!isBelow && how != CmpKind::Gt && how != CmpKind::Ge) return false;
  // below: left - right < 0 or <= 0; else right - left
  const std::optional<LinearForm> lesser = formOf(sides[isBelow ? 0 : 1]),
                                  greater = formOf(sides[isBelow ? 1 : 0]);
  if (!lesser || !greater || !canCompare(*lesser, *greater)) return false;
  LinearForm form = *lesser;
  form.add(*greater, -1);
  const int64_t byRow = form.factorOf(row());
  if (!isSmall(form) || (byRow != 1 && byRow != -1)) return false;
  if (how == CmpKind::Lt || how == CmpKind::Gt) ++form.constant;
  const std::optional<ValueId> most = extreme(form, true); // row + most <= 0, or most <= row
  if (!most) return false;
  for (const LinearForm* side : {&*lesser, &*greater})
    for (const auto& term : side->terms)
      if (!isWithin(term.first)) requireSmall(term.first);
  const bool isLeast = byRow < 0;
  bounds_.push_back({isLeast ? *most : b_.arith(OpKind::Sub, b_.integer(0), *most), isLeast});
  return true;
}

std::optional<ValueId> MaskRange::leastAt(ValueId v, ValueId at) {
  const std::optional<LinearForm> form = formOf(v);
  const std::optional<ValueId> rest = form && isSmall(*form) ? extreme(*form, false) : std::nullopt;
  if (!rest) return std::nullopt;
  requireSmall(at);
  return b_.arith(OpKind::Add, *rest, b_.arith(OpKind::Mul, at, b_.integer(form->factorOf(row()))));
}

MaskRange::Rows MaskRange::rows() {
  const ValueId begin = fn_.stmts[loop_].operands[0], stop = fn_.stmts[loop_].operands[1];
  Rows out{begin, stop};
  requireSmall(begin);
  requireSmall(stop);
  for (const Bound& bound : bounds_)
    if (bound.isLeast)
      out.first = b_.arith(OpKind::Max, out.first, bound.row);
    else
      out.end = b_.arith(OpKind::Min, out.end, b_.arith(OpKind::Add, bound.row, b_.integer(1)));
  out.first = b_.arith(OpKind::Min, out.first, stop);
  if (isExact_.valid()) out.first = b_.select(isExact_, out.first, stop);
  out.end = b_.arith(OpKind::Max, out.end, out.first);
  return out;
}

} // namespace melix::loops
