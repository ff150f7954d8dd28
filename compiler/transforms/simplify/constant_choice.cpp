#include "transforms/simplify/constant_choice.h"

#include "core/ir/walk.h"
#include "transforms/simplify/canonical_branches.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

constexpr size_t mostChosen = 8; ///< constants, and rematerialised ops
constexpr size_t mostExits = 2;  ///< of how control left: what runs then stays behind branches

/// For a time: the arms of a branch, in which what they choose between may be made.
struct Within {
  Within(std::vector<RegionId>& arms, const Function& f, OpId branch) : arms(arms), before(arms.size()) {
    arms.insert(arms.end(), f.ops[branch].regions.begin(), f.ops[branch].regions.end());
  }
  ~Within() { arms.resize(before); }
  std::vector<RegionId>& arms;
  size_t before;
};

} // namespace

bool ConstantChoice::isOne(ValueId v) const {
  std::vector<RegionId> arms;
  size_t left = m_.types.kind(f_.typeOf(v)) == types::TypeKind::Exit ? mostExits : mostChosen;
  return choiceOf(v) && isOne(v, arms, left);
}

ValueId ConstantChoice::conditionWhere(Builder& b, ValueId v, FunctionRef<bool(uint64_t)> holds) const {
  std::vector<RegionId> arms;
  const Condition all = where(b, v, arms, holds);
  return all.always ? b.boolean(*all.always) : all.value;
}

std::optional<ConstantChoice::Choice> ConstantChoice::choiceOf(ValueId v) const {
  const OpId def = f_.values[v].def;
  if (!def.valid()) return std::nullopt;
  const Op& op = f_.ops[def];
  if (op.kind == OpKind::Select) return Choice{op.operands[0], op.operands[1], op.operands[2], def};
  if (op.kind != OpKind::If) return std::nullopt;
  const uint32_t k = f_.values[v].index;
  return Choice{op.operands[0], terminator(f_, op.regions[0]).operands[k],
                terminator(f_, op.regions[1]).operands[k], def};
}

bool ConstantChoice::isConstant(ValueId v) const {
  const OpId def = f_.values[v].def;
  return def.valid() && f_.ops[def].kind == OpKind::Const &&
         m_.types.kind(f_.typeOf(v)) != types::TypeKind::Str;
}

bool ConstantChoice::isOne(ValueId v, std::vector<RegionId>& arms, size_t& left) const {
  if (left == 0) return false;
  if (isConstant(v)) return --left, true;
  const std::optional<Choice> choice = choiceOf(v);
  if (!choice || !canRepeat(arms, choice->condition, left)) return false;
  const Within within(arms, f_, choice->branch);
  return isOne(choice->yes, arms, left) && isOne(choice->no, arms, left);
}

bool ConstantChoice::isMadeIn(std::span<const RegionId> arms, ValueId v) const {
  return std::ranges::find(arms, uses_.homeOf(v)) != arms.end();
}

bool ConstantChoice::canRepeat(std::span<const RegionId> arms, ValueId v, size_t& left) const {
  if (!isMadeIn(arms, v)) return true;
  const OpId def = f_.values[v].def;
  if (left == 0 || !def.valid() || !f_.ops[def].dims.empty() || !isCheapOp(m_, f_, f_.ops[def])) return false;
  --left;
  return std::ranges::all_of(f_.ops[def].operands, [&](ValueId each) { return canRepeat(arms, each, left); });
}

ValueId ConstantChoice::repeated(Builder& b, std::span<const RegionId> arms, ValueId v) const {
  if (!isMadeIn(arms, v)) return v;
  const Op& op = f_.ops[f_.values[v].def];
  Op copy = Builder::simple(op.kind, {}, op.attr);
  for (ValueId each : op.operands) copy.operands.push_back(repeated(b, arms, each));
  return b.one(std::move(copy), f_.typeOf(v));
}

ConstantChoice::Condition ConstantChoice::where(Builder& b, ValueId v, std::vector<RegionId>& arms,
                                                FunctionRef<bool(uint64_t)> holds) const {
  if (isConstant(v)) return {holds(f_.ops[f_.values[v].def].as<Constant>().bits), {}};
  const Choice choice = *choiceOf(v);
  const ValueId condition = repeated(b, arms, choice.condition);
  const Within within(arms, f_, choice.branch);
  const Condition yes = where(b, choice.yes, arms, holds), no = where(b, choice.no, arms, holds);
  if (yes.always && no.always && *yes.always == *no.always) return yes;
  if (!yes.always && !no.always) return {{}, b.select(condition, yes.value, no.value)};
  // One side is known: the condition, or its negation, decides alone or with the other side.
  const bool known = yes.always ? *yes.always : *no.always;
  const bool isDirect = yes.always.has_value() == known;
  const ValueId decides = isDirect ? condition : b.unary(OpKind::Not, condition);
  if (yes.always && no.always) return {{}, decides};
  return {{}, b.binary(known ? OpKind::Or : OpKind::And, decides, yes.always ? no.value : yes.value)};
}

} // namespace melix::transforms
