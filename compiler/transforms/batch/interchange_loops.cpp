#include "transforms/batch/interchange_loops.h"

#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/batch/batched_loop.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

class Interchanger {
public:
  Interchanger(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), costs_(m, m.functions[f]) {}

  bool changed = false;

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      const Regions regions = fn().ops[id].regions;
      for (RegionId inner : regions) run(inner);
      if (!hasManyPoints(costs_, fn().ops[id])) return true;
      std::vector<OpId> made;
      Builder b(m_, f_, region, fn().ops[id].loc);
      const std::vector<OpId> products = partsWithProducts(m_, fn(), id);
      // One whose checks went may have stood in the way of others.
      for (size_t before = made.size() + 1; before != made.size();) {
        before = made.size();
        for (OpId loop : products) leave(id, loop, b, made);
      }
      if (made.empty()) return true;
      fn().regions[region].ops.push_back(id);
      for (OpId loop : made) run(fn().ops[loop].regions.back());
      return !(changed = true);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  void leave(OpId nest, OpId loop, Builder& b, std::vector<OpId>& made) {
    const OpKind kind = fn().ops[loop].kind;
    if ((kind != OpKind::For && kind != OpKind::While) || !left_.insert(loop).second) return;
    BatchedLoop rows(m_, f_, nest, loop, effects_, costs_);
    if (rows.canInterchange())
      made.push_back(rows.leave(b));
    else
      left_.erase(loop);
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const Costs costs_;
  std::unordered_set<OpId> left_; ///< loops that others stand for
};

} // namespace

bool interchangeLoops(Module& m) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    Interchanger s(m, f, effects);
    s.run(m.functions[f].body);
    if (s.changed) eliminateDeadValues(m, f, effects);
    return s.changed;
  });
}

} // namespace melix::transforms
