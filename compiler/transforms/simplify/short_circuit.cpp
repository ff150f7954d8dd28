#include "transforms/simplify/short_circuit.h"

#include "core/ir/walk.h"
#include "transforms/simplify/canonical_branches.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

std::optional<uint64_t> constantOf(const Function& fn, ValueId v) {
  const OpId def = fn.values[v].def;
  if (!def.valid() || fn.ops[def].kind != OpKind::Const) return std::nullopt;
  return fn.ops[def].as<Constant>().bits;
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
  auto mayRun = [&](RegionId r) { return isCheap(m, fn, fn.regions[r].ops); };
  if (isAlways(fn, branch.regions[1], false) && mayRun(branch.regions[0])) return Connective{OpKind::And, 0};
  if (isAlways(fn, branch.regions[0], true) && mayRun(branch.regions[1])) return Connective{OpKind::Or, 1};
  return std::nullopt;
}

} // namespace melix::transforms
