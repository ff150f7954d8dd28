#include "transforms/predication/speculate_loads.h"

#include "transforms/analysis/axis_variance.h"
#include "transforms/walks/speculation.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

class LoadSpeculator {
public:
  LoadSpeculator(Module& m, FunctionId f, const FreeingFacts& facts)
      : m_(m), f_(f), undefined_(facts.undefined) {
    findInner(fn().body, false);
  }

  void nest(OpId id, Ranges& ranges) {
    if (isSum(id)) branchesOf(id, ranges);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// Nests in the body of others.
  void findInner(RegionId r, bool isInNest) {
    for (OpId id : fn().regions[r].ops) {
      const bool isNest = fn().ops[id].kind == OpKind::Nest;
      if (isNest && isInNest) inner_.insert(id);
      for (RegionId each : fn().ops[id].regions) findInner(each, isInNest || isNest);
    }
  }
  bool isSum(OpId id) const {
    const Op& op = fn().ops[id];
    return op.dims.size() <= AxisSet::most && std::ranges::any_of(nestResults(op), [&](const NestResult& r) {
             return r.kind == NestResultKind::Reduce && (!r.keep.empty() || inner_.contains(id));
           });
  }

  void branchesOf(OpId nest, Ranges& ranges) {
    const RegionId region = fn().ops[nest].regions[0];
    const std::vector<OpId> ops = fn().regions[region].ops;
    std::unordered_set<OpId> made(ops.begin(), ops.end()), inBranches;
    for (OpId id : ops)
      for (RegionId inner : fn().ops[id].regions)
        forEachOp(fn(), inner, [&](OpId op) { inBranches.insert(op); });
    made.insert(inBranches.begin(), inBranches.end());
    std::vector<OpId> out;
    for (OpId id : ops) {
      if (fn().ops[id].kind == OpKind::If)
        for (RegionId arm : fn().ops[id].regions) leave(arm, {region, made, inBranches}, ranges, out);
      out.push_back(id);
    }
    fn().regions[region].ops = std::move(out);
  }

  /// The body of a nest, what is made in it, and which of that in branches.
  struct Body {
    RegionId region;
    const std::unordered_set<OpId>& made;
    const std::unordered_set<OpId>& inBranches;
  };

  /// What may goes from an arm to the list of what stands before the branch.
  void leave(RegionId arm, const Body& body, Ranges& ranges, std::vector<OpId>& out) {
    std::unordered_set<OpId> leaving;
    for (OpId id : fn().regions[arm].ops)
      if (isSpeculatable(id, body, ranges)) takeIndices(id, body, leaving);
    std::erase_if(fn().regions[arm].ops, [&](OpId id) {
      if (leaving.contains(id)) out.push_back(id);
      return leaving.contains(id);
    });
  }
  bool isSpeculatable(OpId id, const Body& body, Ranges& ranges) const {
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::Get || op.operands.size() < 2 || !m_.types.isScalar(fn().typeOf(op.results[0])))
      return false;
    const Value& array = fn().values[op.operands[0]];
    return array.region != body.region && !body.made.contains(array.def) &&
           readsInRange(m_, fn(), ranges, op) &&
           !undefined_.mayBe(f_, op.operands[0]); // it is there where the branch is taken
  }
  /// What makes the indices of a read goes with it: sums and products of integers.
  void takeIndices(OpId read, const Body& body, std::unordered_set<OpId>& leaving) const {
    constexpr size_t most = 8;
    std::vector<OpId> all = {read};
    for (size_t k = 0; k < all.size(); ++k)
      for (ValueId v : fn().ops[all[k]].operands) {
        const OpId def = fn().values[v].def;
        if (!body.inBranches.contains(def) || std::ranges::find(all, def) != all.end()) continue;
        if (!makesIndex(fn().ops[def]) || all.size() > most) return;
        all.push_back(def);
      }
    leaving.insert(all.begin(), all.end());
  }
  bool makesIndex(const Op& op) const {
    const bool isKind = op.kind == OpKind::Const || op.kind == OpKind::Add || op.kind == OpKind::Sub ||
                        op.kind == OpKind::Mul || op.kind == OpKind::Neg;
    return isKind && fn().typeOf(op.results[0]) == m_.types.int64();
  }

  Module& m_;
  FunctionId f_;
  const Undefined& undefined_;
  std::unordered_set<OpId> inner_;
};

} // namespace

void speculateLoads(Module& m) { speculateInsideOut<LoadSpeculator>(m); }

} // namespace melix::transforms
