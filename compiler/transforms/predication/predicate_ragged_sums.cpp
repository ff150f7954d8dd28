#include "transforms/predication/predicate_ragged_sums.h"

#include "core/analysis/footprint.h"
#include "core/analysis/ranges.h"
#include "core/ir/place.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/affine_bounds.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/predicated_sum.h"
#include "transforms/walks/rewrite_with_ranges.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_set>

namespace melix::transforms {

using namespace core;
using ops::CmpKind;

namespace {

constexpr int64_t fewTerms = 8;    ///< that more or less of them cost nothing
constexpr int64_t fewInLanes = 32; ///< that lanes go through each by itself

/// A sum that becomes one under a mask.
struct Range {
  OpId nest;
  ValueId axis;                      ///< counts from 0
  std::optional<DimId> offset;       ///< what is added to it
  std::unordered_set<ValueId> index; ///< the sums of both
  Forms begins, ends;                ///< the greatest, and the least
  DimId extent;
};

class RaggedSumPredicator {
public:
  RaggedSumPredicator(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), forms_(m, f), ranges_(m, f),
        scratch_(m.functions[f].regions.add(Region{})) {}
  bool changed = false;

  void run(RegionId region) {
    auto mask = [this](OpId id, RegionId around) {
      const std::optional<Range> range = rangeIn(id, around);
      changed |= range.has_value();
      return std::array{range ? masked(*range) : id};
    };
    rewriteInRanges(m_, f_, ranges_, region, mask);
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::DimStore& dims() const { return m_.types.dims; }
  ValueId lastOf(OpId nest) const {
    const NestView view(fn(), fn().ops[nest]);
    return view.axes() == 0 ? ValueId() : view.axisParams().back();
  }

  /// Of a nest in the body of one that makes columns.
  std::optional<Range> rangeIn(OpId id, RegionId region) {
    const OpId around = fn().regions[region].parent;
    if (fn().ops[id].kind != OpKind::Nest || !around.valid() || fn().ops[around].kind != OpKind::Nest)
      return std::nullopt;
    const ValueId lastAxis = lastOf(around);
    return lastAxis.valid() && !areFew(lastAxis) ? rangeOf(id, lastAxis) : std::nullopt;
  }
  /// Whether so few sums are known to lie side by side that they are no columns of tiles.
  bool areFew(ValueId axis) { return ranges_.isNoLess(dims().constant(2), forms_.extentOf(axis)); }

  std::optional<Range> rangeOf(OpId id, ValueId lastAxis) {
    const Op& op = fn().ops[id];
    const NestView nest(fn(), op);
    if (nest.axes() != 1 || nest.accs() > 0 || nest.parts().size() != 1) return std::nullopt;
    const NestResult& r = *nest.parts()[0].spec;
    if (!isSum(r) || !m_.types.isFloat(fn().typeOf(op.results[0])) || effects_.ofOp(fn(), id).any())
      return std::nullopt;
    Range out;
    out.nest = id;
    out.axis = nest.axisParams()[0];
    findOffset(out, nest.body());
    const DimId begin = out.offset ? *out.offset : dims().constant(0);
    const std::optional<Forms> begins = forms_.of(begin, Extreme::Greatest),
                               ends = forms_.of(dims().add(begin, op.dims[0]), Extreme::Least);
    if (!begins || !ends) return std::nullopt;
    if (setEnds(out, *begins, *ends) && isProduct(out, nest.body(), lastAxis)) return out;
    const bool isOfLanes =
        setLanes(out, *begins, *ends, lastAxis) && isSideBySide(out, nest.body(), lastAxis);
    return isOfLanes ? std::optional(std::move(out)) : std::nullopt;
  }
  /// What all uses of the axis add to it, if that is one size.
  void findOffset(Range& out, RegionId body) const {
    bool isOne = true, isUsedAlone = false;
    forEachOp(fn(), body, [&](OpId id) {
      const Op& op = fn().ops[id];
      if (std::ranges::find(op.operands, out.axis) == op.operands.end()) return;
      const std::optional<DimId> with = op.kind == OpKind::Add ? otherSize(op, out.axis) : std::nullopt;
      if (!with) {
        isUsedAlone = true;
      } else if (!out.offset || *out.offset == *with) {
        out.offset = with;
        out.index.insert(op.results[0]);
      } else {
        isOne = false;
      }
    });
    if (!isOne || isUsedAlone) out.offset.reset(), out.index.clear();
  }
  std::optional<DimId> otherSize(const Op& sum, ValueId axis) const {
    return forms_.sizeOf(sum.operands[sum.operands[0] == axis ? 1 : 0]);
  }

  /// Whether one of them differs with axes and they are within an extent from outside, of which the terms
  /// are no small part: over all rows together the one that differs goes from where the other is to about
  /// where the extent ends.
  bool setEnds(Range& out, const Forms& begins, const Forms& ends) {
    const DimId nothing = dims().constant(0), few = dims().constant(fewTerms);
    std::set<ValueId> axes = axesOf(begins);
    axes.merge(axesOf(ends));
    for (const AffineForm& form : ends) {
      const std::optional<DimId> most = forms_.greatest(form), least = forms_.least(form);
      if (!most || !least || !ranges_.isNoLess(dims().add(*least, few), nothing)) return false;
      const DimId size = sizeOf(*most, axes);
      out.extent = out.extent.valid() ? dims().min(out.extent, size) : size;
    }
    bool isNatural = false;
    for (const AffineForm& form : begins) {
      const std::optional<DimId> most = forms_.greatest(form), least = forms_.least(form);
      if (!most || !least || !ranges_.isNoLess(few, *least) ||
          !ranges_.isNoLess(dims().add(out.extent, few), *most))
        return false;
      isNatural |= ranges_.isNoLess(*least, nothing);
      if (!form.axes.empty() || !ranges_.isNoLess(nothing, *most)) out.begins.push_back(form);
    }
    out.ends = ends;
    return isNatural && axesOf(out.begins).empty() != axesOf(out.ends).empty();
  }
  /// Whether the columns alone determine the ends and each begins elsewhere, ends that are not known to be
  /// close to each other: those that begin together read alike as they are.
  bool setLanes(Range& out, const Forms& begins, const Forms& ends, ValueId lastAxis) {
    const DimId nothing = dims().constant(0);
    std::set<ValueId> axes = axesOf(begins);
    axes.merge(axesOf(ends));
    if (axes != std::set{lastAxis} || axesOf(begins).empty()) return false;
    out.extent = {};
    for (const AffineForm& form : ends) {
      const std::optional<DimId> most = forms_.greatest(form);
      if (!most || areClose(begins, form)) return false;
      const DimId size = sizeOf(*most, axes);
      out.extent = out.extent.valid() ? dims().min(out.extent, size) : size;
    }
    out.begins.clear();
    bool isNatural = false;
    for (const AffineForm& form : begins) {
      const std::optional<DimId> most = forms_.greatest(form), least = forms_.least(form);
      if (!most || !least) return false;
      isNatural |= ranges_.isNoLess(*least, nothing);
      if (!form.axes.empty() || !ranges_.isNoLess(nothing, *most)) out.begins.push_back(form);
    }
    out.ends = ends;
    return isNatural;
  }
  /// Whether an end is known to be few terms after a beginning.
  bool areClose(const Forms& begins, const AffineForm& end) const {
    return std::ranges::any_of(begins, [&](const AffineForm& begin) {
      AffineForm terms = end;
      terms.add(begin, -1);
      return terms.axes.empty() && terms.dims.empty() && terms.constant <= fewInLanes;
    });
  }

  /// A size that a number is at most, which is one too wherever the axes have points or not.
  DimId sizeOf(DimId most, const std::set<ValueId>& axes) {
    if (dims().atLeast(most, 0)) return most;
    for (ValueId axis : axes) {
      const DimId extent = forms_.extentOf(axis);
      if (ranges_.isNoLess(most, extent)) return most;
      if (ranges_.isNoLess(extent, most) &&
          ranges_.isNoLess(dims().add(most, dims().constant(fewTerms)), extent))
        return extent;
    }
    return dims().max(most, dims().constant(0));
  }
  static std::set<ValueId> axesOf(const Forms& forms) {
    std::set<ValueId> out;
    for (const AffineForm& form : forms)
      for (auto [axis, factor] : form.axes) out.insert(axis);
    return out;
  }

  // --- the accesses of a term
  // ---------------------------------------------------------------------------------------------------------
  /// The reads of a term that is cheap: ops on scalars of elements of arrays. None if it is any other term.
  std::vector<OpId> readsOfCheapTerm(RegionId body) const {
    std::vector<OpId> reads;
    for (OpId id : fn().regions[body].ops) {
      const Op& op = fn().ops[id];
      const bool isScalar =
          std::ranges::all_of(op.results, [this](ValueId v) { return m_.types.isScalar(fn().typeOf(v)); });
      if (!op.regions.empty() || !isScalar) return {};
      if (op.kind == OpKind::Get) reads.push_back(id);
    }
    return isExpensive(Costs(m_, fn()).ofRegion(body)) ? std::vector<OpId>() : reads;
  }
  /// Whether a term is made of elements that are there over all of the extent, two of which each vary with an
  /// axis that the other does not; and it is not the last axis alone, the columns, that tells the ends.
  bool isProduct(const Range& range, RegionId body, ValueId lastAxis) {
    Footprint term;
    for (OpId read : readsOfCheapTerm(body)) {
      if (!isThere(range, read)) return false;
      Axes axes;
      for (ValueId v : Operands(fn().ops[read].operands)) addAxes(range, v, axes);
      if (axes.contains(range.axis)) term.operands.push_back(std::move(axes));
    }
    std::set<ValueId> boundAxes = axesOf(range.begins);
    boundAxes.merge(axesOf(range.ends));
    return term.hasTwoSides() && boundAxes != std::set{lastAxis};
  }
  /// Whether a term is made of two elements or more, of which those of one lie side by side along the
  /// columns, and all others do or are the same for all.
  bool isSideBySide(const Range& range, RegionId body, ValueId lastAxis) const {
    const std::vector<OpId> reads = readsOfCheapTerm(body);
    bool any = false;
    for (OpId read : reads) {
      const Op& get = fn().ops[read];
      if (get.operands.size() < 2 || forms_.isRagged(fn().typeOf(get.operands[0]))) return false;
      for (size_t k = 1; k + 1 < get.operands.size(); ++k)
        if (variesWith(lastAxis, get.operands[k], range)) return false;
      any |= variesWith(lastAxis, get.operands.back(), range);
    }
    return any && reads.size() > 1;
  }
  /// Whether an index is made of an axis, beside the indices of the range.
  bool variesWith(ValueId axis, ValueId v, const Range& range) const {
    if (v == axis || !forms_.axesOf(v).contains(axis) || isIndex(range, v)) return v == axis;
    const OpId def = fn().values[v].def;
    return !def.valid() || std::ranges::any_of(fn().ops[def].operands,
                                               [&](ValueId each) { return variesWith(axis, each, range); });
  }
  /// A read of an element that is in range wherever the axis is within the extent.
  bool isThere(const Range& range, OpId read) {
    if (!read.valid() || fn().ops[read].kind != OpKind::Get) return false;
    const Op& get = fn().ops[read];
    const Path& path = get.as<Path>();
    const types::Type array = m_.types[fn().typeOf(get.operands[0])];
    if (array.kind != TypeKind::Array || path.size() != array.dims.size() ||
        pathOperands(path) != path.size() || forms_.isRagged(fn().typeOf(get.operands[0])))
      return false;
    for (size_t k = 0; k < path.size(); ++k) {
      const ValueId index = get.operands[k + 1];
      const bool isIn = path[k].kind == StepKind::Index &&
                        (isIndex(range, index) ? ranges_.isNoLess(array.dims[k], range.extent)
                                               : !forms_.axesOf(index).contains(range.axis) &&
                                                     ranges_.isIndex(index, array.dims[k]));
      if (!isIn) return false;
    }
    return true;
  }
  static bool isIndex(const Range& range, ValueId v) {
    return range.offset ? range.index.contains(v) : v == range.axis;
  }
  /// The axes that an operand of a read varies with.
  void addAxes(const Range& range, ValueId v, std::set<ValueId>& out) const {
    if (isIndex(range, v)) return (void)out.insert(range.axis);
    out.insert(forms_.axesOf(v).begin(), forms_.axesOf(v).end());
  }

  // --- the mask
  // ---------------------------------------------------------------------------------------------------------
  /// What makes the sum instead.
  OpId masked(const Range& range) {
    const Op op = fn().ops[range.nest];
    Builder b(m_, f_, scratch_, op.loc);
    NestBuilder made(b);
    const ValueId k = made.axis(range.extent, fn().values[range.axis].hint);
    Builder in = b.in(made.body());
    ValueId holds;
    auto require = [&](CmpKind how, const AffineForm& form) {
      const ValueId is = in.compare(how, k, emit(in, form));
      holds = holds.valid() ? in.binary(OpKind::And, holds, is) : is;
    };
    for (const AffineForm& form : range.begins) require(CmpKind::Ge, form);
    for (const AffineForm& form : range.ends)
      if (!isExtent(form, range.extent)) require(CmpKind::Lt, form);
    const NestResult spec = nestResults(op)[0];
    const TypeId type = fn().typeOf(op.results[0]);
    made.add(spec,
             selectOrZero(in, holds, type, [&](Builder& yes) { return term(range, op.regions[0], k, yes); }));
    const std::vector<ValueId> old(op.results.begin(), op.results.end());
    const OpId nest = made.finish();
    takeOver(fn(), nest, old);
    fn().regions[scratch_].ops.clear();
    return nest;
  }
  bool isExtent(const AffineForm& form, DimId extent) const {
    return form.axes.empty() && forms_.greatest(form) == extent;
  }
  ValueId term(const Range& range, RegionId body, ValueId k, Builder& b) {
    Cloner copy(m_, f_, f_);
    copy.values[range.axis] = k;
    copy.instead = [&](OpId id, Builder&) {
      const Op& op = fn().ops[id];
      if (op.results.size() != 1 || !range.index.contains(op.results[0])) return false;
      copy.values[op.results[0]] = k;
      return true;
    };
    return copy.body(body, b).values[0];
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const AffineBounds forms_;
  Ranges ranges_;
  const RegionId scratch_; ///< where ops are made
};

} // namespace

bool predicateRaggedSums(Module& m) {
  require(m, {State::SumsUnordered});
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    RaggedSumPredicator masker(m, f, effects);
    masker.run(m.functions[f].body);
    if (masker.changed) eliminateDeadValues(m, f, effects);
    return masker.changed;
  });
}

} // namespace melix::transforms
