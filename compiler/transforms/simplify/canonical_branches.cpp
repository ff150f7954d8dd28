#include "transforms/simplify/canonical_branches.h"

#include "core/analysis/range_forms.h"
#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

constexpr size_t few = 12;         ///< ops that cost no more than a branch
constexpr size_t mostTested = 8;   ///< regions of a match, in one branch after another
constexpr size_t mostCompared = 3; ///< compared to tell one of them

const Op* defOf(const Function& fn, ValueId v) {
  const OpId def = fn.values[v].def;
  return def.valid() ? &fn.ops[def] : nullptr;
}

bool isConstant(const Op& op) { return op.kind == OpKind::Const || op.kind == OpKind::Zero; }

} // namespace

bool isCheapOp(const Module& m, const Function& fn, const Op& op) {
  auto isNumber = [&](ValueId v) {
    return types::scalarClass(m.types.kind(fn.typeOf(v))) != types::ScalarClass::None;
  };
  if (!std::ranges::all_of(op.operands, isNumber) || !std::ranges::all_of(op.results, isNumber)) return false;
  switch (op.kind) {
  case OpKind::Const:
  case OpKind::DimValue:
  case OpKind::Yield: return true;
  case OpKind::IDiv:
  case OpKind::IRem: {
    const Op* divisor = defOf(fn, op.operands[1]);
    return divisor && divisor->kind == OpKind::Const && divisor->as<Constant>().bits != 0;
  }
  default: return flopsOf(op.kind) == 1;
  }
}

namespace {

/// Whether a region has only a few ops on scalars that may run whether the region is entered or not: it reads
/// no place and its divisors are not zero.
bool isCheap(const Module& m, const Function& fn, std::span<const OpId> ops) {
  return ops.size() <= few && std::ranges::all_of(ops, [&](OpId id) { return isCheapOp(m, fn, fn.ops[id]); });
}

/// Whether two values are the same, or constants of the same bits.
bool areEqual(const Function& fn, ValueId a, ValueId b) {
  if (a == b) return true;
  const Op *first = defOf(fn, a), *second = defOf(fn, b);
  if (!first || !second || first->kind != second->kind || fn.typeOf(a) != fn.typeOf(b)) return false;
  if (first->kind == OpKind::Zero) return true;
  if (first->kind != OpKind::Const) return false;
  const Constant &x = first->as<Constant>(), &y = second->as<Constant>();
  return x.bits == y.bits && x.text == y.text;
}

/// How much an arm computes: nothing but constants, values from before the branch, or more.
enum class Work : uint8_t { Constants, Values, Ops };
Work workOf(const Function& fn, RegionId arm) {
  const std::vector<OpId>& ops = fn.regions[arm].ops;
  const bool computes = std::ranges::any_of(std::span(ops).first(ops.size() - 1),
                                            [&](OpId id) { return !isConstant(fn.ops[id]); });
  if (computes) return Work::Ops;
  const bool areConstants = std::ranges::all_of(terminator(fn, arm).operands, [&](ValueId v) {
    const Op* def = defOf(fn, v);
    return def && isConstant(*def);
  });
  return areConstants ? Work::Constants : Work::Values;
}

/// Whether a region gives this condition and nothing else.
bool isAlways(const Function& fn, RegionId r, bool condition) {
  const Op* given = defOf(fn, terminator(fn, r).operands[0]);
  return given && given->kind == OpKind::Const && (given->as<Constant>().bits != 0) == condition &&
         workOf(fn, r) == Work::Constants;
}

/// Proves that a choice is an extremum: where the condition holds, and where it does not, the side that is
/// taken is no less, or no more, than the other.
class ExtremumProof {
public:
  ExtremumProof(const Function& fn, ValueId condition, ValueId yes, ValueId no, Ranges& ranges)
      : fn_(fn), condition_(condition), yes_(yes), no_(no), ranges_(ranges) {}

  std::optional<Extremum> extremum() const {
    if (const std::optional<Extremum> found = of(yes_, no_)) return found;
    const Op* cmp = defOf(fn_, condition_);
    if (!cmp || cmp->kind != OpKind::Cmp || fn_.typeOf(cmp->operands[0]) != fn_.typeOf(yes_))
      return std::nullopt;
    for (ValueId end : cmp->operands) {
      if (areSameWhere(false, no_, end))
        if (const std::optional<Extremum> found = of(yes_, end)) return found;
      if (areSameWhere(true, yes_, end))
        if (const std::optional<Extremum> found = of(end, no_)) return found;
    }
    return std::nullopt;
  }

private:
  std::optional<Extremum> of(ValueId yes, ValueId no) const {
    if (isNoLessWhere(true, yes, no) && isNoLessWhere(false, no, yes)) return Extremum{OpKind::Max, yes, no};
    if (isNoLessWhere(true, no, yes) && isNoLessWhere(false, yes, no)) return Extremum{OpKind::Min, yes, no};
    return std::nullopt;
  }
  bool isNoLessWhere(bool holds, ValueId a, ValueId b) const {
    const Ranges::Mark mark = ranges_.enter(condition_, holds);
    const bool is = ranges_.isNoLess(a, b) || isNoLessByOrder(ranges_, a, b);
    ranges_.leave(mark);
    return is;
  }
  bool areSameWhere(bool holds, ValueId a, ValueId b) const {
    return isNoLessWhere(holds, a, b) && isNoLessWhere(holds, b, a);
  }

