#include "transforms/predication/ragged_ranges.h"

#include "core/analysis/footprint.h"
#include "core/ir/flow.h"
#include "core/ir/nest.h"
#include "core/ir/place.h"
#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/analysis/index_offset.h"
#include "transforms/counted_loops/recurrence.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int64_t fewTerms = 8;    ///< that more or less of them cost nothing
constexpr int64_t fewInLanes = 32; ///< that lanes go through each by itself

} // namespace

std::optional<RaggedRange> RaggedRanges::of(OpId id, RegionId region) {
  const OpId around = fn().regions[region].parent;
  const OpKind kind = fn().ops[id].kind;
  if ((kind != OpKind::Nest && kind != OpKind::For) || !around.valid() ||
      fn().ops[around].kind != OpKind::Nest)
    return std::nullopt;
  const NestView outer(fn(), fn().ops[around]);
  const ValueId lastAxis = outer.axes() == 0 ? ValueId() : outer.axisParams().back();
  return lastAxis.valid() && !areFew(lastAxis) ? inColumns(id, lastAxis) : std::nullopt;
}

bool RaggedRanges::areFew(ValueId axis) {
  return ranges_.isNoLess(dims().constant(2), bounds_.extentOf(axis));
}

std::optional<RaggedRange> RaggedRanges::inColumns(OpId id, ValueId lastAxis) {
  RaggedRange out;
  out.sum = id;
  const bool isSum = fn().ops[id].kind == OpKind::Nest ? isNestOfTerms(out) : isLoopOfTerms(out);
  if (!isSum || effects_.ofOp(fn(), id).any()) return std::nullopt;
  findOffset(out);
  const std::optional<Forms> begins = beginsOf(out), ends = endsOf(out);
  if (!begins || !ends) return std::nullopt;
  if (setEnds(out, *begins, *ends) && isProduct(out, lastAxis)) return out;
  if (out.count.valid()) return std::nullopt; // lanes wait for the longest of their chains
  const bool isOfLanes = setLanes(out, *begins, *ends, lastAxis) && isSideBySide(out, lastAxis);
  return isOfLanes ? std::optional(std::move(out)) : std::nullopt;
}

bool RaggedRanges::isNestOfTerms(RaggedRange& out) const {
  const Op& op = fn().ops[out.sum];
  const NestView nest(fn(), op);
  if (nest.axes() != 1 || nest.accs() > 0 || nest.parts().size() != 1) return false;
  out.axis = nest.axisParams()[0];
  out.body = nest.body();
  return isSum(*nest.parts()[0].spec) && m_.types.isFloat(fn().typeOf(op.results[0]));
}

bool RaggedRanges::isLoopOfTerms(RaggedRange& out) const {
  const Op& op = fn().ops[out.sum];
  const LoopView loop(fn(), op);
  if (loop.carries() != 1 || loop.stacks() > 0 || !loop.bodyDims().empty()) return false;
  out.axis = loop.index();
  out.body = loop.body();
  out.count = loop.count();
  return m_.types.isFloat(fn().typeOf(op.results[0])) &&
         onlyAdds(fn(), out.body, loop.carryParams()[0], loop.carryYields()[0]);
}

void RaggedRanges::findOffset(RaggedRange& out) const {
  forEachOp(fn(), out.body, [&](OpId id) {
    const Op& op = fn().ops[id];
    if (std::ranges::any_of(op.operands, [&](ValueId v) { return v == out.axis || out.varying.contains(v); }))
      out.varying.insert(op.results.begin(), op.results.end());
  });
  std::optional<IndexOffset> found =
      indexOffset(fn(), out.body, out.axis, [this](ValueId v) { return bounds_.sizeOf(v); });
  if (!found || (!out.count.valid() && !bounds_.sizeOf(found->value))) return;
  out.offset = found->value;
  out.index = std::move(found->sums);
}

