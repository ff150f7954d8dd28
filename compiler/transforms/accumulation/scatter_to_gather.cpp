#include "transforms/accumulation/scatter_to_gather.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/nest.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "transforms/accumulation/emit_gather.h"
#include "transforms/derivatives/derivative_context.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

namespace {

/// Who converts what is added to an accumulator that a nest is handed.
enum class HandedKind : uint8_t { Here, Around };

class Accumulations {
public:
  Accumulations(Module& m, FunctionId f, const Effects& effects, const Undefined& undefined)
      : m_(m), f_(f), effects_(effects), undefined_(undefined), uses_(m, f),
        scratch_(m.functions[f].regions.add(Region{})) {}

  bool changed = false;

  /// Inner nests first: what is made of an outer one holds copies of what they became. Of accumulators that
  /// they are handed by nests around them only where those stay as they are.
  void run(RegionId region, HandedKind handed = HandedKind::Here) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      const bool isNest = fn().ops[id].kind == OpKind::Nest;
      const bool isLoop = fn().ops[id].kind == OpKind::For || fn().ops[id].kind == OpKind::While;
      loops_ += isLoop;
      for (RegionId inner : fn().ops[id].regions) run(inner, isNest ? HandedKind::Around : handed);
      loops_ -= isLoop;
      if (!isNest || nestAccs(fn().ops[id]) == 0) return true;
      splitSums(fn().ops[id].regions[0]);
      const bool stays = nest(id, region, handed);
      if (stays && handed == HandedKind::Here && nestAccs(fn().ops[id]) > 0)
        for (RegionId inner : fn().ops[id].regions) run(inner);
      return stays;
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }

  /// Rows that are sums of rows are added one after another where all are cheap to recompute: each is a sum
  /// of its own then, as a product, and none of it is kept. Nests inside have been seen to.
  void splitSums(RegionId region) {
    std::vector<OpId>& ops = fn().regions[region].ops;
    for (size_t k = 0; k < ops.size(); ++k) {
      const OpId id = ops[k];
      if (fn().ops[id].kind != OpKind::Nest)
        for (RegionId inner : Regions(fn().ops[id].regions)) splitSums(inner);
      for (OpId sum = addedSum(id, region); sum.valid(); sum = addedSum(id, region)) {
        const OpId second = splitSum(id, sum, region);
        ops.erase(std::ranges::find(ops, sum));
        ops.insert(ops.begin() + static_cast<ptrdiff_t>(k--), second);
      }
    }
  }
  /// What adds the second of the rows, after `add`, which adds the first.
  OpId splitSum(OpId add, OpId sum, RegionId region) {
    const Operands rows = fn().ops[sum].operands;
    const ValueId added = fn().ops[add].results[0];
    Op next = fn().ops[add];
    next.results.clear();
    const OpId second = Builder(m_, f_, scratch_, next.loc).append(std::move(next), {fn().typeOf(added)});
    fn().regions[scratch_].ops.clear();
    uses_.replace(added, fn().ops[second].results[0]);
    fn().ops[second].operands[0] = added;
    fn().ops[second].operands[1] = rows[1];
    uses_.enter(second, region);
    uses_.change(add, [&](Op& op) { op.operands[1] = rows[0]; });
    uses_.leave(sum);
    return second;
  }
  /// The sum of such rows that an op adds to an accumulator, and that nothing else uses.
  OpId addedSum(OpId id, RegionId region) const {
    const Op& op = fn().ops[id];
    const bool adds = op.kind == OpKind::AddAt && types().kind(fn().typeOf(op.results[0])) == TypeKind::Acc;
    return adds && isSumOfRows(op.operands[1], region) ? fn().values[op.operands[1]].def : OpId();
  }
  bool isSumOfRows(ValueId v, RegionId region) const {
    const OpId def = fn().values[v].def;
    if (!def.valid() || types().kind(fn().typeOf(v)) != TypeKind::Array || uses_.count(v) != 1 ||
        uses_.regionOf(def) != region)
      return false;
    const Op& sum = fn().ops[def];
    auto isRow = [&](ValueId row) {
      const OpId made = fn().values[row].def;
      return made.valid() && (isSoonMadeRow(types(), fn(), fn().ops[made]) || isSumOfRows(row, region));
    };
    return (sum.kind == OpKind::Add || (sum.kind == OpKind::AddAt && sum.as<Path>().empty())) &&
           std::ranges::all_of(sum.operands, isRow);
  }

  /// Accumulators by number, with what becomes of each add.
  using Plans = std::vector<std::pair<uint32_t, std::vector<Conversion>>>;

