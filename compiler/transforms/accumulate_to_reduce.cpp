#include "transforms/accumulate_to_reduce.h"

#include "core/clone.h"
#include "core/nest.h"
#include "core/uses.h"
#include "core/walk.h"
#include "transforms/accumulation_plan.h"
#include "transforms/ad.h"
#include "transforms/ad_emit.h"
#include "transforms/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

namespace {

/// Who converts what is added to an accumulator that a nest is handed.
enum class HandedKind : uint8_t { Here, Around };

class Accumulations {
public:
  Accumulations(Module& m, FunctionId f, const Undefined& undefined)
      : m_(m), f_(f), undefined_(undefined), uses_(m, f) {}

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
      const bool stays = nest(id, region, handed);
      if (stays && handed == HandedKind::Here && nestAccs(fn().ops[id]) > 0)
        for (RegionId inner : fn().ops[id].regions) run(inner);
      return stays;
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }

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

  /// Whether what is added to a part of an array, of these extents, is worth an array of its own: it reaches
  /// the whole part, and several terms go to one element.
  bool isSum(const Conversion& c, const std::vector<DimId>& extents) {
    for (size_t d = 0; d < c.target.size(); ++d) {
      const Solved& s = c.target[d];
      if (s.kind == Solved::Kind::Fixed) continue;
      const bool isWhole = s.kind == Solved::Kind::Unit && s.index.isAxis() && c.isWhole(s.axis);
      if (!isWhole || c.extentOf(s.axis) != extents[d]) return false;
    }
    return std::ranges::any_of(
        c.axes, [&](ValueId axis) { return !c.isSolved(axis) && maySum(types().dims, c.extentOf(axis)); });
  }

  /// Appends what accumulators become to the region; whether anything is left of the nest.
  bool nest(OpId id, RegionId region, HandedKind handed) {
    Plans todo = plans(id, handed);
    if (todo.empty()) return true;
    changed = true;
    std::unordered_map<ValueId, ValueId> keptAs = keep(id, todo);
    Emit e(m_, f_, region, fn().ops[id].loc);
    std::vector<std::pair<ValueId, ValueId>> totals;
    std::vector<uint32_t> gone;
    const NestView nest(fn(), fn().ops[id]);
    for (auto& [k, conversions] : todo) {
      const ValueId before = nest.accResults()[k];
      totals.emplace_back(before, total(id, k, conversions, keptAs, e));
      gone.push_back(k);
    }
    removeAccumulators(m_, f_, uses_, id, gone);
    const bool stays = !fn().ops[id].results.empty();
    if (!stays) uses_.leave(id);
    for (OpId made : fn().regions[region].ops) uses_.enter(made, region);
    for (auto [before, after] : totals) uses_.replace(before, after);
    return stays;
  }

