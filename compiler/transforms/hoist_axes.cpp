#include "transforms/hoist_axes.h"

#include "core/walk.h"
#include "transforms/cost.h"
#include "transforms/distribute.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class Hoister {
public:
  Hoister(Module& m, FunctionId id, const Effects& effects)
      : m_(m), id_(id), effects_(effects), costs_(m, m.functions[id]) {}

  void region(RegionId r) {
    // Inner sweeps first: what leaves them may go on from here.
    const std::vector<OpId>& list = fn().regions[r].ops;
    for (OpId op : list)
      for (RegionId inner : fn().ops[op].regions) region(inner);
    std::vector<OpId> out;
    for (OpId id : list) {
      const Op& op = fn().ops[id];
      const bool isNest = op.kind == OpKind::Nest && op.dims.size() <= AxisSet::most;
      if (isNest || op.kind == OpKind::For) invariants(id, out);
      if (isNest && op.dims.size() > 1) partial(id, out);
      out.push_back(id);
    }
    fn().regions[r].ops = std::move(out);
  }

private:
  Function& fn() { return m_.functions[id_]; }

  bool hasChecks(RegionId r) {
    bool found = false;
    forEachOp(fn(), r, [&](OpId i) { found |= fn().ops[i].kind == OpKind::Check; });
    return found;
  }
  bool runsAtLeastOnce(const Op& sweep) {
    return sweep.kind == OpKind::Nest && m_.types.dims.atLeast(m_.types.dims.product(sweep.dims), 1);
  }

  /// Whether what it sweeps and makes has sizes by what they are made of, without any check.
  bool sizesHold(OpId id) {
    auto isSize = [&](DimId d) { return m_.types.dims.atLeast(d, 0); };
    auto holds = [&](OpId each) {
      const Op& op = fn().ops[each];
      return (op.kind != OpKind::Nest || std::ranges::all_of(op.dims, isSize)) &&
             std::ranges::all_of(op.results, [&](ValueId v) {
               const types::Type& type = m_.types[fn().typeOf(v)];
               return type.kind != TypeKind::Array || std::ranges::all_of(type.dims, isSize);
             });
    };
    bool all = holds(id);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, [&](OpId each) { all = all && holds(each); });
    return all;
  }

  bool takesAnyOf(OpId id, const std::unordered_set<ValueId>& values) {
    auto takes = [&](OpId each) {
      return std::ranges::any_of(fn().ops[each].operands, [&](ValueId v) { return values.contains(v); });
    };
    bool any = takes(id);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, [&](OpId each) { any = any || takes(each); });
    return any;
  }

  /// Reads whose index is out of range, and sizes that are none, are caught by a check in front of them, and
  /// what is computed only where a sweep has a point has no case before: such an op must stay where it is,
  /// and so what is made of it.
  void invariants(OpId id, std::vector<OpId>& out) {
    const Op& sweep = fn().ops[id];
    const RegionId r = sweep.regions[0];
    const SweepBody body(m_, id_, id, effects_);
    const bool anywhere = runsAtLeastOnce(sweep) && !hasChecks(r);
    std::vector<OpId> kept;
    std::unordered_set<ValueId> staying;
    for (OpId op : fn().regions[r].ops) {
      const std::optional<AxisSet> axes = body.axesOf(op);
      const bool moves = axes && axes->empty() && (anywhere || (body.readsWithin(op) && sizesHold(op))) &&
                         !takesAnyOf(op, staying);
      (moves ? out : kept).push_back(op);
      if (!moves) staying.insert(fn().ops[op].results.begin(), fn().ops[op].results.end());
    }
    fn().regions[r].ops = std::move(kept);
  }

  /// Dear values of a nest's body that vary with some of its axes only: each becomes a nest in front of it.
  void partial(OpId nest, std::vector<OpId>& out) {
    const RegionId r = fn().ops[nest].regions[0];
    if (hasChecks(r)) return;
    SweepBody body(m_, id_, nest, effects_);
    const AxisSet all = AxisSet::first(fn().ops[nest].dims.size());
    const RegionId scratch = fn().regions.add(Region{});
    for (OpId id : std::vector<OpId>(fn().regions[r].ops)) {
      const Op& op = fn().ops[id];
      const std::optional<AxisSet> axes = body.axesOf(id);
      if (!axes || axes->empty() || *axes == all || op.results.size() != 1) continue;
      if (!isDear(costs_.ofOp(id))) continue;
      const ValueId v = op.results[0];
      Builder b(m_, id_, scratch, op.loc);
      distribute(b, nest, {*axes, body.slice(std::span(&v, 1)), {v}});
      body.becomes(id, fn().values[v].def);
    }
    const std::vector<OpId>& made = fn().regions[scratch].ops;
    out.insert(out.end(), made.begin(), made.end());
  }

  Module& m_;
  FunctionId id_;
  const Effects& effects_;
  const Costs costs_;
};

} // namespace

void hoistAxes(Module& m) {
  Effects effects(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    FunctionId f(i);
    if (m.functions[f].body.valid()) Hoister(m, f, effects).region(m.functions[f].body);
  }
}

} // namespace melix::transforms