  Plans plans(OpId id, HandedKind handed) {
    Plans out;
    AccumulationPlanner planner(m_, f_, uses_, undefined_, id);
    for (uint32_t k = 0; k < nestAccs(fn().ops[id]); ++k) {
      const TypeId begun = fn().typeOf(fn().ops[id].operands[k]);
      const bool isHanded = types().kind(begun) == TypeKind::Acc;
      if (isHanded && handed == HandedKind::Around) continue;
      const TypeId added = isHanded ? types()[begun].parts[0] : begun;
      // A sum of what has a size of its own begins with a zero of that size, which only what it adds to
      // tells.
      if (types().kind(added) != TypeKind::Array || sizedByValue(types(), types().element(added))) continue;
      std::vector<AccumulationSite> sites;
      if (!findAccumulationSites(fn(), uses_, id, k, sites)) continue;
      std::vector<Conversion> all;
      bool ok = true;
      for (AccumulationSite& s : sites) {
        Conversion c;
        c.site = std::move(s);
        ok = ok && planner.plan(c) && (!isHanded || isSum(c, types()[added].dims));
        all.push_back(std::move(c));
      }
      // One element of each row alone is added to where it is.
      if (ok && !std::ranges::all_of(all, &Conversion::looksForElement)) out.emplace_back(k, std::move(all));
    }
    return out;
  }

  /// Whether an index is an axis that has a point for each of so many places.
  static bool isWholeAxis(const Conversion& c, const Solved& s, DimId places) {
    return s.kind == Solved::Kind::Unit && s.index.isAxis() && c.isWhole(s.axis) &&
           c.extentOf(s.axis) == places;
  }

  /// Whether what is added to a part of an array, of these extents, is worth an array of its own: it reaches
  /// the whole part, and several terms go to one element.
  bool isSum(const Conversion& c, const std::vector<DimId>& extents) {
    for (size_t d = 0; d < c.target.size(); ++d) {
      const Solved& s = c.target[d];
      if (s.kind == Solved::Kind::Fixed) continue;
      if (!isWholeAxis(c, s, extents[d])) return false;
    }
    return std::ranges::any_of(
        c.axes, [&](ValueId axis) { return !c.isSolved(axis) && maySum(types().dims, c.extentOf(axis)); });
  }

  /// Appends what accumulators become to the region; whether anything is left of the nest.
  bool nest(OpId id, RegionId region, HandedKind handed) {
    Plans todo = plans(id, handed);
    if (todo.empty()) return true;
    changed = true;
    const size_t first = fn().ops.size();
    const KeptValues kept = keep(id, todo);
    Emit e(m_, f_, region, fn().ops[id].loc);
    std::vector<std::pair<uint32_t, ValueId>> totals;
    std::vector<OpId> adds;
    for (auto& [k, conversions] : todo) {
      totals.emplace_back(k, total(id, k, conversions, kept, e));
      for (const Conversion& c : conversions) adds.push_back(c.site.add);
    }
    note(adds, first);
    return replaceAccumulators(m_, f_, effects_, uses_, id, region, totals);
  }

  /// A sum may panic, as those of tangents of enums do. Where each place gets one term, nothing is summed.
  void note(const std::vector<OpId>& adds, size_t first) {
    noteWritten(f_, adds, f_, first);
    bool sums = false;
    for (size_t k = first; k < fn().ops.size() && !sums; ++k)
      sums = !panickingSums(m_, fn(), fn().ops[OpId(static_cast<uint32_t>(k))]).empty();
    if (sums) return;
    for (OpId add : adds) noteGone(fn(), f_, add, GoneKind::Proved);
  }

  /// What accumulator `k` began with and all that is added to it.
  ValueId total(OpId id, uint32_t k, std::vector<Conversion>& conversions, const KeptValues& kept, Emit& e) {
    ValueId init = fn().ops[id].operands[k];
    OpId initDef = fn().values[init].def;
    bool zero = initDef.valid() && fn().ops[initDef].kind == OpKind::Zero;
    ValueId total = zero ? ValueId() : init;
    for (Conversion& c : conversions) {
      if (total.valid() && loops_ > 0) takeParts(c, k, id);
      const PlannedAdd add{c, id, kept};
      if (total.valid() && isFromAround(total) && isBestInPlace(c)) {
        total = addEachTerm(m_, f_, uses_, add, e, total);
        continue;
      }
      const PlacedSum made = sumOfTerms(m_, f_, uses_, add, e);
      if (!total.valid() && made.place.empty())
        total = made.sum;
      else
        total = addWhole(e, total.valid() ? total : init, made, c.points);
    }
    return total.valid() ? total : init;
  }
  static ValueId addWhole(Emit& e, ValueId to, const PlacedSum& made, DimId points) {
    auto add = [&](Emit& in) { return in.addAt(to, made.sum, made.place, made.indices); };
    return made.place.empty() ? add(e) : guardByNonEmptyDomain(e, points, to, add);
  }

