#include "transforms/accumulation/defer_accumulation.h"

#include "core/analysis/sizes.h"
#include "core/ir/flow.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/analysis/trip_count.h"
#include "transforms/derivatives/derivative_context.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_with_ranges.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace melix::transforms {

namespace {

constexpr uint32_t mostWorked = 4 * mathFlops; ///< operations that an add recomputes

/// An accumulator of a loop: what adds to it, one after the other.
struct Added {
  uint32_t carry;
  ValueId begun, param, result; ///< before, in and after the loop
  std::vector<OpId> adds;
  ValueId last; ///< what is yielded
};

/// One loop.
class AccumulationCollector {
public:
  AccumulationCollector(Module& m, FunctionId f, LiveUses& uses, const Effects& effects, OpId loop)
      : m_(m), f_(f), uses_(uses), effects_(effects), loop_(loop), body_(fn().ops[loop].regions[0]),
        index_(fn().regions[body_].params[0]) {
    for (OpId id : fn().regions[body_].ops)
      sizes_.insert(fn().ops[id].resultDims.begin(), fn().ops[id].resultDims.end());
  }

  /// Appends to `made` what comes after the loop in its region; whether anything does.
  bool run(RegionId region, RegionId made, DimId tripCount) {
    const LoopView view(fn(), fn().ops[loop_]);
    if (!view.bodyDims().empty()) return false;
    for (uint32_t k = 0; k < view.carries(); ++k)
      if (std::optional<Added> added = follow(view, k)) all_.push_back(std::move(*added));
    while (dropOne()) {
    }
    if (all_.empty()) return false;
    write(region, made, tripCount);
    return true;
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }

  // --- what is added

  bool isArray(ValueId v) const {
    TypeId t = fn().typeOf(v);
    if (types().kind(t) == TypeKind::Acc) t = types()[t].parts[0];
    return types().kind(t) == TypeKind::Array && types().isScalar(types()[t].parts[0]);
  }

  /// None if anything but adds takes the carry.
  std::optional<Added> follow(const LoopView& view, uint32_t k) {
    Added out{k,  view.carryOperands()[k], view.carryParams()[k], view.carryResults()[k],
              {}, view.carryParams()[k]};
    if (!isArray(out.last)) return std::nullopt;
    std::vector<ValueId> versions;
    for (;;) {
      versions.push_back(out.last);
      if (uses_.count(out.last) != 1) return std::nullopt;
      OpId by;
      uses_.forEach(out.last, [&](Use use) { by = use.op; });
      if (uses_.regionOf(by) != body_) return std::nullopt;
      const Op& op = fn().ops[by];
      if (op.kind == OpKind::Yield) break;
      const std::optional<ValueId> next = addedBy(op, out.last);
      if (!next) return std::nullopt;
      out.adds.push_back(by);
      out.last = *next;
    }
    if (view.carryYields()[k] != out.last || out.adds.empty()) return std::nullopt;
    for (ValueId v : versions) owner_[v] = k;
    return out;
  }

  /// What the accumulator `v` is after the op; none if that is no add.
  std::optional<ValueId> addedBy(const Op& op, ValueId v) const {
    if (op.kind == OpKind::AddAt && op.operands[0] == v) return op.results[0];
    if (op.kind != OpKind::Nest) return std::nullopt;
    const NestView nest(fn(), op);
    const auto begun = nest.accOperands();
    const auto at = std::ranges::find(begun, v);
    if (at == begun.end() || !nest.parts().empty()) return std::nullopt;
    return nest.accResults()[static_cast<size_t>(at - begun.begin())];
  }

  // --- which go

  /// Leaves out an accumulator whose adds have to stay; false if there is none.
  bool dropOne() {
    const auto stays = std::ranges::find_if(all_, [&](const Added& a) {
      return !std::ranges::all_of(a.adds, [&](OpId id) { return goes(id); });
    });
    if (stays == all_.end()) return false;
    all_.erase(stays);
    return true;
  }

