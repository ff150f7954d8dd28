#include "loops/plan/sweep_slice.h"

#include "core/ir/walk.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace melix::loops {
namespace {

using core::OpKind;
using ops::EffectKind;

bool hasEffect(const core::Function& fn, const core::Op& op) {
  switch (ops::opEffect(op.kind)) {
  case EffectKind::None: return false;
  case EffectKind::Panic:
  case EffectKind::Debug: return true;
  case EffectKind::Io: return ops::builtinEffect(op.as<core::BuiltinAttr>().builtin) != EffectKind::None;
  case EffectKind::Regions: break;
  }
  return op.kind == OpKind::Call || op.kind == OpKind::While ||
         std::ranges::any_of(op.regions, [&](core::RegionId r) { return hasEffects(fn, r); });
}

/// Ops of a region that values need. What stands outside of it is not looked at.
class SweepSlice {
public:
  SweepSlice(const core::Function& fn, core::RegionId region) : fn_(fn) {
    top_.insert(fn.regions[region].ops.begin(), fn.regions[region].ops.end());
    core::forEachOp(fn, region, [&](core::OpId id) { inside_.insert(id); });
  }
  void value(core::ValueId v) {
    if (const core::OpId def = fn_.values[v].def) op(def);
  }
  void op(core::OpId id) {
    if (inside_.erase(id) == 0) return; // or seen before
    if (top_.contains(id)) found.insert(id);
    for (core::ValueId v : fn_.ops[id].operands) value(v);
    for (core::RegionId r : fn_.ops[id].regions)
      for (core::OpId inner : fn_.regions[r].ops) op(inner);
  }
  std::set<core::OpId> found;

private:
  const core::Function& fn_;
  std::unordered_set<core::OpId> top_, inside_;
};

/// Values of a nest that differ between points which have the axes before one in common.
class Inner {
public:
  Inner(const core::Function& fn, const core::NestView& nest, uint32_t axis) : fn_(fn) {
    auto vary = [&](std::span<const core::ValueId> values) { varying_.insert(values.begin(), values.end()); };
    vary(nest.axisParams().subspan(axis));
    vary(nest.accParams());
    core::forEachOp(fn, nest.body(), [&](core::OpId id) {
      const core::Op& op = fn.ops[id];
      for (core::RegionId r : op.regions) vary(fn.regions[r].params);
      if (!op.regions.empty() || std::ranges::any_of(op.operands, [&](core::ValueId v) { return has(v); }))
        vary(op.results);
    });
  }
  bool has(core::ValueId v) const { return varying_.contains(v); }

private:
  const core::Function& fn_;
  std::unordered_set<core::ValueId> varying_;
};

/// Where an add has an axis in an index, among the steps that speak of axes.
struct AxisPosition {
  size_t position = 0;
  core::ValueId offset; ///< what the axis is added to there
  bool operator==(const AxisPosition&) const = default;
};
struct AxisPlace {
  std::vector<uint32_t> fields; ///< of the accumulator, that the path begins with
  AxisPosition at;
};

/// Whether an index is the axis, or the axis and what does not vary further in.
bool isAxisPlusOffset(const core::Function& fn, core::ValueId index, core::ValueId axis, const Inner& inner,
                      core::ValueId& offset) {
  if (index == axis) return true;
  const core::OpId def = fn.values[index].def;
  if (!def.valid() || fn.ops[def].kind != OpKind::Add) return false;
  const core::Operands& terms = fn.ops[def].operands;
  for (size_t k : {0, 1})
    if (terms[k] == axis && !inner.has(terms[1 - k])) {
      offset = terms[1 - k];
      return true;
    }
  return false;
}

std::optional<AxisPlace> axisPlaceOf(const core::Function& fn, const core::Op& add, core::ValueId axis,
                                     const Inner& inner) {
  const auto& path = add.as<core::Path>();
  AxisPlace out;
  size_t step = 0, operand = 2;
  while (step < path.size() && path[step].kind == core::StepKind::Field)
    out.fields.push_back(path[step++].number);
  for (; step < path.size(); ++step, ++out.at.position) {
    const core::StepKind kind = path[step].kind;
    if (kind == core::StepKind::All) continue;
    if (kind != core::StepKind::Index && kind != core::StepKind::Slice) return std::nullopt;
    const core::ValueId index = add.operands[operand++];
    if (kind == core::StepKind::Index && isAxisPlusOffset(fn, index, axis, inner, out.at.offset)) return out;
  }
  return std::nullopt;
}

} // namespace

bool hasEffects(const core::Function& fn, core::RegionId region) {
  return std::ranges::any_of(fn.regions[region].ops,
                             [&](core::OpId id) { return hasEffect(fn, fn.ops[id]); });
}

std::set<core::OpId> opsNeeded(const core::Function& fn, const core::NestView& nest,
                               const std::vector<core::ValueId>& yields, bool withEffects) {
  SweepSlice needed(fn, nest.body());
  for (core::ValueId v : yields) needed.value(v);
  for (core::OpId id : fn.regions[nest.body()].ops) {
    const core::Op& op = fn.ops[id];
    if ((withEffects && hasEffect(fn, op)) || !op.resultDims.empty()) needed.op(id);
  }
  return std::move(needed.found);
}

bool addsAreDisjoint(const core::Function& fn, const types::TypeStore& types, const core::NestView& nest,
                     uint32_t axis) {
  const Inner inner(fn, nest, axis);
  std::map<std::pair<types::TypeId, std::vector<uint32_t>>, AxisPosition> positions;
  bool areDisjoint = true;
  core::forEachOp(fn, nest.body(), [&](core::OpId id) {
    const core::Op& op = fn.ops[id];
    if (op.kind == OpKind::Yield || !op.regions.empty() || !areDisjoint) return;
    if (std::ranges::none_of(
            op.operands, [&](core::ValueId v) { return types.kind(fn.typeOf(v)) == types::TypeKind::Acc; }))
      return;
    areDisjoint = false;
    if (op.kind != OpKind::AddAt) return;
    std::optional<AxisPlace> place = axisPlaceOf(fn, op, nest.axisParams()[axis], inner);
    if (!place) return;
    const auto key = std::pair(fn.typeOf(op.operands[0]), std::move(place->fields));
    areDisjoint = positions.emplace(key, place->at).first->second == place->at;
  });
  return areDisjoint;
}

} // namespace melix::loops
