#include "transforms/fusion/loop_invariant_code_motion.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/walks/distribute_nest.h"
#include "transforms/walks/for_each_function.h"
#include "types/tangent.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class AxisInvariantHoister {
public:
  AxisInvariantHoister(Module& m, FunctionId id, const Effects& effects)
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
      broadcasts_.clear();
      if (isNest && op.dims.size() > 1) partial(id, out);
      out.push_back(id);
      for (const Broadcast& each : broadcasts_) broadcast(id, each, out);
    }
    fn().regions[r].ops = std::move(out);
  }

  /// What stands for results is what others read.
  void finish() {
    if (becomes_.empty()) return;
    forEachOp(fn(), fn().body, [&](OpId id) {
      for (ValueId& v : fn().ops[id].operands)
        if (const auto at = becomes_.find(v); at != becomes_.end()) v = at->second;
    });
  }

private:
  Function& fn() { return m_.functions[id_]; }

  /// Whether anything in the region may panic: what stands after it may be there only where it did not.
  bool hasChecks(RegionId r) {
    return std::ranges::any_of(fn().regions[r].ops, [&](OpId id) { return effects_.ofOp(fn(), id).panics; });
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

  /// An array of numbers that is an element of a list, or a part of one. Read as an array of all rows, it
  /// lies where products read it.
  bool isRowOfList(const Op& op) {
    return op.kind == OpKind::Get && m_.types.kind(fn().typeOf(op.results[0])) == TypeKind::Array &&
           isOfNumbers(m_.types, fn().typeOf(op.results[0])) &&
           std::ranges::any_of(op.as<Path>(), [](const PathStep& s) { return s.kind == StepKind::Element; });
  }
  /// The same at all points of a nest: it is read before if there are any.
  bool hoistRow(OpId nest, OpId read, const AxisVariance& body, std::vector<OpId>& out) {
    const Op& op = fn().ops[read];
    if (!isRowOfList(op) || body.slice(op.operands).size() > 0 ||
        !types::hasZero(m_.types, fn().typeOf(op.results[0])))
      return false;
    const RegionId scratch = fn().regions.add(Region{});
    Builder b(m_, id_, scratch, op.loc);
    const DimId points = m_.types.dims.product(extentsOf(nest, AxisSet::first(fn().ops[nest].dims.size())));
    Op branch = Builder::simple(OpKind::If, {b.compare(ops::CmpKind::Gt, b.dimValue(points), b.integer(0))});
    Builder some = b.in(b.newRegion()), none = b.in(b.newRegion());
    const TypeId type = fn().typeOf(op.results[0]);
    some.yield({some.one(Op(op), type)});
    none.yield({none.zero(type)});
    branch.regions = {some.region, none.region};
    takeOver(fn(), b.append(std::move(branch), {type}), std::span(&op.results[0], 1));
    const std::vector<OpId>& made = fn().regions[scratch].ops;
    out.insert(out.end(), made.begin(), made.end());
    return true;
  }

  /// Reads whose index is out of range, and sizes that are none, are caught by a check before them, and
  /// what is computed only where a sweep has a point has no case before: such an op must stay where it is,
  /// and so what is made of it.
  void invariants(OpId id, std::vector<OpId>& out) {
    const Op& sweep = fn().ops[id];
    const RegionId r = sweep.regions[0];
    const AxisVariance body(m_, id_, id, effects_);
    const bool anywhere = runsAtLeastOnce(sweep) && !hasChecks(r);
    std::vector<OpId> kept;
    std::unordered_set<ValueId> staying;
    for (OpId op : fn().regions[r].ops) {
      const std::optional<AxisSet> axes = body.axesOf(op);
      const bool moves = axes && axes->empty() && (anywhere || (body.readsWithin(op) && sizesHold(op))) &&
                         !takesAnyOf(op, staying);
      if (!moves && axes && axes->empty() && sweep.kind == OpKind::Nest && !hasChecks(r) &&
          hoistRow(id, op, body, out))
        continue;
      (moves ? out : kept).push_back(op);
      if (!moves) staying.insert(fn().ops[op].results.begin(), fn().ops[op].results.end());
    }
    fn().regions[r].ops = std::move(kept);
  }

  /// The results of a nest that collect the value, along all of its axes.
  std::vector<ValueId> collectedAs(OpId id, ValueId v) {
    const NestView nest(fn(), fn().ops[id]);
    std::vector<ValueId> out;
    for (const NestPart& part : nest.parts())
      if (part.spec->kind == NestResultKind::Collect && nest.yields(part)[0] == v)
        out.push_back(nest.results(part)[0]);
    return out;
  }

  /// A result of a nest that is the same along some axes: what stands for it reads an array without them, so
  /// that whoever reads it may do so too.
  struct Broadcast {
    ValueId result, array;
    AxisSet axes; ///< of the array
  };
  void broadcast(OpId nest, const Broadcast& each, std::vector<OpId>& out) {
    const RegionId scratch = fn().regions.add(Region{});
    const AxisSet all = AxisSet::first(fn().ops[nest].dims.size());
    Builder b(m_, id_, scratch, fn().ops[nest].loc);
    NestBuilder made(b);
    Cloner copy(m_, id_, id_);
    const std::vector<ValueId> indices = openAxes(made, copy, fn(), fn().ops[nest], all);
    std::vector<ValueId> at;
    for (size_t a = 0; a < indices.size(); ++a)
      if (each.axes.contains(a)) at.push_back(copy.value(indices[a]));
    Builder in = b.in(made.body());
    made.collect(in.getAt(each.array, at));
    becomes_[each.result] = made.one();
    const std::vector<OpId>& ops = fn().regions[scratch].ops;
    out.insert(out.end(), ops.begin(), ops.end());
  }

  std::vector<DimId> extentsOf(OpId nest, AxisSet axes) {
    std::vector<DimId> out;
    const Dims& dims = fn().ops[nest].dims;
    for (size_t a = 0; a < dims.size(); ++a)
      if (axes.contains(a)) out.push_back(dims[a]);
    return out;
  }

  /// Values of a nest's body that vary with some of its axes only, if they are expensive or collected along
  /// all: each becomes a nest before it, which runs where the other axes have points, unless it may anyway.
  void partial(OpId nest, std::vector<OpId>& out) {
    const RegionId r = fn().ops[nest].regions[0];
    if (hasChecks(r)) return;
    AxisVariance body(m_, id_, nest, effects_);
    const AxisSet all = AxisSet::first(fn().ops[nest].dims.size());
    const RegionId scratch = fn().regions.add(Region{});
    for (OpId id : std::vector<OpId>(fn().regions[r].ops)) {
      const Op& op = fn().ops[id];
      const std::optional<AxisSet> axes = body.axesOf(id);
      if (!axes || axes->empty() || *axes == all || op.results.size() != 1) continue;
      const ValueId v = op.results[0];
      const std::vector<ValueId> collected = collectedAs(nest, v);
      const bool mayRun = body.readsWithin(id) && sizesHold(id); // also where there is no point
      if ((collected.empty() || !mayRun) && !isExpensive(costs_.ofOp(id)) && !isRowOfList(op)) continue;
      Cut cut{*axes, body.slice(std::span(&v, 1)), {v}};
      const DimId others = m_.types.dims.product(extentsOf(nest, all - *axes));
      if (!mayRun && !m_.types.dims.atLeast(others, 1)) {
        if (!types::hasZero(m_.types, fn().typeOf(v))) continue;
        cut.points = others;
      }
      Builder b(m_, id_, scratch, op.loc);
      const ValueId array = distribute(b, nest, cut)[0];
      body.replaceByRead(id, fn().values[v].def);
      for (ValueId result : collected) broadcasts_.push_back({result, array, *axes});
    }
    const std::vector<OpId>& made = fn().regions[scratch].ops;
    out.insert(out.end(), made.begin(), made.end());
  }

  Module& m_;
  FunctionId id_;
  const Effects& effects_;
  const Costs costs_;
  std::vector<Broadcast> broadcasts_;            ///< of the nest at hand
  std::unordered_map<ValueId, ValueId> becomes_; ///< results that others stand for
};

} // namespace

void hoistAxisInvariants(Module& m) {
  Effects effects(m);
  changeBodies(m, [&](FunctionId f) {
    AxisInvariantHoister hoister(m, f, effects);
    hoister.region(m.functions[f].body);
    hoister.finish();
  });
}

} // namespace melix::transforms
