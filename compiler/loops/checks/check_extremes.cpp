#include "loops/checks/check_extremes.h"

#include "loops/ir/overflow.h"

#include <algorithm>

namespace melix::loops {

using core::CheckKind;
using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int maxDepth = 24; ///< of statements that a condition is looked at through

CmpKind kindOf(const Stmt& cmp) { return static_cast<CmpKind>(cmp.as<ScalarAttr>().index); }

bool isOrder(CmpKind kind) { return kind != CmpKind::Eq && kind != CmpKind::Ne; }

bool areDisjoint(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
  return std::ranges::none_of(a, [&](ValueId v) { return std::ranges::binary_search(b, v); });
}

} // namespace

// --- what can be tested

bool CheckExtremes::isTestable(const CheckSlice::Check& check) {
  for (StmtId id : check.around) {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::For || !reach(s.operands[0], maxDepth) || !reach(s.operands[1], maxDepth))
      return false;
  }
  return isTestable(fn_.stmts[check.stmt].operands[0], maxDepth);
}

bool CheckExtremes::isTestable(ValueId condition, int depth) {
  if (isInvariant(condition, depth)) return true;
  const StmtId def = fn_.values[condition].def;
  if (depth == 0 || !def.valid() || fn_.stmts[def].kind != StmtKind::Scalar) return false;
  const Stmt& s = fn_.stmts[def];
  const auto& attr = s.as<ScalarAttr>();
  if (attr.op == OpKind::And && attr.from == TypeKind::Bool)
    return isTestable(s.operands[0], depth - 1) && isTestable(s.operands[1], depth - 1);
  if (attr.op != OpKind::Cmp || attr.from != TypeKind::I64 || !isOrder(kindOf(s))) return false;
  const std::optional<Indices>&a = reach(s.operands[0], depth - 1), &b = reach(s.operands[1], depth - 1);
  return a && b && areDisjoint(*a, *b);
}

bool CheckExtremes::isInvariant(ValueId v, int depth) {
  const std::optional<Indices>& r = reach(v, depth);
  return r && r->empty();
}

/// The indices that a value grows or falls with, and those that their ranges depend on; none if it is not
/// affine in them.
const std::optional<CheckExtremes::Indices>& CheckExtremes::reach(ValueId v, int depth) {
  if (const auto known = reaches_.find(v); known != reaches_.end()) return known->second;
  std::optional<Indices> found = findReach(v, depth);
  return reaches_.insert_or_assign(v, std::move(found)).first->second;
}

namespace {

std::vector<ValueId> unite(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
  std::vector<ValueId> out;
  std::ranges::set_union(a, b, std::back_inserter(out));
  return out;
}

} // namespace

std::optional<CheckExtremes::Indices> CheckExtremes::findReach(ValueId v, int depth) {
  if (!slice_.isInside(v)) return Indices{};
  if (depth == 0) return std::nullopt;
  if (const StmtId loop = slice_.loopOf(v); loop.valid()) {
    const std::optional<Indices> first = reach(fn_.stmts[loop].operands[0], depth - 1),
                                 end = reach(fn_.stmts[loop].operands[1], depth - 1);
    if (!first || !end) return std::nullopt;
    return unite(unite(*first, *end), {v});
  }
  const StmtId def = fn_.values[v].def;
  if (!def.valid()) return std::nullopt;
  const Stmt& s = fn_.stmts[def];
  if (s.kind == StmtKind::Const) return Indices{};
  return s.kind == StmtKind::Scalar ? ofScalar(s, depth) : std::nullopt;
}

std::optional<CheckExtremes::Indices> CheckExtremes::ofScalar(const Stmt& s, int depth) {
  const auto& attr = s.as<ScalarAttr>();
  if (std::ranges::all_of(s.operands, [&](ValueId v) { return isInvariant(v, depth - 1); })) return Indices{};
  if (attr.from != TypeKind::I64 || fn_.typeOf(s.results[0]) != indexType) return std::nullopt;
  const std::optional<Indices> a = reach(s.operands[0], depth - 1), b = reach(s.operands.back(), depth - 1);
  if (!a || !b) return std::nullopt;
  switch (attr.op) {
  case OpKind::Neg: return a;
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Min:
  case OpKind::Max: return areDisjoint(*a, *b) ? std::optional(unite(*a, *b)) : std::nullopt;
  case OpKind::Mul: return a->empty() ? b : b->empty() ? a : std::nullopt;
  default: return std::nullopt;
  }
}

