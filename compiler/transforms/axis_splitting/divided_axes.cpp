#include "transforms/axis_splitting/divided_axes.h"

#include "core/ir/nest.h"
#include "core/ir/place.h"
#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

constexpr int64_t fewPointsOfDivision = 4; ///< that results of an axis of its own are worth

std::optional<DimId> divisorOf(Module& m, const Function& f, const Op& op) {
  if ((op.kind != OpKind::IDiv && op.kind != OpKind::IRem) || f.typeOf(op.operands[0]) != m.types.int64())
    return std::nullopt;
  const OpId def = f.values[op.operands[1]].def;
  if (!def.valid()) return std::nullopt;
  if (f.ops[def].kind == OpKind::DimValue) return f.ops[def].dims[0];
  if (f.ops[def].kind != OpKind::Const) return std::nullopt;
  const auto by = static_cast<int64_t>(f.ops[def].as<Constant>().bits);
  return by > 1 ? std::optional(m.types.dims.constant(by)) : std::nullopt;
}

/// Whether a nest, or one in it, is such.
template <class Is>
static bool hasNest(const Function& f, OpId nest, Is is) {
  bool has = is(f.ops[nest]);
  forEachOp(f, f.ops[nest].regions[0],
            [&](OpId id) { has = has || (f.ops[id].kind == OpKind::Nest && is(f.ops[id])); });
  return has;
}

bool isOfSums(const Function& f, OpId nest) {
  return hasNest(f, nest, [](const Op& op) {
    return std::ranges::any_of(nestResults(op), [](const NestResult& r) { return isSum(r); });
  });
}

bool addsUp(const Function& f, OpId nest) {
  return isOfSums(f, nest) || hasNest(f, nest, [](const Op& op) { return nestAccs(op) > 0; });
}

void DividedAxis::Made::add(const Made& other) {
  ofQuotient |= other.ofQuotient;
  ofMore |= other.ofMore;
  axes.insert(other.axes.begin(), other.axes.end());
}

DividedAxis::DividedAxis(const Function& f, OpId nest, uint32_t axis)
    : f_(f), axis_(f.regions[f.ops[nest].regions[0]].params[axis]) {
  std::vector<Made> atQuotients, atMore;
  bool isOfOne = false, isShared = false;
  forEachOp(f, f.ops[nest].regions[0], [&](OpId id) {
    if (f.ops[id].kind != OpKind::Get && f.ops[id].kind != OpKind::AddAt) return;
    Made place;
    for (ValueId index : placeOf(f.ops[id]).indices) place.add(of(index));
    isOfOne |= place.ofQuotient && place.ofMore;
    if (place.ofQuotient || place.ofMore) (place.ofMore ? atMore : atQuotients).push_back(std::move(place));
  });
  for (const Made& more : atMore)
    for (const Made& quotient : atQuotients)
      isShared = isShared || std::ranges::all_of(more.axes, [&](ValueId v) {
                   return v == axis_ || quotient.axes.contains(v);
                 });
  const std::vector<NestResult>& results = nestResults(f.ops[nest]);
  const bool isKept = std::ranges::any_of(
      results, [&](const NestResult& r) { return std::ranges::find(r.keep, axis) != r.keep.end(); });
  if (isOfOne || isShared) least_ = isOfOne && !isKept ? 1 : fewPointsOfDivision;
}

const DividedAxis::Made& DividedAxis::of(ValueId v) {
  const auto known = made_.find(v);
  if (known != made_.end()) return known->second;
  Made made = find(v);
  return made_.insert_or_assign(v, std::move(made)).first->second;
}

DividedAxis::Made DividedAxis::find(ValueId v) {
  if (v == axis_) return {false, true, {v}};
  const OpId def = f_.values[v].def;
  if (!def.valid())
    return {false, false, axisOf(f_, v) ? std::unordered_set{v} : std::unordered_set<ValueId>()};
  Made made;
  for (ValueId operand : f_.ops[def].operands) made.add(of(operand));
  // Of a sum of the axis and others, or of a quotient of it, as of the axis.
  if (f_.ops[def].kind == OpKind::IDiv && made.ofMore) {
    made.ofQuotient = true;
    made.ofMore = false;
  }
  return made;
}

} // namespace melix::transforms