  bool isTaken(ValueId v) const {
    const auto k = owner_.find(v);
    return k != owner_.end() &&
           std::ranges::any_of(all_, [&](const Added& a) { return a.carry == k->second; });
  }

  bool goes(OpId id) {
    const Op& op = fn().ops[id];
    if (op.kind == OpKind::Nest)
      for (ValueId v : NestView(fn(), op).accOperands())
        if (!isTaken(v)) return false;
    return isComputableAfter(id);
  }

  /// Whether the op has all it needs after the loop: recomputed there, or kept for all iterations.
  bool isComputableAfter(OpId id) {
    if (effects_.ofOp(fn(), id).any() || mentionsSizes(sizesWithin(m_, fn(), id))) return false;
    const bool isNest = fn().ops[id].kind == OpKind::Nest;
    const bool isHanded = types().kind(fn().typeOf(fn().ops[id].results[0])) == TypeKind::Acc;
    uint32_t flops = isHanded && !isNest ? mostWorked : 0;
    return std::ranges::all_of(inputs(id), [&](ValueId v) {
      return isRecomputable(v) || (isNest ? isKept(v) && rank(v) < depth(id) : isCheapToRecompute(v, flops));
    });
  }

  /// Values of the loop's body that the op takes, but accumulators.
  std::vector<ValueId> inputs(OpId id) const {
    std::vector<ValueId> out;
    auto take = [&](const Op& op) {
      for (ValueId v : op.operands)
        if (uses_.homeOf(v) == body_ && !owner_.contains(v) && std::ranges::find(out, v) == out.end())
          out.push_back(v);
    };
    take(fn().ops[id]);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, [&](OpId inner) { take(fn().ops[inner]); });
    return out;
  }

  /// Whether it is recomputed after the loop.
  bool isRecomputable(ValueId v) {
    if (uses_.homeOf(v) != body_ || v == index_) return true;
    if (const auto known = recomputable_.find(v); known != recomputable_.end()) return known->second;
    const OpId def = fn().values[v].def;
    if (!def.valid()) return false;
    const Op& op = fn().ops[def];
    const bool is = isPlain(def) && op.kind != OpKind::Math &&
                    std::ranges::all_of(op.operands, [&](ValueId x) { return isRecomputable(x); });
    return recomputable_[v] = is || isCollectedRecomputably(def);
  }
  /// Whether an op reads or computes a number, and nothing else.
  bool isPlain(OpId id) const {
    const Op& op = fn().ops[id];
    const bool reads = op.kind == OpKind::Get,
               constant = op.kind == OpKind::Const || op.kind == OpKind::DimValue;
    const bool scalar = op.regions.empty() && op.results.size() == 1 &&
                        types().isScalar(fn().typeOf(op.results[0])) && flopsOf(op.kind) > 0;
    return (reads || constant || scalar) && op.resultDims.empty() && !effects_.ofOp(fn(), id).any() &&
           !mentionsSizes(sizesOf(m_, fn(), op));
  }
  /// Whether it is recomputed with a few elementary functions: of a number that is added to an accumulator
  /// from around, as a window adds to an image, as many would be kept as are added.
  bool isCheapToRecompute(ValueId v, uint32_t& flops) {
    if (isRecomputable(v)) return true;
    const OpId def = fn().values[v].def;
    if (!def.valid() || !isPlain(def) || flopsOf(fn().ops[def].kind) > flops) return false;
    flops -= flopsOf(fn().ops[def].kind);
    const Operands operands = fn().ops[def].operands;
    return recomputable_[v] =
               std::ranges::all_of(operands, [&](ValueId x) { return isCheapToRecompute(x, flops); });
  }
  /// An array of which each element costs little, as the products of two rows.
  bool isCollectedRecomputably(OpId id) {
    const Op& op = fn().ops[id];
    return op.kind == OpKind::Nest && nestAccs(op) == 0 && op.resultDims.empty() &&
           std::ranges::all_of(nestResults(op),
                               [](const NestResult& r) { return r.kind == NestResultKind::Collect; }) &&
           !isExpensive(Costs(m_, fn()).ofRegion(op.regions[0])) && isComputableAfter(id);
  }