  const Function& fn_;
  const ValueId condition_, yes_, no_;
  Ranges& ranges_;
};

} // namespace

std::optional<Connective> connectiveOf(const Module& m, const Function& fn, const Op& branch) {
  const bool isCondition = branch.results.size() == 1 && branch.resultDims.empty() &&
                           m.types.kind(fn.typeOf(branch.results[0])) == TypeKind::Bool;
  if (branch.kind != OpKind::If || !isCondition) return std::nullopt;
  auto mayRun = [&](RegionId r) { return isCheap(m, fn, fn.regions[r].ops); };
  if (isAlways(fn, branch.regions[1], false) && mayRun(branch.regions[0])) return Connective{OpKind::And, 0};
  if (isAlways(fn, branch.regions[0], true) && mayRun(branch.regions[1])) return Connective{OpKind::Or, 1};
  return std::nullopt;
}

std::optional<Extremum> extremumOf(const Module& m, const Function& fn, const Op& choice, Ranges& ranges) {
  const bool isBranch = choice.kind == OpKind::If;
  if (choice.results.size() != 1 || !choice.resultDims.empty() ||
      fn.typeOf(choice.results[0]) != m.types.int64())
    return std::nullopt;
  if (isBranch &&
      !std::ranges::all_of(choice.regions, [&](RegionId arm) { return isCheap(m, fn, fn.regions[arm].ops); }))
    return std::nullopt;
  const ValueId yes = isBranch ? terminator(fn, choice.regions[0]).operands[0] : choice.operands[1],
                no = isBranch ? terminator(fn, choice.regions[1]).operands[0] : choice.operands[2];
  const ExtremumProof proof(fn, choice.operands[0], yes, no, ranges);
  return proof.extremum();
}

std::optional<RegionTest> regionTestOf(const Module& m, const Function& fn, const Op& match) {
  using ops::CmpKind;
  const TypeKind kind = m.types.kind(fn.typeOf(match.operands[0]));
  const auto& attr = match.as<MatchAttr>();
  if (kind == TypeKind::Enum || match.regions.size() > mostTested) return std::nullopt;
  if (kind == TypeKind::Bool) return RegionTest{attr.of(1), CmpKind::Eq, {1}};
  for (uint32_t r : attr.regionOf) {
    if (r == attr.regionOf.back()) continue; // it takes all other numbers
    RegionTest test{r, CmpKind::Eq, {}};
    for (uint64_t k = 0; k < attr.regionOf.size(); ++k)
      if (attr.regionOf[k] == r) test.numbers.push_back(k);
    const uint64_t count = test.numbers.size();
    const bool areFirst = count > 1 && test.numbers.back() == count - 1;
    if (areFirst && types::scalarClass(kind) == types::ScalarClass::UInt)
      return RegionTest{r, CmpKind::Lt, {count}};
    if (count <= mostCompared) return test;
  }
  return std::nullopt;
}

std::optional<OpId> nestedBranch(const Module& m, const Function& fn, const Op& branch) {
  if (!branch.resultDims.empty() || branch.results.empty()) return std::nullopt;
  const std::vector<OpId>& ops = fn.regions[branch.regions[0]].ops;
  if (ops.size() < 2) return std::nullopt;
  const OpId last = ops[ops.size() - 2];
  const Op& inner = fn.ops[last];
  const Op &yields = fn.ops[ops.back()], &otherwise = terminator(fn, branch.regions[1]);
  const bool isLast = inner.kind == OpKind::If && inner.resultDims.empty() &&
                      std::ranges::equal(yields.operands, inner.results);
  if (!isLast || workOf(fn, branch.regions[1]) == Work::Ops || workOf(fn, inner.regions[1]) == Work::Ops ||
      !isCheap(m, fn, std::span(ops).first(ops.size() - 2)) ||
      !std::ranges::equal(otherwise.operands, terminator(fn, inner.regions[1]).operands,
                          [&](ValueId a, ValueId b) { return areEqual(fn, a, b); }))
    return std::nullopt;
  return last;
}

bool belongsLast(const Function& fn, const Op& choice) {
  if (choice.kind == OpKind::If) {
    const bool panics = std::ranges::any_of(fn.regions[choice.regions[1]].ops,
                                            [&](OpId id) { return fn.ops[id].kind == OpKind::Panic; });
    return !choice.results.empty() && !panics &&
           workOf(fn, choice.regions[0]) < workOf(fn, choice.regions[1]);
  }
  auto isConstantSide = [&](size_t k) {
    const Op* def = defOf(fn, choice.operands[k]);
    return def && isConstant(*def);
  };
  return isConstantSide(1) && !isConstantSide(2);
}

} // namespace melix::transforms