  /// In a loop, which adds to an array again and again, only what is reached of it is added to, if all points
  /// reach it: of another part, some may not exist.
  void takeParts(Conversion& c, uint32_t k, OpId id) {
    if (c.mayMissPoints()) return;
    TypeId array = fn().typeOf(fn().ops[id].operands[k]);
    if (types().kind(array) == TypeKind::Acc) array = types()[array].parts[0];
    for (size_t d = 0; d < c.target.size(); ++d) {
      Solved& s = c.target[d];
      const bool isPart = s.kind == Solved::Kind::Unit && s.sign > 0 && s.index.axes.size() == 1 &&
                          c.isWhole(s.axis) && c.extentOf(s.axis) != types()[array].dims[d];
      if (isPart) s.kind = Solved::Kind::Part;
    }
  }

  /// Whether a loop, which adds to an array again and again, does so best where it lies: each term has a
  /// place of its own, which is there, and is made of nothing that is updated. Not all of a row: that is made
  /// anew, as what is written with `+` is.
  bool isBestInPlace(const Conversion& c) const {
    if (loops_ == 0 || c.mayMissPoints()) return false;
    const std::vector<DimId>& extents =
        types()[types()[fn().typeOf(fn().ops[c.site.add].operands[0])].parts[0]].dims;
    if (extents.size() == 1 && isWholeAxis(c, c.target[0], extents[0])) return false;
    std::unordered_set<ValueId> own;
    for (size_t d = 0; d < c.target.size(); ++d) {
      const Solved& s = c.target[d];
      if (!isWholeAxis(c, s, extents[d]) && s.kind != Solved::Kind::Part && s.kind != Solved::Kind::Fixed)
        return false;
      if (s.kind != Solved::Kind::Fixed) own.insert(s.axis);
    }
    auto readsUpdated = [&](uint32_t id) {
      const Op& op = fn().ops[OpId(id)];
      return !op.regions.empty() || (op.kind == OpKind::Get && isUpdated(op.operands[0]));
    };
    return own.size() == c.axes.size() && std::ranges::none_of(c.slice, readsUpdated);
  }

  /// Whether an array, or what it is a part of, is one that is updated.
  bool isUpdated(ValueId v) const {
    for (;;) {
      const OpId def = fn().values[v].def;
      if (!def.valid()) return fn().values[v].region != fn().body;
      const Op& op = fn().ops[def];
      if (op.kind == OpKind::Nest) return fn().values[v].index >= NestView(fn(), op).partResults();
      if (op.kind != OpKind::Get && op.kind != OpKind::CastDims)
        return op.kind == OpKind::Set || op.kind == OpKind::AddAt || !op.regions.empty();
      v = op.operands[0];
    }
  }

  /// Whether what is added to comes from around the region at hand: not from an array made for it alone.
  bool isFromAround(ValueId v) const {
    for (;;) {
      const OpId def = fn().values[v].def;
      if (!def.valid()) return true;
      const Op& op = fn().ops[def];
      if (op.kind == OpKind::Nest) {
        const NestView nest(fn(), op);
        const uint32_t part = fn().values[v].index;
        if (part < nest.partResults()) return false;
        v = nest.accOperands()[part - nest.partResults()];
      } else if (op.kind == OpKind::Set || op.kind == OpKind::AddAt || op.kind == OpKind::CastDims) {
        v = op.operands[0];
      } else {
        return op.kind != OpKind::Zero;
      }
    }
  }

  KeptValues keep(OpId id, const Plans& todo) {
    std::vector<ValueId> wanted;
    for (const auto& [k, conversions] : todo)
      for (const Conversion& c : conversions) wanted.insert(wanted.end(), c.kept.begin(), c.kept.end());
    return storeValuesForScatter(m_, f_, uses_, id, std::move(wanted));
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const Undefined& undefined_;
  LiveUses uses_;
  const RegionId scratch_; ///< where ops are made
  uint32_t loops_ = 0;     ///< around the region at hand
};

} // namespace

bool scatterToGather(Module& m) {
  const Effects effects(m);
  const Undefined undefined(m);
  return changeBodies(m, [&](FunctionId f) {
    Accumulations all(m, f, effects, undefined);
    all.run(m.functions[f].body);
    return all.changed;
  });
}

} // namespace melix::transforms