  /// Whether it can be kept for all iterations: its sizes are known outside.
  bool isKept(ValueId v) const {
    const TypeId t = fn().typeOf(v);
    if (!types().isScalar(types().element(t))) return false;
    std::vector<DimSym> symbols;
    types().collectSymbols(t, symbols);
    return !mentionsSizes(symbols);
  }
  /// Whether some are made in the loop, and not known after it.
  bool mentionsSizes(const std::vector<DimSym>& symbols) const {
    return std::ranges::any_of(symbols, [this](DimSym s) { return sizes_.contains(s); });
  }
  size_t rank(ValueId v) const {
    const TypeId t = fn().typeOf(v);
    return types().kind(t) == TypeKind::Array ? types()[t].dims.size() : 0;
  }
  /// Axes of nests in each other.
  size_t depth(OpId id) const {
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::Nest) return 0;
    size_t inside = 0;
    for (OpId inner : fn().regions[op.regions[0]].ops) inside = std::max(inside, depth(inner));
    return op.dims.size() + inside;
  }

  // --- the nest

  void write(RegionId region, RegionId deferred, DimId tripCount) {
    std::unordered_set<OpId> adds, recomputed;
    std::vector<ValueId> kept;
    for (const Added& a : all_) adds.insert(a.adds.begin(), a.adds.end());
    for (OpId id : fn().regions[body_].ops)
      if (adds.contains(id))
        for (ValueId v : inputs(id)) need(v, recomputed, kept);
    Emit e(m_, f_, deferred, fn().ops[loop_].loc);
    const std::vector<ValueId> stacked = stack(kept, tripCount, e);

    NestBuilder nest(e);
    Emit in = e.in(nest.body());
    Cloner map(m_, f_, f_);
    const ValueId iteration = map.values[index_] = nest.axis(tripCount);
    for (const Added& a : all_) map.values[a.param] = nest.accumulator(a.begun);
    for (size_t k = 0; k < kept.size(); ++k)
      map.values[kept[k]] = in.getAt(stacked[k], std::span(&iteration, 1), fn().typeOf(kept[k]));
    for (OpId id : std::vector<OpId>(fn().regions[body_].ops)) {
      if (recomputed.contains(id)) map.op(id, in);
      if (adds.contains(id)) intoAccumulators(map.op(id, in));
    }
    for (const Added& a : all_) nest.end(map.value(a.last));
    const OpId made = nest.finish();
    for (OpId id : fn().regions[deferred].ops) uses_.enter(id, region);
    for (size_t k = 0; k < all_.size(); ++k) uses_.replace(all_[k].result, fn().ops[made].results[k]);
    takeOut(adds);
  }

  void need(ValueId v, std::unordered_set<OpId>& recomputed, std::vector<ValueId>& kept) {
    if (uses_.homeOf(v) != body_ || v == index_) return;
    if (!isRecomputable(v)) {
      if (std::ranges::find(kept, v) == kept.end()) kept.push_back(v);
      return;
    }
    if (!recomputed.insert(fn().values[v].def).second) return;
    for (ValueId x : inputs(fn().values[v].def)) need(x, recomputed, kept);
  }

  /// The loop stacks these too; gives the arrays, as long as the loop has iterations.
  std::vector<ValueId> stack(const std::vector<ValueId>& kept, DimId tripCount, Emit& e) {
    if (kept.empty()) return {};
    Op& loop = fn().ops[loop_];
    auto& attr = loop.as<LoopAttr>();
    if (attr.collects == 0)
      loop.resultDims.insert(loop.resultDims.begin(),
                             types().dims.newSym({"n", types::DimSymKind::Unknown, 0, {}}));
    attr.collects += static_cast<uint32_t>(kept.size());
    const DimId own = types().dims.symbol(loop.resultDims[0]);
    uses_.change(terminatorId(fn(), body_),
                 [&](Op& yield) { yield.operands.insert(yield.operands.end(), kept.begin(), kept.end()); });
    std::vector<ValueId> out;
    for (ValueId v : kept) {
      const auto number = static_cast<uint32_t>(fn().ops[loop_].results.size());
      const TypeId type = types().array(fn().typeOf(v), {own});
      fn().ops[loop_].results.push_back(fn().values.add(Value{type, loop_, {}, number, {}}));
      out.push_back(e.castDims(fn().ops[loop_].results.back(), types().array(fn().typeOf(v), {tripCount})));
    }
    return out;
  }

  /// A copy of an add in the body of a nest: what it gives are accumulators there.
  void intoAccumulators(OpId copy) {
    const Op& op = fn().ops[copy];
    for (size_t k = 0; k < op.results.size(); ++k)
      fn().values[op.results[k]].type = fn().typeOf(op.operands[k]);
  }

  void takeOut(const std::unordered_set<OpId>& adds) {
    for (OpId id : adds) uses_.leave(id);
    std::erase_if(fn().regions[body_].ops, [&](OpId id) { return adds.contains(id); });
    std::vector<bool> gone(fn().ops[loop_].results.size(), false);
    for (const Added& a : all_) gone[a.carry] = true;
    uses_.change(terminatorId(fn(), body_),
                 [&](Op&) { uses_.change(loop_, [&](Op&) { removeSlots(fn(), loop_, gone); }); });
  }

  Module& m_;
  FunctionId f_;
  LiveUses& uses_;
  const Effects& effects_;
  OpId loop_;
  RegionId body_;
  ValueId index_;
  std::unordered_set<DimSym> sizes_; ///< that ops of the body define
  std::vector<Added> all_;
  std::unordered_map<ValueId, uint32_t> owner_; ///< of each value that what only grows has in the body
  std::unordered_map<ValueId, bool> recomputable_;
};

