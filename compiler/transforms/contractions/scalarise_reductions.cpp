#include "transforms/contractions/scalarise_reductions.h"

#include "core/analysis/access.h"
#include "core/analysis/sizes.h"
#include "core/ir/flow.h"
#include "core/ir/nest_results.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/loop_invariant_values.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

/// Elements of an array of which more are a row: fewer are numbers of the point.
constexpr int64_t mostNumbers = 16;
constexpr int64_t mostSums = 8; ///< of one point, in registers

class ReductionScalariser {
public:
  ReductionScalariser(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), uses_(m, f) {}
  bool changed = false;

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      for (RegionId inner : Regions(fn().ops[id].regions)) run(inner);
      if (fn().ops[id].kind != OpKind::Nest) return true;
      return rowsOfNumbers(id, region) ? false : nest(id, region);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }

  /// Appends the sums of elements; whether anything is left of the nest.
  bool nest(OpId id, RegionId region) {
    const NestView view(fn(), fn().ops[id]);
    const EffectSet effects = effects_.ofOp(fn(), id);
    if (view.accs() > 0 || effects.io || effects.debug) return true;
    std::vector<Sum> sums;
    for (const NestPart& part : view.parts())
      if (std::optional<Sum> sum = sumOf(view, part, effects.any())) sums.push_back(std::move(*sum));
    if (sums.empty()) return true;
    changed = true;
    for (const Sum& sum : sums) write(id, sum, region);
    std::vector<bool> gone(fn().ops[id].results.size(), false);
    for (const Sum& sum : sums) gone[sum.result] = true;
    uses_.change(terminatorId(fn(), fn().ops[id].regions[0]),
                 [&](Op&) { uses_.change(id, [&](Op&) { removeSlots(fn(), id, gone); }); });
    if (!fn().ops[id].results.empty() || effects.any()) return true;
    uses_.leave(id);
    return false;
  }

  /// Sums whose last axis has few points, and whose terms share what is expensive, become sums of rows of
  /// these.
  bool rowsOfNumbers(OpId id, RegionId region) {
    const NestView view(fn(), fn().ops[id]);
    const OpId inner = onlySum(id, view);
    if (!inner.valid() || !sharesExpensive(view.axisParams().back(), inner)) return false;
    changed = true;
    const std::vector<ValueId> old(view.axisParams().begin(), view.axisParams().end());
    const Dims extents = fn().ops[id].dims;
    const RegionId body = view.body(), terms = fn().ops[inner].regions[0];
    const std::vector<ValueId> summed = fn().regions[terms].params;
    const ValueId result = fn().ops[id].results[0];

    Builder b(m_, f_, region, fn().ops[id].loc);
    NestBuilder points(b);
    Cloner copy(m_, f_, f_);
    for (size_t k = 0; k + 1 < extents.size(); ++k) copy.values[old[k]] = points.axis(extents[k]);
    Builder point = b.in(points.body());
    NestBuilder sum(point);
    for (size_t k = 0; k < summed.size(); ++k) copy.values[summed[k]] = sum.axis(fn().ops[inner].dims[k]);
    Builder term = point.in(sum.body());
    NestBuilder row(term);
    copy.values[old.back()] = row.axis(extents.back());
    Builder number = term.in(row.body());
    for (OpId op : std::vector<OpId>(fn().regions[body].ops))
      if (op != inner && fn().ops[op].kind != OpKind::Yield) copy.op(op, number);
    row.collect(copy.body(terms, number).values[0]);
    sum.add(reducing(MonoidKind::Sum), row.one());
    points.collect(sum.one());
    const ValueId made = points.one();
    uses_.enter(fn().values[made].def, region);
    uses_.replace(result, made);
    uses_.leave(id);
    run(points.body());
    return true;
  }
  /// The sum that a nest of two axes or more collects, if nothing but what is copied stands beside it.
  OpId onlySum(OpId id, const NestView& view) const {
    if (view.axes() < 2 || view.accs() > 0 || view.parts().size() != 1 || effects_.ofOp(fn(), id).any())
      return {};
    const NestPart& part = view.parts()[0];
    const std::optional<int64_t> few = types().dims.asConstant(fn().ops[id].dims.back());
    if (part.spec->kind != NestResultKind::Collect || part.spec->keep != collecting(view.axes()).keep ||
        !few || *few < 2 || *few > mostSums)
      return {};
    const OpId inner = fn().values[view.yields(part)[0]].def;
    if (!inner.valid() || uses_.regionOf(inner) != view.body() || fn().ops[inner].kind != OpKind::Nest)
      return {};
    for (OpId op : fn().regions[view.body()].ops)
      if (op != inner && fn().ops[op].kind != OpKind::Yield && !isCopied(fn().ops[op])) return {};
    const NestView sum(fn(), fn().ops[inner]);
    const bool isOne = sum.accs() == 0 && sum.parts().size() == 1 && fn().ops[inner].resultDims.empty() &&
                       isSum(*sum.parts()[0].spec) && sum.parts()[0].spec->keep.empty();
    return isOne && types::isFloatKind(types().kind(fn().typeOf(fn().ops[inner].results[0]))) ? inner
                                                                                              : OpId();
  }
  /// Whether what a term takes quotients or functions for is the same along an axis.
  bool sharesExpensive(ValueId axis, OpId sum) const {
    const AccessInfo info(fn()); // of the function while it is rewritten: none that is kept
    bool shares = false;
    forEachOp(fn(), fn().ops[sum].regions[0], [&](OpId id) {
      const Op& op = fn().ops[id];
      shares = shares || (isExpensiveNumber(op) && !info.axesOf(op.results[0]).contains(axis));
    });
    return shares;
  }
  static bool isExpensiveNumber(const Op& op) {
    return flopsOf(op.kind) >= quotientFlops && op.kind != OpKind::IDiv && op.kind != OpKind::IRem;
  }

  /// One sum of arrays.
  struct Sum {
    uint32_t result;
    std::vector<uint32_t> keep;
    ValueId row;
    OpId made;                    ///< the nest that collects it from numbers of the point and rows; or none
    std::vector<OpId> recomputed; ///< what the point computes for it, in order
    /// Nests of the point that collect cheap elements, each read at one place and made there.
    std::unordered_set<OpId> inlined;
    std::vector<ValueId> needed; ///< rows that are collected for all points; of few numbers none
  };

  std::optional<Sum> sumOf(const NestView& view, const NestPart& part, bool panics) const {
    const NestResult& r = *part.spec;
    if (!isSum(r) || r.keep.size() == view.axes()) return std::nullopt;
    Sum sum{part.results.first, r.keep, view.yields(part)[0], {}, {}, {}, {}};
    const types::Type& type = types()[fn().typeOf(sum.row)];
    if (type.kind != TypeKind::Array || !types::isFloatKind(types().kind(type.parts[0]))) return std::nullopt;
    const std::optional<int64_t> elements = types().dims.asConstant(types().dims.product(type.dims));
    if (elements && *elements < mostNumbers) {
      const bool fits =
          type.dims.size() == 1 && *elements > 0 && *elements <= mostSums && gainsLanes(view, r);
      return fits ? std::optional(std::move(sum)) : std::nullopt;
    }
    if (!panics && makesElements(view.body(), sum)) return sum;
    sum.made = {};
    sum.recomputed.clear();
    sum.inlined.clear();
    sum.needed = {sum.row};
    return isRow(sum.row) ? std::optional(std::move(sum)) : std::nullopt;
  }

  /// Whether points go well side by side: of lanes along a reduced axis, which are added up at the end, only
  /// terms gain that take more than sums and products.
  bool gainsLanes(const NestView& view, const NestResult& r) const {
    bool isExpensive = false, isAlongReduced = false;
    forEachOp(fn(), view.body(), [&](OpId id) {
      const Op& op = fn().ops[id];
      isExpensive = isExpensive || isExpensiveNumber(op);
      if (op.kind != OpKind::Get || !types().isScalar(fn().typeOf(op.results[0])) || op.operands.size() < 2)
        return;
      const auto axes = view.axisParams();
      const auto at = std::ranges::find(axes, op.operands.back());
      isAlongReduced = isAlongReduced ||
                       (at != axes.end() &&
                        std::ranges::find(r.keep, static_cast<uint32_t>(at - axes.begin())) == r.keep.end());
    });
    return isExpensive || !isAlongReduced;
  }

  /// Whether each element is made by a nest of its own, of little else than numbers of the point and rows.
  bool makesElements(RegionId body, Sum& sum) const {
    const OpId def = fn().values[sum.row].def;
    if (!def.valid() || uses_.regionOf(def) != body || fn().ops[def].kind != OpKind::Nest) return false;
    const NestView nest(fn(), fn().ops[def]);
    if (!collectsElements(nest, sum.row) || isExpensive(Costs(m_, fn()).ofRegion(nest.body()))) return false;
    sum.made = def;
    std::unordered_set<OpId> recomputed;
    if (!need(fn().ops[def], body, recomputed, sum)) return false;
    for (OpId id : fn().regions[body].ops)
      if (recomputed.contains(id)) sum.recomputed.push_back(id);
    return !mentionsSizesOf(body, sum);
  }
  /// Whether an op that is copied elsewhere needs a size that the point finds.
  bool mentionsSizesOf(RegionId body, const Sum& sum) const {
    std::unordered_set<DimSym> sizes;
    for (OpId id : fn().regions[body].ops)
      sizes.insert(fn().ops[id].resultDims.begin(), fn().ops[id].resultDims.end());
    std::vector<OpId> made{sum.made};
    made.insert(made.end(), sum.recomputed.begin(), sum.recomputed.end());
    made.insert(made.end(), sum.inlined.begin(), sum.inlined.end());
    return !sizes.empty() && std::ranges::any_of(made, [&](OpId id) {
      return std::ranges::any_of(sizesWithin(m_, fn(), id), [&](DimSym s) { return sizes.contains(s); });
    });
  }
  /// Whether the value is all that a nest makes, an element at each point.
  bool collectsElements(const NestView& nest, ValueId v) const {
    return nest.accs() == 0 && nest.parts().size() == 1 && fn().ops[fn().values[v].def].resultDims.empty() &&
           nest.parts()[0].spec->kind == NestResultKind::Collect &&
           nest.parts()[0].spec->keep == collecting(nest.axes()).keep &&
           nest.axes() == types()[fn().typeOf(v)].dims.size();
  }
  /// Whether `of`, of the body `reads`, reads one element of an array that each point makes, and recomputing
  /// that element costs less than storing the array for all points.
  bool readsCheapElement(OpId of, RegionId reads, ValueId v) const {
    const Op& get = fn().ops[of];
    const OpId def = fn().values[v].def;
    if (get.kind != OpKind::Get || get.operands[0] != v || uses_.regionOf(of) != reads ||
        get.as<Path>().size() + 1 != get.operands.size() || !types().isScalar(fn().typeOf(get.results[0])) ||
        !def.valid() || fn().ops[def].kind != OpKind::Nest)
      return false;
    const NestView nest(fn(), fn().ops[def]);
    return nest.axes() > 1 && collectsElements(nest, v) &&
           std::ranges::all_of(fn().regions[nest.body()].ops,
                               [&](OpId id) { return fn().ops[id].regions.empty(); }) &&
           !isExpensive(Costs(m_, fn()).ofRegion(nest.body()));
  }
  bool need(const Op& op, RegionId body, std::unordered_set<OpId>& recomputed, Sum& sum) const {
    bool good = true;
    auto take = [&](const Op& of, OpId id = {}) {
      for (ValueId v : of.operands) {
        if (!good || uses_.homeOf(v) != body) continue;
        const OpId def = fn().values[v].def;
        if (!def.valid() || recomputed.contains(def)) continue; // an axis
        if (isCopied(fn().ops[def])) {
          recomputed.insert(def);
          good = need(fn().ops[def], body, recomputed, sum);
        } else if (id.valid() && readsCheapElement(id, op.regions[0], v)) {
          good = sum.inlined.insert(def).second && need(fn().ops[def], body, recomputed, sum);
        } else if (std::ranges::find(sum.needed, v) == sum.needed.end()) {
          good = isRow(v);
          sum.needed.push_back(v);
        }
      }
    };
    take(op);
    for (RegionId r : op.regions) forEachOp(fn(), r, [&](OpId id) { take(fn().ops[id], id); });
    return good;
  }

  /// Whether a value of a point may be collected for all of them: it has one axis at most, and it is no loop,
  /// and of no loop, that makes it.
  bool isRow(ValueId v) const {
    const types::Type& type = types()[fn().typeOf(v)];
    const bool isArray = type.kind == TypeKind::Array;
    if (isArray ? type.dims.size() > 1 || !types().isScalar(type.parts[0])
                : !types().isScalar(fn().typeOf(v)))
      return false;
    std::vector<ValueId> todo{v};
    std::unordered_set<OpId> seen;
    const RegionId home = uses_.homeOf(v);
    while (!todo.empty()) {
      const OpId def = fn().values[todo.back()].def;
      todo.pop_back();
      if (!def.valid() || !seen.insert(def).second) continue;
      if (!isShort(def)) return false;
      auto take = [&](const Op& of) {
        for (ValueId x : of.operands)
          if (uses_.homeOf(x) == home) todo.push_back(x);
      };
      take(fn().ops[def]);
      for (RegionId r : fn().ops[def].regions) forEachOp(fn(), r, [&](OpId id) { take(fn().ops[id]); });
    }
    return true;
  }
  bool isShort(OpId id) const {
    bool fits = true;
    auto look = [&](const Op& op) {
      switch (op.kind) {
      case OpKind::For:
      case OpKind::While:
      case OpKind::Call:
      case OpKind::Apply:
      case OpKind::ArgSort:
      case OpKind::Builtin: fits = false; break;
      default: fits = fits && op.resultDims.empty();
      }
    };
    look(fn().ops[id]);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, [&](OpId inner) { look(fn().ops[inner]); });
    return fits;
  }

  void write(OpId id, const Sum& sum, RegionId region) {
    if (!sum.made.valid() && sum.needed.empty())
      writeNumbers(id, sum, region);
    else
      writeElements(id, sum, region);
  }
  /// Each of few numbers is a sum of its own.
  void writeNumbers(OpId id, const Sum& sum, RegionId region) {
    const size_t before = fn().regions[region].ops.size();
    Builder b(m_, f_, region, fn().ops[id].loc);
    Builder in = b.in(fn().ops[id].regions[0]);
    const TypeId row = fn().typeOf(sum.row);
    const Dims axes = fn().ops[id].dims;
    const NestResult spec = reducing(MonoidKind::Sum, sum.keep);
    std::vector<ValueId> sums;
    for (int64_t k = 0; k < *types().dims.asConstant(types()[row].dims[0]); ++k) {
      const ValueId number = atEnd(in, sum.row, k);
      sums.push_back(
          fn().values.add(Value{nestResultType(types(), spec, axes, fn().typeOf(number)), id, {}, 0, {}}));
      addResult(fn(), uses_, id, spec, number, std::span(&sums.back(), 1));
    }
    ValueId made;
    if (sum.keep.empty()) {
      made = b.one(Builder::simple(OpKind::ArrayOf, Operands(sums.begin(), sums.end())), row);
    } else {
      NestBuilder nest(b);
      std::vector<DimId> kept;
      for (uint32_t a : sum.keep) kept.push_back(axes[a]);
      const std::vector<ValueId> at = nest.openAxes(kept);
      Builder point = b.in(nest.body());
      Operands numbers;
      for (ValueId s : sums) numbers.push_back(point.getAt(s, at));
      nest.collect(point.one(Builder::simple(OpKind::ArrayOf, std::move(numbers)), row));
      made = nest.one();
    }
    for (size_t k = before; k < fn().regions[region].ops.size(); ++k)
      uses_.enter(fn().regions[region].ops[k], region);
    uses_.replace(fn().ops[id].results[sum.result], made);
  }
  /// The number of a row, read before the end of the body.
  ValueId atEnd(Builder& in, ValueId row, int64_t k) {
    std::vector<OpId>& ops = fn().regions[in.region].ops;
    const OpId end = ops.back();
    ops.pop_back();
    const ValueId index = in.integer(k), number = in.getAt(row, std::span(&index, 1));
    for (ValueId v : {index, number}) uses_.enter(fn().values[v].def, in.region);
    ops.push_back(end);
    return number;
  }
  void writeElements(OpId id, const Sum& sum, RegionId region) {
    const std::vector<ValueId> rows = collectMore(m_, fn(), uses_, id, sum.needed);
    const Op& op = fn().ops[id];
    const ValueId old = op.results[sum.result];
    std::vector<DimId> extents(op.dims.begin(), op.dims.end());
    const size_t outer = extents.size();
    const std::vector<DimId> own = types()[fn().typeOf(sum.row)].dims;
    extents.insert(extents.end(), own.begin(), own.end());
    NestResult kept = reducing(MonoidKind::Sum, sum.keep);
    for (size_t k = outer; k < extents.size(); ++k) kept.keep.push_back(static_cast<uint32_t>(k));

    const size_t before = fn().regions[region].ops.size();
    Builder b(m_, f_, region, op.loc);
    NestBuilder nest(b);
    const std::vector<ValueId> at = nest.openAxes(extents);
    Builder in = b.in(nest.body());
    nest.add(kept, sum.made.valid() ? element(id, sum, rows, at, in) : in.getAt(rows[0], at));
    const ValueId made = nest.one();
    for (size_t k = before; k < fn().regions[region].ops.size(); ++k)
      uses_.enter(fn().regions[region].ops[k], region);
    uses_.replace(old, made);
  }
  /// What the nest that collects the row makes of a point of it.
  ValueId element(OpId id, const Sum& sum, const std::vector<ValueId>& rows, const std::vector<ValueId>& at,
                  Builder& in) {
    const NestView around(fn(), fn().ops[id]), inner(fn(), fn().ops[sum.made]);
    Cloner copy(m_, f_, f_);
    for (size_t k = 0; k < around.axes(); ++k) copy.values[around.axisParams()[k]] = at[k];
    for (size_t k = 0; k < inner.axes(); ++k) copy.values[inner.axisParams()[k]] = at[around.axes() + k];
    const std::vector<ValueId> points(at.begin(), at.begin() + static_cast<long>(around.axes()));
    for (size_t k = 0; k < rows.size(); ++k) {
      const Path path(points.size(), PathStep{StepKind::Index, 0, {}, 1});
      copy.values[sum.needed[k]] = in.get(rows[k], path, points);
    }
    for (OpId op : sum.recomputed) copy.op(op, in);
    return elementOf(sum, inner.body(), copy, in);
  }
  /// What a body yields; of inlined arrays it makes the elements that it reads.
  ValueId elementOf(const Sum& sum, RegionId body, Cloner& copy, Builder& in) {
    for (OpId id : std::vector<OpId>(fn().regions[body].ops)) {
      const Op op = fn().ops[id];
      if (op.kind == OpKind::Yield) return copy.value(op.operands[0]);
      const OpId array = op.kind == OpKind::Get ? fn().values[op.operands[0]].def : OpId();
      if (!array.valid() || !sum.inlined.contains(array)) {
        copy.op(id, in);
        continue;
      }
      const RegionId makes = fn().ops[array].regions[0];
      for (size_t k = 1; k < op.operands.size(); ++k)
        copy.values[fn().regions[makes].params[k - 1]] = copy.value(op.operands[k]);
      copy.values[op.results[0]] = elementOf(sum, makes, copy, in);
    }
    return {};
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  LiveUses uses_;
};

/// Whether a function has sums of arrays, or sums along which few numbers lie.
bool sumsArrays(const Module& m, const Function& f) {
  bool sums = false;
  forEachOp(f, [&](OpId id) {
    const Op& op = f.ops[id];
    if (op.kind != OpKind::Nest) return;
    const NestView nest(f, op);
    const std::optional<int64_t> few =
        op.dims.size() > 1 ? m.types.dims.asConstant(op.dims.back()) : std::nullopt;
    sums = sums || (few && *few <= mostSums);
    for (const NestPart& part : nest.parts())
      sums = sums || (part.spec->kind == NestResultKind::Reduce &&
                      m.types.kind(f.typeOf(nest.yields(part)[0])) == TypeKind::Array);
  });
  return sums;
}

} // namespace

bool scalariseReductions(Module& m) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    if (!sumsArrays(m, m.functions[f])) return false;
    ReductionScalariser spreading(m, f, effects);
    spreading.run(m.functions[f].body);
    return spreading.changed;
  });
}

} // namespace melix::transforms