  /// What accumulator `k` began with and all that is added to it.
  ValueId total(OpId id, uint32_t k, std::vector<Conversion>& conversions,
                const std::unordered_map<ValueId, ValueId>& keptAs, Emit& e) {
    ValueId init = fn().ops[id].operands[k];
    OpId initDef = fn().values[init].def;
    bool zero = initDef.valid() && fn().ops[initDef].kind == OpKind::Zero;
    ValueId total = zero ? ValueId() : init;
    for (Conversion& c : conversions) {
      Path fixed;
      std::vector<ValueId> indices;
      if (total.valid() && loops_ > 0) takeParts(c, k, id);
      if (total.valid() && isBestInPlace(c)) {
        total = addInPlace(id, c, keptAs, e, total);
        continue;
      }
      ValueId r = reduction(id, c, keptAs, e, fixed, indices);
      if (!total.valid() && fixed.empty())
        total = r;
      else
        total = addWhereReached(e, total.valid() ? total : init, r, fixed, indices, c);
    }
    return total.valid() ? total : init;
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
  /// place of its own, which is there, and is made of nothing that is updated.
  bool isBestInPlace(const Conversion& c) const {
    if (loops_ == 0 || c.mayMissPoints()) return false;
    const std::vector<DimId>& extents =
        types()[types()[fn().typeOf(fn().ops[c.site.add].operands[0])].parts[0]].dims;
    std::unordered_set<ValueId> own;
    for (size_t d = 0; d < c.target.size(); ++d) {
      const Solved& s = c.target[d];
      const bool isWhole =
          s.kind == Solved::Kind::Unit && s.index.isAxis() && c.extentOf(s.axis) == extents[d];
      if (!isWhole && s.kind != Solved::Kind::Part && s.kind != Solved::Kind::Fixed) return false;
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

  /// A nest that adds each term to what is there.
  ValueId addInPlace(OpId id, const Conversion& c, const std::unordered_map<ValueId, ValueId>& keptAs,
                     Emit& e, ValueId to) {
    const Op& add = fn().ops[c.site.add];
    Emit at = e;
    at.loc = add.loc;
    const NestBuilder opened(at);
    Reduction r{opened, {}, at.in(opened.body()), Cloner(m_, f_, f_), {}, {}, {}};
    openAxes(r, c, types()[types()[fn().typeOf(add.operands[0])].parts[0]].dims);
    for (size_t d = 0; d < c.target.size(); ++d)
      if (r.targets[d].valid()) r.map.values[c.target[d].axis] = r.targets[d];
    const ValueId acc = r.made.accumulator(to);
    const ValueId term = body(id, c, 0, keptAs, r.map, r.b);
    std::vector<ValueId> place;
    for (size_t d = 0; d < c.target.size(); ++d) {
      const ValueId from = form(r.b, c.target[d].index, c.target[d].axis, {}, r.map), own = r.targets[d];
      if (own.valid() && from.valid())
        place.push_back(r.b.add(from, own));
      else
        place.push_back(own.valid() ? own : from.valid() ? from : r.b.i64(0));
    }
    r.made.end(r.b.addAt(acc, term, Path(place.size(), PathStep{StepKind::Index, 0, {}, 1}), place));
    return r.made.one();
  }

  /// Further results of the first nest: what the others read.
  std::unordered_map<ValueId, ValueId> keep(OpId id, Plans& todo) {
    std::unordered_map<ValueId, ValueId> out;
    std::vector<ValueId> values;
    for (auto& [k, conversions] : todo)
      for (Conversion& c : conversions)
        for (ValueId v : c.kept)
          if (std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
    const std::vector<ValueId> more = collectMore(m_, fn(), uses_, id, values);
    for (size_t k = 0; k < values.size(); ++k) out[values[k]] = more[k];
    return out;
  }

  /// A place that no point of the nest reaches may not exist.
  ValueId addWhereReached(Emit& e, ValueId to, ValueId r, const Path& place, std::span<const ValueId> indices,
                          const Conversion& c) {
    if (place.empty() || types().dims.atLeast(c.points, 1)) return e.addAt(to, r, place, indices);
    Emit yes = e.in(e.newRegion()), no = e.in(e.newRegion());
    yes.yield({yes.addAt(to, r, place, indices)});
    no.yield({to});
    Op op = Emit::simple(OpKind::If, {e.cmp(ops::CmpKind::Gt, e.dimValue(c.points), e.i64(0))});
    op.regions = {yes.region, no.region};
    return e.one(std::move(op), e.typeOf(to));
  }

  ValueId scaled(Emit& e, ValueId v, int64_t c) { return c == 1 ? v : e.mul(v, e.i64(c)); }

  /// The affine form without the axes `but` and `but2`.
  ValueId form(Emit& e, const AffineIndex& i, ValueId but, ValueId but2, const Cloner& map) {
    ValueId sum;
    std::vector<ValueId> less;
    auto term = [&](ValueId v, int64_t c) {
      if (c == -1) return less.push_back(v);
      v = scaled(e, v, c);
      sum = sum.valid() ? e.add(sum, v) : v;
    };
    for (auto [a, c] : i.axes)
      if (a != but && a != but2) term(map.value(a), c);
    for (auto [v, c] : i.outside) term(v, c);
    for (auto [d, c] : i.dims) term(e.dimValue(d), c);
    if (i.constant != 0) term(e.i64(i.constant), 1);
    for (ValueId v : less) sum = sum.valid() ? e.sub(sum, v) : e.neg(v);
    return sum;
  }

  void inRange(Emit& e, ValueId v, DimId extent, ValueId& condition) {
    ValueId low = e.cmp(ops::CmpKind::Ge, v, e.i64(0)), high = e.cmp(ops::CmpKind::Lt, v, e.dimValue(extent));
    both(e, e.binary(OpKind::And, low, high), condition);
  }
  void both(Emit& e, ValueId more, ValueId& condition) {
    condition = condition.valid() ? e.binary(OpKind::And, condition, more) : more;
  }

  /// The nest that an add becomes, while it is made.
  struct Reduction {
    NestBuilder made;
    NestResult result;
    Emit b; ///< its body
    Cloner map;
    std::vector<ValueId> targets;                ///< by axis of the accumulator: the index kept
    ValueId condition;                           ///< whether the axes solved for are in range
    std::unordered_map<ValueId, ValueId> counts; ///< of the rests beside steps: which one it is
  };

  /// The axes of the target that are solved for are kept, the axes that are left are reduced. Those that tell
  /// whether a term is there stand in front: a row of terms is there or is not.
  void openAxes(Reduction& r, const Conversion& c, const std::vector<DimId>& dims) {
    std::unordered_set<ValueId> solved;
    r.targets.resize(c.target.size());
    for (size_t d = 0; d < c.target.size(); ++d) {
      if (c.target[d].kind == Solved::Kind::Fixed) continue;
      r.result.keep.push_back(static_cast<uint32_t>(r.made.axes().size()));
      const bool isPart = c.target[d].kind == Solved::Kind::Part;
      r.targets[d] = r.made.axis(isPart ? c.extentOf(c.target[d].axis) : dims[d]);
      solved.insert(c.target[d].axis);
      solved.insert(c.target[d].rest);
    }
    for (const Divided& d : c.divided) solved.insert(d.axis);
    std::unordered_set<ValueId> telling;
    for (const Solved& s : c.target)
      for (auto [axis, factor] : s.index.axes) telling.insert(axis);
    for (const Divided& d : c.divided)
      if (!d.isWhole) telling.insert({d.quotient, d.remainder});
    for (const auto& [axis, end] : c.ends) {
      telling.insert(axis);
      for (auto [other, factor] : end.axes) telling.insert(other);
    }
    for (bool tells : {true, false})
      for (size_t a = 0; a < c.axes.size(); ++a)
        if (telling.contains(c.axes[a]) == tells) openReduced(r, c, c.axes[a], solved);
    r.result.kind =
        r.made.axes().size() > r.result.keep.size() ? NestResultKind::Reduce : NestResultKind::Collect;
  }

  void openReduced(Reduction& r, const Conversion& c, ValueId axis,
                   const std::unordered_set<ValueId>& solved) {
    if (!solved.contains(axis)) {
      r.map.values[axis] = r.made.axis(c.extentOf(axis));
      return;
    }
    for (const Solved& s : c.target)
      if (s.kind == Solved::Kind::Stride && s.rest == axis)
        r.counts[axis] = r.made.axis(c.steps(types().dims, s));
  }

  /// The place of the accumulator that the whole reduction is added at: indices that no axis stands in, and
  /// parts.
  void fixedPlace(Reduction& r, const Conversion& c, Emit& e, Path& fixed, std::vector<ValueId>& indices) {
    auto isPlaced = [](const Solved& s) {
      return s.kind == Solved::Kind::Fixed || s.kind == Solved::Kind::Part;
    };
    if (std::none_of(c.target.begin(), c.target.end(), isPlaced)) return;
    for (const Solved& s : c.target) {
      if (s.kind == Solved::Kind::Part)
        fixed.push_back({StepKind::Slice, 0, c.extentOf(s.axis), 1});
      else
        fixed.push_back({isPlaced(s) ? StepKind::Index : StepKind::All, 0, {}, 1});
      if (!isPlaced(s)) continue;
      ValueId v = form(e, s.index, s.axis, {}, r.map);
      indices.push_back(v.valid() ? v : e.i64(0));
    }
  }

  /// What computes the place in the nest is the place where it is solved for; not of what is found, which is
  /// asked for.
  void placeIsKnown(Reduction& r, const Conversion& c) {
    const Op& add = fn().ops[c.site.add];
    size_t operand = 2, axis = 0;
    for (const PathStep& s : add.as<Path>()) {
      const ValueId v = s.kind == StepKind::All ? ValueId() : add.operands[operand++];
      const bool isAsked = std::ranges::any_of(
          c.target[axis].index.axes, [&](const auto& term) { return c.found.contains(term.first); });
      if (s.kind == StepKind::Index && r.targets[axis].valid() && !isAsked &&
          c.target[axis].kind != Solved::Kind::Part)
        r.map.values.try_emplace(v, r.targets[axis]);
      ++axis;
    }
  }

  /// Whether the index is its axis less one thing.
  static bool isSubtracted(const Solved& s) {
    const AffineIndex& i = s.index;
    if (i.axes.size() + i.outside.size() + i.dims.size() != 2 || i.constant != 0) return false;
    auto isTaken = [&](const auto& term) { return term.second == -1; };
    return std::ranges::any_of(i.axes, isTaken) || std::ranges::any_of(i.outside, isTaken) ||
           std::ranges::any_of(i.dims, isTaken);
  }

  void solveUnit(Reduction& r, const Conversion& c, const Solved& s, ValueId target, DimId dim) {
    const bool bare = s.index.isAxis();
    ValueId v = target, rest;
    if (!bare) {
      AffineIndex negated;
      accumulate(negated, s.index, -1);
      rest = form(r.b, s.index, s.axis, {}, r.map);
      if (rest.valid() && s.sign > 0 && isSubtracted(s))
        v = r.b.add(v, form(r.b, negated, s.axis, {}, r.map));
      else if (rest.valid())
        v = s.sign > 0 ? r.b.sub(v, rest) : r.b.sub(rest, v);
      else if (s.sign < 0)
        v = r.b.neg(v);
    }
    r.map.values[s.axis] = v;
    if (c.ends.contains(s.axis)) {
      if (rest.valid() && s.sign > 0) both(r.b, r.b.cmp(ops::CmpKind::Ge, target, rest), r.condition);
      if (s.sign < 0) both(r.b, r.b.cmp(ops::CmpKind::Ge, v, r.b.i64(0)), r.condition);
      return;
    }
    if (!bare || c.extentOf(s.axis) != dim) inRange(r.b, v, c.extentOf(s.axis), r.condition);
  }

  /// An axis `a` has its points below `end`: where it was solved for as `target - rest`, that is where the
  /// target is below the sum of both.
  void below(Reduction& r, const Conversion& c, ValueId axis, AffineIndex end, std::span<const DimId> dims) {
    ValueId left = r.map.value(axis);
    for (size_t d = 0; d < c.target.size(); ++d) {
      const Solved& s = c.target[d];
      if (s.kind != Solved::Kind::Unit || s.axis != axis || s.sign < 0) continue;
      AffineIndex rest = s.index;
      rest.axes.erase(axis);
      accumulate(end, rest, 1);
      if (end.axes.empty() && end.outside.empty() && end.constant == 0 &&
          end.dims == std::map<DimId, int64_t>{{dims[d], 1}})
        return;
      left = r.targets[d];
    }
    const ValueId right = form(r.b, end, {}, {}, r.map);
    both(r.b, r.b.cmp(ops::CmpKind::Lt, left, right.valid() ? right : r.b.i64(0)), r.condition);
  }

  void solveRadix(Reduction& r, const Conversion& c, const Solved& s, ValueId target) {
    ValueId radix = r.b.i64(s.radix);
    r.map.values[s.axis] = r.b.binary(OpKind::IDiv, target, radix);
    r.map.values[s.rest] = r.b.binary(OpKind::IRem, target, radix);
    inRange(r.b, r.map.values[s.axis], c.extentOf(s.axis), r.condition);
    if (types().dims.asConstant(c.extentOf(s.rest)) != s.radix)
      inRange(r.b, r.map.values[s.rest], c.extentOf(s.rest), r.condition);
  }

  /// What the place has beside the two axes is taken from it; of the rest of that, divided by the step, the
  /// remainder is that of the axis `rest`, which has so many points of it.
  void solveStride(Reduction& r, const Conversion& c, const Solved& s, ValueId target) {
    const ValueId step = r.b.i64(std::abs(s.radix)), count = r.counts.at(s.rest);
    const ValueId others = form(r.b, s.index, s.axis, s.rest, r.map);
    ValueId left = others.valid() ? r.b.sub(target, others) : target;
    if (s.sign < 0) left = r.b.neg(left);
    const ValueId rest = r.b.add(r.b.binary(OpKind::IRem, left, step), r.b.mul(count, step));
    const ValueId axis = r.b.sub(r.b.binary(OpKind::IDiv, left, step), count);
    const DimId extent = c.extentOf(s.rest);
    // Of one that is out of range the term is left out; what it reads may then be read in front of that.
    r.map.values[s.rest] = r.b.binary(OpKind::Min, rest, r.b.sub(r.b.dimValue(extent), r.b.i64(1)));
    r.map.values[s.axis] = s.radix > 0 ? axis : r.b.neg(axis);
    inRange(r.b, r.map.values[s.axis], c.extentOf(s.axis), r.condition);
    inRange(r.b, rest, extent, r.condition);
  }

  /// What the place has beside the axis is taken from it; what is left is divided.
  void solveMultiple(Reduction& r, const Conversion& c, const Solved& s, ValueId target) {
    const ValueId others = form(r.b, s.index, s.axis, {}, r.map), factor = r.b.i64(s.radix);
    ValueId left = others.valid() ? r.b.sub(target, others) : target;
    if (s.sign < 0) left = r.b.neg(left);
    r.map.values[s.axis] = r.b.binary(OpKind::IDiv, left, factor);
    both(r.b, r.b.cmp(ops::CmpKind::Eq, r.b.binary(OpKind::IRem, left, factor), r.b.i64(0)), r.condition);
    inRange(r.b, r.map.values[s.axis], c.extentOf(s.axis), r.condition);
  }

  /// An axis of a quotient and a remainder.
  void putTogether(Reduction& r, const Divided& d, DimId extent) {
    const ValueId by = r.b.dimValue(d.by), rest = form(r.b, d.rest, {}, {}, r.map);
    ValueId v = r.b.add(r.b.mul(r.map.value(d.quotient), by), r.map.value(d.remainder));
    if (rest.valid()) v = r.b.sub(v, rest);
    r.map.values[d.axis] = d.sign > 0 ? v : r.b.neg(v);
    if (!d.isWhole) inRange(r.b, r.map.values[d.axis], extent, r.condition);
  }

  ValueId reduction(OpId id, Conversion& c, const std::unordered_map<ValueId, ValueId>& keptAs, Emit& e,
                    Path& fixed, std::vector<ValueId>& fixedIndices) {
    const Op& add = fn().ops[c.site.add];
    const types::Type& t = types()[types()[fn().typeOf(add.operands[0])].parts[0]];
    Emit at = e;
    at.loc = add.loc;
    NestBuilder made(at);
    Reduction r{made, {}, at.in(made.body()), Cloner(m_, f_, f_), {}, {}, {}};
    openAxes(r, c, t.dims);
    fixedPlace(r, c, e, fixed, fixedIndices);
    // Bare axes first, the others may need them.
    for (bool bare : {true, false})
      for (size_t d = 0; d < c.target.size(); ++d) {
        const Solved& s = c.target[d];
        if (s.kind == Solved::Kind::Fixed || s.index.isAxis() != bare) continue;
        if (s.kind == Solved::Kind::Radix)
          solveRadix(r, c, s, r.targets[d]);
        else if (s.kind == Solved::Kind::Multiple)
          solveMultiple(r, c, s, r.targets[d]);
        else if (s.kind == Solved::Kind::Part)
          r.map.values[s.axis] = r.targets[d];
        else if (s.kind == Solved::Kind::Stride)
          solveStride(r, c, s, r.targets[d]);
        else
          solveUnit(r, c, s, r.targets[d], t.dims[d]);
      }
    for (const Divided& d : c.divided) putTogether(r, d, c.extentOf(d.axis));
    placeIsKnown(r, c);
    for (ValueId axis : c.axes)
      if (auto end = c.ends.find(axis); end != c.ends.end()) below(r, c, axis, end->second, t.dims);
    r.made.add(
        r.result,
        guarded(r.b, r.condition, [&](Emit& in) { return body(id, c, 0, keptAs, r.map, in); }, t.parts[0]));
    return r.made.one();
  }

  template <class Make>
  ValueId guarded(Emit& b, ValueId condition, Make make, TypeId type) {
    if (!condition.valid()) return make(b);
    Emit yes = b.in(b.newRegion()), no = b.in(b.newRegion());
    yes.yield({make(yes)});
    no.yield({no.zero(type)});
    Op op = Emit::simple(OpKind::If, {condition});
    op.regions = {yes.region, no.region};
    return b.one(std::move(op), type);
  }

  static bool isMapped(const Op& op, const Cloner& map) {
    return op.results.size() == 1 && map.values.contains(op.results[0]);
  }

  /// The ops of one level after another, then the value added.
  ValueId body(OpId id, const Conversion& c, size_t level, const std::unordered_map<ValueId, ValueId>& keptAs,
               Cloner& map, Emit& b) {
    if (level == 0)
      for (ValueId v : c.kept) {
        std::vector<ValueId> at;
        const std::vector<ValueId>& params = fn().regions[fn().ops[id].regions[0]].params;
        for (size_t a = 0; a < fn().ops[id].dims.size(); ++a) at.push_back(map.value(params[a]));
        map.values[v] = at.empty() ? keptAs.at(v) : b.getAt(keptAs.at(v), at, fn().typeOf(v));
      }
    for (OpId o : fn().regions[c.site.levels[level].region].ops)
      if (c.slice.count(o.index) && !isMapped(fn().ops[o], map) && !isSize(c, o, map, b)) {
        OpId copy = map.op(o, b);
        uses_.enter(copy, b.region);
        separate(m_, f_, uses_, copy, b.region);
      }
    if (level + 1 == c.site.levels.size()) return element(c, map, b);
    const SiteLevel& next = c.site.levels[level + 1];
    if (next.kind == SiteLevel::Kind::Nest) return body(id, c, level + 1, keptAs, map, b);
    TypeId type = types()[types()[fn().typeOf(fn().ops[c.site.add].operands[0])].parts[0]].parts[0];
    Emit in = b.in(b.newRegion()), other = b.in(b.newRegion());
    in.yield({body(id, c, level + 1, keptAs, map, in)});
    other.yield({other.zero(type)});
    Op op = Emit::simple(OpKind::If, {map.value(fn().ops[next.op].operands[0])});
    op.regions = {in.region, other.region};
    if (next.arm == 1) std::swap(op.regions[0], op.regions[1]);
    return b.one(std::move(op), type);
  }

  /// Whether the op reads a size from inside, which is a form of the axes.
  bool isSize(const Conversion& c, OpId id, Cloner& map, Emit& b) {
    const Op& op = fn().ops[id];
    const auto size = op.results.size() == 1 ? c.sizes.find(op.results[0]) : c.sizes.end();
    if (size == c.sizes.end()) return false;
    const ValueId v = form(b, size->second, {}, {}, map);
    map.values[size->first] = v.valid() ? v : b.i64(0);
    return true;
  }

  /// What is added, if all that is found is what its axis says.
  ValueId element(const Conversion& c, const Cloner& map, Emit& b) {
    ValueId condition;
    for (const auto& [axis, place] : c.found)
      both(b, b.cmp(ops::CmpKind::Eq, map.value(place), map.value(axis)), condition);
    const ValueId v = map.value(fn().ops[c.site.add].operands[1]);
    auto added = [&](Emit& in) {
      if (c.element.empty()) return v;
      std::vector<ValueId> at;
      for (ValueId q : c.element) at.push_back(map.value(q));
      return in.getAt(v, at, types()[fn().typeOf(v)].parts[0]);
    };
    const TypeId whole = types()[fn().typeOf(fn().ops[c.site.add].operands[0])].parts[0];
    return guarded(b, condition, added, types()[whole].parts[0]);
  }

  Module& m_;
  FunctionId f_;
  const Undefined& undefined_;
  LiveUses uses_;
  uint32_t loops_ = 0; ///< around the region at hand
};

} // namespace

bool accumulateToReduce(Module& m) {
  const Undefined undefined(m);
  bool changed = false;
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    const FunctionId f(i);
    if (!m.functions[f].body.valid()) continue;
    Accumulations all(m, f, undefined);
    all.run(m.functions[f].body);
    changed |= all.changed;
  }
  return changed;
}

} // namespace melix::transforms