class DeferredAccumulation {
public:
  DeferredAccumulation(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), uses_(m, f), ranges_(m, f), effects_(effects),
        scratch_(m.functions[f].regions.add(Region{})) {}

  /// Loops inside first: what is added after them is added by a nest.
  void run(RegionId region) {
    auto add = [this](OpId id, RegionId around) { return added(id, around); };
    rewriteInRanges(m_, f_, ranges_, region, add);
  }
  bool changed = false;

private:
  Function& fn() const { return m_.functions[f_]; }

  /// The loop, if anything of it is left, and what comes after it.
  std::vector<OpId> added(OpId id, RegionId region) {
    std::vector<OpId> made{id};
    if (fn().ops[id].kind != OpKind::For || !deferred(id, region)) return made;
    changed = true;
    if (fn().ops[id].results.empty() && !effects_.ofOp(fn(), id).any()) {
      uses_.leave(id);
      made.clear();
    }
    std::vector<OpId>& nests = fn().regions[scratch_].ops;
    made.insert(made.end(), nests.begin(), nests.end());
    nests.clear();
    return made;
  }

  bool deferred(OpId loop, RegionId region) {
    DimId tripCount = loopExtent(m_, fn(), ranges_, fn().ops[loop].operands[0]);
    types::DimStore& dims = m_.types.dims;
    // What is kept of each iteration of a loop around has this size also where that has none.
    if (tripCount.valid() && !dims.atLeast(tripCount, 0)) tripCount = dims.max(tripCount, dims.constant(0));
    return tripCount.valid() &&
           AccumulationCollector(m_, f_, uses_, effects_, loop).run(region, scratch_, tripCount);
  }

  Module& m_;
  FunctionId f_;
  LiveUses uses_;
  Ranges ranges_;
  const Effects& effects_;
  const RegionId scratch_; ///< where what comes after a loop is made
};

} // namespace

bool deferAccumulation(Module& m) {
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    DeferredAccumulation deferred(m, f, effects);
    deferred.run(m.functions[f].body);
    return deferred.changed;
  });
}

} // namespace melix::transforms
