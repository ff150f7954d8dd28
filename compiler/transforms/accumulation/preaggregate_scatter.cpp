#include "transforms/accumulation/preaggregate_scatter.h"

#include "core/ir/nest.h"
#include "core/ir/uses.h"
#include "core/order/clone.h"
#include "transforms/accumulation/gather_support.h"
#include "transforms/accumulation/scatter_plan.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

namespace {

using Axes = std::vector<ScatteredAdd::Axis>;

/// Writes one add anew, after the nest that it stood in.
class Scatter {
public:
  Scatter(Module& m, FunctionId f, const ScatteredAdd& c, OpId nest, const KeptValues& kept)
      : m_(m), f_(f), c_(c), nest_(nest), kept_(kept), map_(m, f, f) {}

  /// `to` and all that is added to it.
  ValueId write(Emit& e, ValueId to) {
    if (c_.isAhead) sums_ = sumsAhead(e);
    auto isKnown = [](const ScatteredAdd::Axis& a) { return a.isKnown; };
    return guardByNonEmptyDomain(e, pointsOf(isKnown), to, [&](Emit& in) { return level(in, 0, to); });
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }
  const Op& add() const { return fn().ops[c_.site.add]; }
  TypeId element() const { return types()[types()[fn().typeOf(add().operands[0])].parts[0]].parts[0]; }

  // --- the value

  /// The sums of all places, by the axes of these, of rows and of elements; or each term, as a whole.
  ValueId sumsAhead(Emit& e) {
    NestBuilder made(e);
    Emit b = e.in(made.body());
    Cloner map(m_, f_, f_);
    NestResult result = reducing(MonoidKind::Sum);
    auto open = [&](const Axes& axes) {
      for (const ScatteredAdd::Axis& a : axes) map.values[a.param] = made.axis(a.extent);
    };
    open(c_.places);
    open(c_.rows);
    if (!c_.isSum) {
      made.collect(value(b, 0, map, true));
      return made.one();
    }
    open(c_.elements);
    for (uint32_t k = 0; k < made.axes().size(); ++k) result.keep.push_back(k);
    open(c_.summed);
    made.add(result, value(b, 0, map, true));
    return made.one();
  }

  /// The ops of one level after another, then the value added; zero in arms that are not taken.
  ValueId value(Emit& b, size_t l, Cloner& map, bool withGuards) {
    if (l == 0) readKept(fn(), nest_, c_.kept, kept_, map, b);
    copy(b, l, c_.value, map);
    if (l + 1 == c_.site.levels.size()) return valueAt(b, map);
    const SiteLevel& next = c_.site.levels[l + 1];
    if (next.kind == SiteLevel::Kind::Nest || (c_.guards[l + 1] && !withGuards))
      return value(b, l + 1, map, withGuards);
    Emit in = b.in(b.newRegion());
    in.yield({value(in, l + 1, map, withGuards)});
    const TypeId type = isWhole() ? fn().typeOf(add().operands[1]) : element();
    return branch(b, next, map, in, [&](Emit& no) { return no.zero(type); });
  }
  /// Whether terms are handed on as arrays.
  bool isWhole() const { return c_.isAhead && !c_.isSum; }

  ValueId valueAt(Emit& b, const Cloner& map) {
    const ValueId v = map.value(add().operands[1]);
    if (c_.elements.empty() || isWhole()) return v;
    std::vector<ValueId> at;
    for (const ScatteredAdd::Axis& a : c_.elements) at.push_back(map.value(a.param));
    return b.getAt(v, at, element());
  }

  void copy(Emit& b, size_t l, const std::unordered_set<OpId>& ops, Cloner& map) {
    for (OpId id : std::vector<OpId>(fn().regions[c_.site.levels[l].region].ops))
      if (ops.contains(id)) map.op(id, b);
  }

  template <class Other>
  ValueId branch(Emit& b, const SiteLevel& arm, const Cloner& map, const Emit& taken, Other other) {
    Emit no = b.in(b.newRegion());
    no.yield({other(no)});
    const TypeId type = no.typeOf(fn().ops[fn().regions[no.region].ops.back()].operands[0]);
    return materialiseBranchPath(b, arm, map.value(fn().ops[arm.op].operands[0]), taken.region, no.region,
                                 type);
  }

  // --- the place

