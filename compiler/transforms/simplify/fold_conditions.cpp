#include "transforms/simplify/folder.h"

#include "core/ir/walk.h"
#include "transforms/simplify/constant_choice.h"
#include "transforms/simplify/fold_scalars.h"

#include <algorithm>

namespace melix::transforms {

void Folder::enterArm(RegionId r) {
  const OpId parent = f_.regions[r].parent;
  if (!parent.valid()) return;
  const Op& op = f_.ops[parent];
  if (op.kind == OpKind::If) decide(op.operands[0], r == op.regions[0]);
  if (op.kind != OpKind::Match || isMatchOfEnum(m_, f_, op)) return;
  const std::vector<uint32_t>& regionOf = op.as<MatchAttr>().regionOf;
  const auto isHere = [&](uint32_t k) { return op.regions[k] == r; };
  if (std::ranges::count_if(regionOf, isHere) != 1 || isHere(regionOf.back())) return; // other numbers too
  decided_.emplace_back(op.operands[0], std::ranges::find_if(regionOf, isHere) - regionOf.begin());
}

void Folder::decide(ValueId condition, bool holds) {
  decided_.emplace_back(condition, holds);
  const OpId def = f_.values[condition].def;
  if (!def.valid()) return;
  const Op& op = f_.ops[def];
  if (op.kind == OpKind::Not) return decide(op.operands[0], !holds);
  if (op.kind != (holds ? OpKind::And : OpKind::Or)) return;
  for (ValueId each : op.operands) decide(each, holds);
}

std::optional<uint64_t> Folder::decidedBits(ValueId v) const {
  for (const auto& [known, bits] : decided_) {
    if (known == v) return bits;
    if (areOpposites(known, v)) return bits ^ 1;
  }
  return std::nullopt;
}

bool Folder::areOpposites(ValueId a, ValueId b) const {
  const Op *first = defOf(a, OpKind::Cmp), *second = defOf(b, OpKind::Cmp);
  return first && second && std::ranges::equal(first->operands, second->operands) &&
         types_.isInt(f_.typeOf(first->operands[0])) &&
         static_cast<ops::CmpKind>(second->index()) ==
             ops::inverse(static_cast<ops::CmpKind>(first->index()));
}

void Folder::useDecided(OpId id, Passed& out) {
  if (decided_.empty()) return;
  for (size_t k = 0; k < f_.ops[id].operands.size(); ++k) {
    const ValueId v = f_.ops[id].operands[k];
    if (types_.kind(f_.typeOf(v)) != TypeKind::Bool && f_.ops[id].kind != OpKind::Match) continue;
    const std::optional<uint64_t> bits = decidedBits(v);
    if (!bits) continue;
    make(id, out, [&](Builder& b) {
      const ValueId known = b.constant(f_.typeOf(v), *bits);
      uses_.change(id, [&](Op& own) { own.operands[k] = known; });
    });
  }
}

void Folder::compare(OpId id) {
  Op& op = f_.ops[id];
  const ValueId a = op.operands[0], b = op.operands[1];
  const auto kind = static_cast<ops::CmpKind>(op.index());
  const bool isEqual = kind == ops::CmpKind::Eq;
  auto become = [&](ops::CmpKind order) {
    op.attr = static_cast<uint32_t>(order);
    changed_ = true;
  };
  const bool areSizes = ranges_.sizeOf(a) && ranges_.sizeOf(b);
  if (f_.typeOf(a) == types_.int64() && (isEqual || kind == ops::CmpKind::Ne) && !areSizes) {
    if (ranges_.isNoLess(a, b))
      become(isEqual ? ops::CmpKind::Le : ops::CmpKind::Gt);
    else if (ranges_.isNoLess(b, a))
      become(isEqual ? ops::CmpKind::Ge : ops::CmpKind::Lt);
  }
  if (const std::optional<bool> always = ranges_.compared(op)) becomeConstant(id, *always);
}

bool Folder::compareCondition(OpId id) {
  const Op& op = f_.ops[id];
  const auto how = static_cast<ops::CmpKind>(op.index());
  if (types_.kind(f_.typeOf(op.operands[0])) != TypeKind::Bool ||
      (how != ops::CmpKind::Eq && how != ops::CmpKind::Ne))
    return false;
  for (size_t k : {0, 1}) {
    const std::optional<uint64_t> known = constantOf(op.operands[k]);
    if (!known) continue;
    const ValueId condition = op.operands[1 - k];
    if ((*known != 0) == (how == ops::CmpKind::Eq)) return replace(op, 0, condition), true;
    becomeNot(id, condition);
    return false;
  }
  return false;
}

bool Folder::compareChoice(OpId id, Passed& out) {
  const Op& op = f_.ops[id];
  const ConstantChoice choice(m_, f_, uses_);
  for (size_t k : {0, 1}) {
    const std::optional<uint64_t> other = constantOf(op.operands[1 - k]);
    if (!other || !choice.isOne(op.operands[k])) continue;
    auto compared = [&](uint64_t side) {
      const std::vector<uint64_t> sides = k == 0 ? std::vector{side, *other} : std::vector{*other, side};
      return foldScalar(op, types_.kind(f_.typeOf(op.operands[0])), TypeKind::Bool, sides);
    };
    if (!compared(*other)) continue;
    make(id, out, [&](Builder& b) {
      const auto holds = [&](uint64_t side) { return *compared(side) != 0; };
      replace(op, 0, choice.conditionWhere(b, op.operands[k], holds));
    });
    return true;
  }
  return false;
}

bool Folder::negate(OpId id, Passed& out) {
  const ValueId condition = f_.ops[id].operands[0];
  if (types_.kind(f_.typeOf(condition)) != TypeKind::Bool || !negation_.isConjunction(condition))
    return false;
  make(id, out, [&](Builder& b) { replace(f_.ops[id], 0, negation_.emit(b, condition)); });
  return true;
}

void Folder::compareMagnitude(OpId id, Passed& out) {
  using ops::CmpKind;
  const Op& op = f_.ops[id];
  if (op.kind != OpKind::Cmp || f_.typeOf(op.operands[0]) != types_.int64()) return;
  const auto how = static_cast<CmpKind>(op.index());
  const size_t side = defOf(op.operands[0], OpKind::Abs) ? 0 : 1;
  const Op* magnitude = defOf(op.operands[side], OpKind::Abs);
  if (!magnitude || how == CmpKind::Eq || how == CmpKind::Ne) return;
  const ValueId x = magnitude->operands[0], y = op.operands[1 - side];
  if (!ranges_.isAtLeast(x, -INT64_MAX)) return;
  const bool isBelow = (how == CmpKind::Lt || how == CmpKind::Le) == (side == 0);
  const bool isStrict = how == CmpKind::Lt || how == CmpKind::Gt;
  make(id, out, [&](Builder& b) {
    const CmpKind below = isStrict ? CmpKind::Lt : CmpKind::Le, above = isStrict ? CmpKind::Gt : CmpKind::Ge;
    const ValueId first = b.compare(isBelow ? below : above, x, y),
                  second = b.compare(isBelow ? above : below, x, b.unary(OpKind::Neg, y));
    uses_.change(id, [&](Op& own) {
      own.kind = isBelow ? OpKind::And : OpKind::Or;
      own.operands = {first, second};
      own.attr = {};
    });
  });
}

} // namespace melix::transforms