bool RaggedRanges::isSame(ValueId a, ValueId b) const {
  return a == b || (bounds_.sizeOf(a) && bounds_.sizeOf(a) == bounds_.sizeOf(b));
}

std::optional<Forms> RaggedRanges::beginsOf(const RaggedRange& range) const {
  if (!range.offset.valid()) return Forms(1);
  if (const std::optional<DimId> size = bounds_.sizeOf(range.offset))
    return bounds_.of(*size, Extreme::Greatest);
  return bounds_.of(range.offset, Extreme::Greatest);
}

std::optional<Forms> RaggedRanges::endsOf(const RaggedRange& range) const {
  if (!range.count.valid()) {
    const DimId begin = range.offset.valid() ? *bounds_.sizeOf(range.offset) : dims().constant(0);
    return bounds_.of(dims().add(begin, fn().ops[range.sum].dims[0]), Extreme::Least);
  }
  if (!range.offset.valid()) return bounds_.of(range.count, Extreme::Least);
  const OpId def = fn().values[range.count].def;
  const bool isDifference =
      def.valid() && fn().ops[def].kind == OpKind::Sub && isSame(fn().ops[def].operands[1], range.offset);
  return isDifference ? bounds_.of(fn().ops[def].operands[0], Extreme::Least) : std::nullopt;
}

bool RaggedRanges::setEnds(RaggedRange& out, const Forms& begins, const Forms& ends) {
  const DimId nothing = dims().constant(0), few = dims().constant(fewTerms);
  std::set<ValueId> axes = axesOf(begins);
  axes.merge(axesOf(ends));
  for (const AffineForm& form : ends) {
    const std::optional<DimId> most = bounds_.greatest(form), least = bounds_.least(form);
    if (!most || !least || !ranges_.isNoLess(dims().add(*least, few), nothing)) return false;
    const DimId size = sizeOf(*most, axes);
    out.extent = out.extent.valid() ? dims().min(out.extent, size) : size;
  }
  bool isNatural = false;
  for (const AffineForm& form : begins) {
    const std::optional<DimId> most = bounds_.greatest(form), least = bounds_.least(form);
    if (!most || !least || !ranges_.isNoLess(few, *least) ||
        !ranges_.isNoLess(dims().add(out.extent, few), *most))
      return false;
    isNatural |= ranges_.isNoLess(*least, nothing);
    if (!form.axes.empty() || !ranges_.isNoLess(nothing, *most)) out.begins.push_back(form);
  }
  out.ends = ends;
  return isNatural && axesOf(out.begins).empty() != axesOf(out.ends).empty();
}

bool RaggedRanges::setLanes(RaggedRange& out, const Forms& begins, const Forms& ends, ValueId lastAxis) {
  const DimId nothing = dims().constant(0);
  std::set<ValueId> axes = axesOf(begins);
  axes.merge(axesOf(ends));
  if (axes != std::set{lastAxis} || axesOf(begins).empty()) return false;
  out.extent = {};
  for (const AffineForm& form : ends) {
    const std::optional<DimId> most = bounds_.greatest(form);
    if (!most || areClose(begins, form)) return false;
    const DimId size = sizeOf(*most, axes);
    out.extent = out.extent.valid() ? dims().min(out.extent, size) : size;
  }
  out.begins.clear();
  bool isNatural = false;
  for (const AffineForm& form : begins) {
    const std::optional<DimId> most = bounds_.greatest(form), least = bounds_.least(form);
    if (!most || !least) return false;
    isNatural |= ranges_.isNoLess(*least, nothing);
    if (!form.axes.empty() || !ranges_.isNoLess(nothing, *most)) out.begins.push_back(form);
  }
  out.ends = ends;
  return isNatural;
}

bool RaggedRanges::areClose(const Forms& begins, const AffineForm& end) const {
  return std::ranges::any_of(begins, [&](const AffineForm& begin) {
    AffineForm terms = end;
    terms.add(begin, -1);
    return terms.axes.empty() && terms.dims.empty() && terms.constant <= fewInLanes;
  });
}