  /// From a level inwards: the axes that places vary with, and arms that they decide.
  ValueId level(Emit& e, size_t l, ValueId to) {
    Axes axes;
    for (const ScatteredAdd::Axis& a : c_.places)
      if (a.level == l) axes.push_back(a);
    auto isOfLevel = [l](const ScatteredAdd::Axis& a) { return a.level == l && !a.isKnown; };
    return nest(e, axes, map_, to, [&](Emit& b, ValueId acc) {
      return guardByNonEmptyDomain(b, pointsOf(isOfLevel), acc,
                                   [&](Emit& in) { return insideOf(in, l, acc); });
    });
  }
  ValueId insideOf(Emit& b, size_t l, ValueId acc) {
    copy(b, l, c_.placing, map_);
    if (l + 1 == c_.site.levels.size()) return atPlace(b, acc);
    const SiteLevel& next = c_.site.levels[l + 1];
    if (next.kind == SiteLevel::Kind::Nest || !c_.guards[l + 1]) return level(b, l + 1, acc);
    Emit in = b.in(b.newRegion());
    in.yield({level(in, l + 1, acc)});
    return branch(b, next, map_, in, [&](Emit&) { return acc; });
  }

  /// A nest over these axes that adds; without axes what it would do.
  template <class Body>
  ValueId nest(Emit& e, const Axes& axes, Cloner& map, ValueId to, Body body) {
    if (axes.empty()) return body(e, to);
    NestBuilder made(e);
    for (const ScatteredAdd::Axis& a : axes) map.values[a.param] = made.axis(map.dim(a.extent));
    const ValueId acc = made.accumulator(to);
    Emit b = e.in(made.body());
    made.end(body(b, acc));
    return made.one();
  }

  ValueId atPlace(Emit& e, ValueId to) {
    Axes row = c_.rows;
    row.insert(row.end(), c_.elements.begin(), c_.elements.end());
    if (c_.isAhead)
      return nest(e, row, map_, to, [&](Emit& b, ValueId acc) { return addTo(b, acc, sumOf(b), map_); });
    if (!c_.isSum) return withoutSum(e, row, to);
    const ValueId sums = sumsHere(e, row);
    return nest(e, row, map_, to, [&](Emit& b, ValueId acc) {
      std::vector<ValueId> at;
      for (const ScatteredAdd::Axis& a : row) at.push_back(map_.value(a.param));
      return addTo(b, acc, at.empty() ? sums : b.getAt(sums, at, element()), map_);
    });
  }

  /// Of the sums made ahead the one of this place.
  ValueId sumOf(Emit& b) {
    std::vector<ValueId> at;
    for (const Axes* axes : {&c_.places, &c_.rows, &c_.elements})
      for (const ScatteredAdd::Axis& a : *axes) at.push_back(map_.value(a.param));
    return at.empty() ? sums_ : b.getAt(sums_, at, element());
  }

  /// The sums of one point of the places.
  ValueId sumsHere(Emit& e, const Axes& row) {
    NestBuilder made(e);
    Cloner map = map_;
    NestResult result = reducing(MonoidKind::Sum);
    for (const ScatteredAdd::Axis& a : row) {
      result.keep.push_back(static_cast<uint32_t>(made.axes().size()));
      map.values[a.param] = made.axis(map.dim(a.extent));
    }
    for (const ScatteredAdd::Axis& a : c_.summed) map.values[a.param] = made.axis(map.dim(a.extent));
    Emit b = e.in(made.body());
    made.add(result, value(b, 0, map, false));
    return made.one();
  }

  /// Each term by itself: axes of one point that are summed are no sum.
  ValueId withoutSum(Emit& e, Axes row, ValueId to) {
    row.insert(row.end(), c_.summed.begin(), c_.summed.end());
    return nest(e, row, map_, to, [&](Emit& b, ValueId acc) { return term(b, 0, acc); });
  }
  ValueId term(Emit& b, size_t l, ValueId to) {
    if (l == 0) readKept(fn(), nest_, c_.kept, kept_, map_, b);
    copy(b, l, c_.value, map_);
    if (l + 1 == c_.site.levels.size()) return addTo(b, to, valueAt(b, map_), map_);
    const SiteLevel& next = c_.site.levels[l + 1];
    if (next.kind == SiteLevel::Kind::Nest || c_.guards[l + 1]) return term(b, l + 1, to);
    Emit in = b.in(b.newRegion());
    in.yield({term(in, l + 1, to)});
    return branch(b, next, map_, in, [&](Emit&) { return to; });
  }