// --- tests

ValueId CheckExtremes::test(const CheckSlice::Check& check) {
  ValueId runs;
  b_.loc = fn_.stmts[check.stmt].loc;
  for (StmtId id : check.around) {
    const ValueId first = fn_.stmts[id].operands[0], end = fn_.stmts[id].operands[1];
    const ValueId low = ends(first).low;
    require(runs, b_.compare(CmpKind::Lt, low, ends(end).high));
  }
  const ValueId no = b_.scalar(OpKind::Not, {runs}, TypeKind::Bool, TypeKind::Bool);
  return b_.either(no, holds(fn_.stmts[check.stmt].operands[0]));
}

ValueId CheckExtremes::holds(ValueId condition) {
  if (isInvariant(condition, maxDepth)) return invariant(condition);
  const Stmt s = fn_.stmts[fn_.values[condition].def];
  if (s.as<ScalarAttr>().op == OpKind::And) {
    const ValueId first = holds(s.operands[0]);
    return b_.both(first, holds(s.operands[1]));
  }
  const Ends a = ends(s.operands[0]), b = ends(s.operands[1]);
  const CmpKind kind = kindOf(s);
  const bool isLess = kind == CmpKind::Lt || kind == CmpKind::Le;
  return b_.compare(kind, isLess ? a.high : a.low, isLess ? b.low : b.high);
}

CheckExtremes::Ends CheckExtremes::ends(ValueId v) {
  if (const auto known = ends_.find(v); known != ends_.end()) return known->second;
  const Ends found = findEnds(v);
  ends_.emplace(v, found);
  return found;
}

CheckExtremes::Ends CheckExtremes::findEnds(ValueId v) {
  if (isInvariant(v, maxDepth)) {
    const ValueId same = invariant(v);
    return {same, same};
  }
  if (const StmtId loop = slice_.loopOf(v); loop.valid()) {
    const ValueId first = fn_.stmts[loop].operands[0], end = fn_.stmts[loop].operands[1];
    const ValueId low = ends(first).low;
    return {low, b_.arith(OpKind::Sub, ends(end).high, b_.integer(1))};
  }
  return ofArithmetic(fn_.stmts[fn_.values[v].def]);
}

CheckExtremes::Ends CheckExtremes::ofArithmetic(const Stmt& stmt) {
  const Stmt s = stmt; // statements are added
  const OpKind op = s.as<ScalarAttr>().op;
  const Ends a = ends(s.operands[0]), b = ends(s.operands.back());
  auto exact = [&](CheckKind check, ValueId x, ValueId y) { return exactly(check, op, x, y); };
  switch (op) {
  case OpKind::Add:
    return {exact(CheckKind::AddFits, a.low, b.low), exact(CheckKind::AddFits, a.high, b.high)};
  case OpKind::Sub:
    return {exact(CheckKind::SubFits, a.low, b.high), exact(CheckKind::SubFits, a.high, b.low)};
  case OpKind::Neg: {
    const ValueId zero = b_.integer(0);
    return {exactly(CheckKind::SubFits, OpKind::Sub, zero, a.high),
            exactly(CheckKind::SubFits, OpKind::Sub, zero, a.low)};
  }
  case OpKind::Mul: { // one of them is the same at all points
    const ValueId x = exact(CheckKind::MulFits, a.low, b.low), y = exact(CheckKind::MulFits, a.high, b.high);
    return {b_.arith(OpKind::Min, x, y), b_.arith(OpKind::Max, x, y)};
  }
  default: return {b_.arith(op, a.low, b.low), b_.arith(op, a.high, b.high)}; // min, max
  }
}

ValueId CheckExtremes::exactly(CheckKind check, OpKind op, ValueId a, ValueId b) {
  require(exact_, resultFits(b_, check, {a, b}, TypeKind::I64));
  return b_.arith(op, a, b);
}

/// A value that is the same at all points, before them.
ValueId CheckExtremes::invariant(ValueId v) {
  if (!slice_.isInside(v)) return v;
  if (const auto known = copies_.find(v); known != copies_.end()) return known->second;
  const Stmt s = fn_.stmts[fn_.values[v].def];
  std::vector<ValueId> operands;
  for (ValueId operand : s.operands) operands.push_back(invariant(operand));
  return copies_[v] = b_.value(s.kind, std::move(operands), fn_.typeOf(v), s.attr);
}

} // namespace melix::loops