DimId RaggedRanges::sizeOf(DimId most, const std::set<ValueId>& axes) {
  if (dims().atLeast(most, 0)) return most;
  for (ValueId axis : axes) {
    const DimId extent = bounds_.extentOf(axis);
    if (ranges_.isNoLess(most, extent)) return most;
    if (ranges_.isNoLess(extent, most) &&
        ranges_.isNoLess(dims().add(most, dims().constant(fewTerms)), extent))
      return extent;
  }
  return dims().max(most, dims().constant(0));
}

std::set<ValueId> RaggedRanges::axesOf(const Forms& forms) {
  std::set<ValueId> out;
  for (const AffineForm& form : forms)
    for (auto [axis, factor] : form.axes) out.insert(axis);
  return out;
}

std::vector<OpId> RaggedRanges::readsOfCheapTerm(RegionId body) const {
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

bool RaggedRanges::isProduct(const RaggedRange& range, ValueId lastAxis) {
  Footprint term;
  for (OpId read : readsOfCheapTerm(range.body)) {
    if (!isThere(range, read)) return false;
    Axes axes;
    for (ValueId v : Operands(fn().ops[read].operands)) addAxes(range, v, axes);
    if (axes.contains(range.axis)) term.operands.push_back(std::move(axes));
  }
  std::set<ValueId> boundAxes = axesOf(range.begins);
  boundAxes.merge(axesOf(range.ends));
  return term.hasTwoSides() && boundAxes != std::set{lastAxis};
}

bool RaggedRanges::isSideBySide(const RaggedRange& range, ValueId lastAxis) const {
  const std::vector<OpId> reads = readsOfCheapTerm(range.body);
  bool any = false;
  for (OpId read : reads) {
    const Op& get = fn().ops[read];
    if (get.operands.size() < 2 || bounds_.isRagged(fn().typeOf(get.operands[0]))) return false;
    for (size_t k = 1; k + 1 < get.operands.size(); ++k)
      if (variesWith(lastAxis, get.operands[k], range)) return false;
    any |= variesWith(lastAxis, get.operands.back(), range);
  }
  return any && reads.size() > 1;
}

bool RaggedRanges::variesWith(ValueId axis, ValueId v, const RaggedRange& range) const {
  if (v == axis || !bounds_.axesOf(v).contains(axis) || isIndex(range, v)) return v == axis;
  const OpId def = fn().values[v].def;
  return !def.valid() || std::ranges::any_of(fn().ops[def].operands,
                                             [&](ValueId each) { return variesWith(axis, each, range); });
}

bool RaggedRanges::isThere(const RaggedRange& range, OpId read) {
  if (!read.valid() || fn().ops[read].kind != OpKind::Get) return false;
  const Op& get = fn().ops[read];
  const Path& path = get.as<Path>();
  const types::Type array = m_.types[fn().typeOf(get.operands[0])];
  if (array.kind != TypeKind::Array || path.size() != array.dims.size() ||
      pathOperands(path) != path.size() || bounds_.isRagged(fn().typeOf(get.operands[0])))
    return false;
  for (size_t k = 0; k < path.size(); ++k) {
    const ValueId index = get.operands[k + 1];
    const bool isIn =
        path[k].kind == StepKind::Index &&
        (isIndex(range, index) ? ranges_.isNoLess(array.dims[k], range.extent)
                               : !range.varying.contains(index) && ranges_.isIndex(index, array.dims[k]));
    if (!isIn) return false;
  }
  return true;
}

bool RaggedRanges::isIndex(const RaggedRange& range, ValueId v) {
  return range.offset.valid() ? range.index.contains(v) : v == range.axis;
}

void RaggedRanges::addAxes(const RaggedRange& range, ValueId v, std::set<ValueId>& out) const {
  if (isIndex(range, v)) return (void)out.insert(range.axis);
  out.insert(bounds_.axesOf(v).begin(), bounds_.axesOf(v).end());
}

} // namespace melix::transforms
