#include "transforms/free_reads.h"

#include "transforms/inside_out.h"
#include "transforms/sweep_body.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class Freer {
public:
  Freer(Module& m, FunctionId f, const FreeingFacts& facts) : m_(m), f_(f), undefined_(facts.undefined) {}

  void nest(OpId id, Ranges& ranges) {
    if (isSum(fn().ops[id])) branchesOf(id, ranges);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  static bool isSum(const Op& op) {
    return op.dims.size() <= AxisSet::most && std::ranges::any_of(nestResults(op), [](const NestResult& r) {
             return r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Sum && !r.keep.empty();
           });
  }

  void branchesOf(OpId nest, Ranges& ranges) {
    const RegionId region = fn().ops[nest].regions[0];
    std::unordered_set<OpId> made;
    forEachOp(fn(), region, [&](OpId id) { made.insert(id); });
    std::vector<OpId> out;
    const std::vector<OpId> ops = fn().regions[region].ops;
    for (OpId id : ops) {
      if (fn().ops[id].kind == OpKind::If)
        for (RegionId arm : fn().ops[id].regions) leave(arm, region, made, ranges, out);
      out.push_back(id);
    }
    fn().regions[region].ops = std::move(out);
  }

  /// What may goes from an arm to the list of what stands in front of the branch.
  void leave(RegionId arm, RegionId home, const std::unordered_set<OpId>& made, Ranges& ranges,
             std::vector<OpId>& out) {
    std::erase_if(fn().regions[arm].ops, [&](OpId id) {
      const Op& op = fn().ops[id];
      if (op.kind != OpKind::Get || op.operands.size() < 2 || !m_.types.isScalar(fn().typeOf(op.results[0])))
        return false;
      const Value& array = fn().values[op.operands[0]];
      auto isMade = [&](ValueId v) { return made.contains(fn().values[v].def); };
      if (array.region == home || std::ranges::any_of(op.operands, isMade)) return false;
      if (!readsInRange(m_, fn(), ranges, op)) return false;
      if (undefined_.mayBe(f_, op.operands[0])) return false; // it is there where the branch is taken
      out.push_back(id);
      return true;
    });
  }
  Module& m_;
  FunctionId f_;
  const Undefined& undefined_;
};

} // namespace

void freeReads(Module& m) { freeInsideOut<Freer>(m); }

} // namespace melix::transforms
