#include "core/analysis/predicate.h"

#include "core/analysis/range_forms.h"

#include <algorithm>

namespace melix::core {

using ops::CmpKind;

namespace {

/// Sides of comparisons that are added up are no larger, so that the sums do not wrap.
constexpr int64_t largestSide = int64_t(1) << 56;
constexpr size_t mostEnds = 8; ///< comparisons that are added up

const Op* defOf(const Function& f, ValueId v) {
  const OpId def = f.values[v].def;
  return def.valid() ? &f.ops[def] : nullptr;
}

void addConjuncts(const Function& f, ValueId condition, std::vector<ValueId>& out) {
  const Op* op = defOf(f, condition);
  if (!op || op->kind != OpKind::And) return out.push_back(condition);
  for (ValueId each : op->operands) addConjuncts(f, each, out);
}

} // namespace

std::vector<ValueId> conjunctsOf(const Function& f, ValueId condition) {
  std::vector<ValueId> out;
  addConjuncts(f, condition, out);
  return out;
}

const Op* i64Comparison(const Module& m, const Function& f, ValueId condition) {
  const Op* op = defOf(f, condition);
  return op && op->kind == OpKind::Cmp && f.typeOf(op->operands[0]) == m.types.int64() ? op : nullptr;
}

namespace {

AffineForm renamed(AffineForm form, FunctionRef<ValueId(ValueId)> nameOf) {
  if (!nameOf) return form;
  for (auto [axis, factor] : std::exchange(form.axes, {})) form.axes.add(nameOf(axis), factor);
  return form;
}

/// Whether the form does not wrap: its terms are axes and sizes that are symbols, all of which are small.
bool cannotWrap(const types::DimStore& dims, const AffineForm& form) {
  return isSmall(form) && form.outside.empty() && std::ranges::all_of(form.dims, [&](const auto& term) {
           return dims.asSymbol(term.first).has_value();
         });
}

int64_t firstFactor(const AffineForm& form) {
  return !form.axes.empty() ? form.axes.begin()->second : !form.dims.empty() ? form.dims.begin()->second : 1;
}

/// The difference of the sides, which is compared with 0.
AffineComparison canonical(CmpKind how, const AffineForm& left, const AffineForm& right) {
  const bool isBelow = how == CmpKind::Lt || how == CmpKind::Le;
  const bool isStrict = how == CmpKind::Lt || how == CmpKind::Gt;
  AffineComparison out{how, isBelow ? right : left, {}};
  out.left.add(isBelow ? left : right, -1);
  if (!out.isOrder()) {
    const AffineForm difference = std::exchange(out.left, {});
    out.left.add(difference, firstFactor(difference) < 0 ? -1 : 1);
    return out;
  }
  out.how = CmpKind::Ge;
  out.left.constant -= isStrict;
  return out;
}

} // namespace

std::set<ValueId> AffineComparison::axes() const {
  std::set<ValueId> out;
  for (const AffineForm* side : {&left, &right})
    for (auto [axis, factor] : side->axes) out.insert(axis);
  return out;
}

std::optional<AffineComparison> affineComparison(const Module& m, const Function& f, ValueId condition,
                                                 const AffineReading& reading,
                                                 FunctionRef<ValueId(ValueId)> nameOf) {
  const Op* op = i64Comparison(m, f, condition);
  const types::DimStore& dims = m.types.dims;
  const auto sideOf = [&](size_t k) { return affineForm(dims, f, op->operands[k], reading); };
  const std::optional<AffineForm> a = op ? sideOf(0) : std::nullopt, b = a ? sideOf(1) : std::nullopt;
  if (!b) return std::nullopt;
  const auto how = static_cast<CmpKind>(op->index());
  const AffineForm left = renamed(*a, nameOf), right = renamed(*b, nameOf);
  return cannotWrap(dims, left) && cannotWrap(dims, right) ? canonical(how, left, right)
                                                           : AffineComparison{how, left, right};
}

std::optional<AffinePredicate> affinePredicate(const Module& m, const Function& f, ValueId condition,
                                               const AffineReading& reading,
                                               FunctionRef<ValueId(ValueId)> nameOf) {
  AffinePredicate out;
  for (ValueId each : conjunctsOf(f, condition)) {
    std::optional<AffineComparison> atom = affineComparison(m, f, each, reading, nameOf);
    if (!atom) return std::nullopt;
    out.insert(std::move(*atom));
  }
  return out;
}

std::optional<AffinePredicate> predicateOfAxes(const Module& m, const Function& f, const KnownSizes& sizes,
                                               OpId nest, ValueId condition,
                                               FunctionRef<bool(ValueId)> isAxis,
                                               FunctionRef<ValueId(ValueId)> nameOf) {
  types::DimStore& dims = m.types.dims;
  auto ofSymbol = [&](DimSym s) { return std::optional(AffineForm::ofSize(dims, dims.symbol(s))); };
  auto ofSize = [&](DimId d) { return std::optional(affineForm(dims, d, ofSymbol)); };
  auto opens = [&](const Op& op, int) {
    return op.kind != OpKind::DimValue || sizes.areDefinedBefore(m, op, nest);
  };
  return affinePredicate(m, f, condition, {isAxis, [](ValueId) { return false; }, ofSize, opens}, nameOf);
}

Negation::Form Negation::formOf(ValueId condition, int depth) {
  const Op* op = defOf(f_, condition);
  if (!op || depth == 0) return Form::Not;
  switch (op->kind) {
  case OpKind::Cmp:
    return types::isIntKind(m_.types.kind(f_.typeOf(op->operands[0]))) ? Form::Conjunction : Form::Not;
  case OpKind::Not: return Form::Conjunction;
  case OpKind::Or: return std::max(formOf(op->operands[0], depth - 1), formOf(op->operands[1], depth - 1));
  case OpKind::And: return ends(condition).empty() ? Form::Disjunction : Form::Conjunction;
  default: return Form::Not;
  }
}

ValueId Negation::emit(Builder& b, ValueId condition, int depth) {
  const Op* op = defOf(f_, condition);
  if (formOf(condition, depth) != Form::Conjunction) return b.unary(OpKind::Not, condition);
  const Operands sides = op->operands;
  switch (op->kind) {
  case OpKind::Cmp: return b.compare(ops::inverse(static_cast<CmpKind>(op->index())), sides[0], sides[1]);
  case OpKind::Not: return sides[0];
  case OpKind::Or: {
    const ValueId first = emit(b, sides[0], depth - 1), second = emit(b, sides[1], depth - 1);
    return b.binary(OpKind::And, first, second);
  }
  default: {
    const std::vector<Order> all = ends(condition);
    const ValueId left = sum(b, all, &Order::left);
    ValueId right = sum(b, all, &Order::right);
    const auto stricts = std::ranges::count_if(all, &Order::isStrict);
    if (stricts > 0) right = b.binary(OpKind::Add, right, b.integer(stricts));
    return b.compare(CmpKind::Lt, left, right);
  }
  }
}

/// The conjuncts as orders, if each holds only where its left side is at the end of its range: there it is no
/// more than the right side requires.
std::vector<Negation::Order> Negation::ends(ValueId condition) {
  const std::vector<ValueId> all = conjunctsOf(f_, condition);
  if (all.size() > mostEnds) return {};
  auto isSmall = [&](ValueId v) {
    return ranges_.isAtLeast(v, -largestSide) && ranges_.isAtMost(v, largestSide);
  };
  std::vector<Order> out;
  for (ValueId each : all) {
    const Op* op = i64Comparison(m_, f_, each);
    if (!op) return {};
    const auto how = static_cast<CmpKind>(op->index());
    if (how == CmpKind::Eq || how == CmpKind::Ne) return {};
    const bool isBelow = how == CmpKind::Lt || how == CmpKind::Le;
    const Order order{op->operands[isBelow ? 1 : 0], op->operands[isBelow ? 0 : 1],
                      how == CmpKind::Lt || how == CmpKind::Gt};
    if (!isSmall(order.left) || !isSmall(order.right) ||
        !isNoLessByOrder(ranges_, order.right, order.left, order.isStrict ? -1 : 0))
      return {};
    out.push_back(order);
  }
  return out;
}

ValueId Negation::sum(Builder& b, const std::vector<Order>& ends, ValueId Order::* side) {
  ValueId all;
  for (const Order& end : ends) all = all.valid() ? b.binary(OpKind::Add, all, end.*side) : end.*side;
  return all;
}

} // namespace melix::core
