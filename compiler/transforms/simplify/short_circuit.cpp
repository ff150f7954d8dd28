#include "transforms/simplify/short_circuit.h"

#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

constexpr size_t few = 12; ///< ops that cost no more than a branch

std::optional<uint64_t> constantOf(const Function& fn, ValueId v) {
  const OpId def = fn.values[v].def;
  if (!def.valid() || fn.ops[def].kind != OpKind::Const) return std::nullopt;
  return fn.ops[def].as<Constant>().bits;
}

/// Whether an op of numbers is cheap and has a value whatever its operands are.
bool isPlainOp(const Module& m, const Function& fn, const Op& op) {
  auto isNumber = [&](ValueId v) {
    return types::scalarClass(m.types.kind(fn.typeOf(v))) != types::ScalarClass::None;
  };
  if (!std::ranges::all_of(op.operands, isNumber) || !std::ranges::all_of(op.results, isNumber)) return false;
  switch (op.kind) {
  case OpKind::Const:
  case OpKind::DimValue:
  case OpKind::Yield: return true;
  case OpKind::IDiv:
  case OpKind::IRem: return constantOf(fn, op.operands[1]).value_or(0) != 0;
  default: return flopsOf(op.kind) == 1;
  }
}

/// Whether a region gives this condition and nothing else.
bool isAlways(const Function& fn, RegionId r, bool condition) {
  const std::optional<uint64_t> known = constantOf(fn, terminator(fn, r).operands[0]);
  auto isFixed = [&](OpId id) {
    return fn.ops[id].kind == OpKind::Const || fn.ops[id].kind == OpKind::Yield;
  };
  return known && (*known != 0) == condition && std::ranges::all_of(fn.regions[r].ops, isFixed);
}

} // namespace

std::optional<Connective> connectiveOf(const Module& m, const Function& fn, const Op& branch) {
  const bool isCondition = branch.results.size() == 1 && branch.resultDims.empty() &&
                           m.types.kind(fn.typeOf(branch.results[0])) == TypeKind::Bool;
  if (branch.kind != OpKind::If || !isCondition) return std::nullopt;
  auto mayRun = [&](RegionId r) {
    const std::vector<OpId>& ops = fn.regions[r].ops;
    return ops.size() <= few &&
           std::ranges::all_of(ops, [&](OpId id) { return isPlainOp(m, fn, fn.ops[id]); });
  };
  if (isAlways(fn, branch.regions[1], false) && mayRun(branch.regions[0])) return Connective{OpKind::And, 0};
  if (isAlways(fn, branch.regions[0], true) && mayRun(branch.regions[1])) return Connective{OpKind::Or, 1};
  return std::nullopt;
}

} // namespace melix::transforms