  ValueId addTo(Emit& b, ValueId to, ValueId v, const Cloner& map) {
    const Op& op = add();
    const Path path = op.as<Path>();
    const Operands operands = op.operands;
    std::vector<ValueId> at;
    size_t operand = 2, element = 0;
    for (const PathStep& s : path) {
      if (s.kind == StepKind::Index) {
        at.push_back(map.value(operands[operand++]));
        continue;
      }
      const ValueId q = map.value(c_.elements[element++].param);
      if (s.kind == StepKind::All)
        at.push_back(q);
      else
        at.push_back(b.add(map.value(operands[operand++]), s.step == 1 ? q : b.mul(q, b.i64(s.step))));
    }
    while (element < c_.elements.size()) at.push_back(map.value(c_.elements[element++].param));
    return b.addAt(to, v, Path(at.size(), PathStep{StepKind::Index, 0, {}, 1}), at);
  }

  // --- places without terms

  /// How many points such of the axes have without which a place may not be there.
  template <class Is>
  DimId pointsOf(Is is) {
    std::vector<DimId> extents;
    for (const ScatteredAdd::Axis& a : c_.needed)
      if (is(a)) extents.push_back(map_.dim(a.extent));
    return types().dims.product(extents);
  }

  Module& m_;
  FunctionId f_;
  const ScatteredAdd& c_;
  OpId nest_;
  const KeptValues& kept_;
  Cloner map_; ///< of the axes of places and rows, and of what is computed from them
  ValueId sums_;
};

class Scatters {
public:
  Scatters(Module& m, FunctionId f, const Effects& effects) : m_(m), f_(f), effects_(effects), uses_(m, f) {}

  bool run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      const bool stays = fn().ops[id].kind != OpKind::Nest || nestAccs(fn().ops[id]) == 0 || nest(id, region);
      if (stays)
        for (RegionId inner : std::vector<RegionId>(fn().ops[id].regions.begin(), fn().ops[id].regions.end()))
          run(inner);
      return stays;
    });
    return changed_;
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  using Plans = std::vector<std::pair<uint32_t, std::vector<ScatteredAdd>>>;

  Plans plans(OpId id) {
    Plans out;
    ScatterPlanner planner(m_, f_, uses_);
    for (uint32_t k = 0; k < nestAccs(fn().ops[id]); ++k) {
      std::vector<AccumulationSite> sites;
      if (!findAccumulationSites(fn(), uses_, id, k, sites)) continue;
      std::vector<ScatteredAdd> all;
      bool ok = true, gains = false;
      for (AccumulationSite& site : sites) {
        ScatteredAdd c;
        c.site = std::move(site);
        ok = ok && planner.plan(c);
        gains |= c.isSum || c.isAhead || c.isMoved;
        all.push_back(std::move(c));
      }
      if (ok && gains) out.emplace_back(k, std::move(all));
    }
    return out;
  }

  /// Appends what adds become to the region; whether anything is left of the nest.
  bool nest(OpId id, RegionId region) {
    const Plans todo = plans(id);
    if (todo.empty()) return true;
    changed_ = true;
    const KeptValues kept = keep(id, todo);
    Emit e(m_, f_, region, fn().ops[id].loc);
    std::vector<std::pair<uint32_t, ValueId>> totals;
    for (const auto& [k, all] : todo) {
      ValueId total = NestView(fn(), fn().ops[id]).accOperands()[k];
      for (const ScatteredAdd& c : all) total = Scatter(m_, f_, c, id, kept).write(e, total);
      totals.emplace_back(k, total);
    }
    return replaceAccumulators(m_, f_, effects_, uses_, id, region, totals);
  }

  KeptValues keep(OpId id, const Plans& todo) {
    std::vector<ValueId> wanted;
    for (const auto& [k, all] : todo)
      for (const ScatteredAdd& c : all) wanted.insert(wanted.end(), c.kept.begin(), c.kept.end());
    return storeValuesForScatter(m_, f_, uses_, id, std::move(wanted));
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  LiveUses uses_;
  bool changed_ = false;
};

} // namespace

bool preaggregateScatter(Module& m) {
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) { return Scatters(m, f, effects).run(m.functions[f].body); });
}

} // namespace melix::transforms
