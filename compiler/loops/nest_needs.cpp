#include "loops/nest_needs.h"

#include "core/walk.h"

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
class Needed {
public:
  Needed(const core::Function& fn, core::RegionId region) : fn_(fn) {
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

/// Where an add has an axis as an index, among the steps that speak of axes.
struct AxisPosition {
  std::vector<uint32_t> fields; ///< of the accumulator, that the path begins with
  size_t position;
};
std::optional<AxisPosition> positionOf(const core::Op& add, core::ValueId axis) {
  const auto& path = add.as<core::Path>();
  AxisPosition out{{}, 0};
  size_t step = 0, operand = 2;
  while (step < path.size() && path[step].kind == core::StepKind::Field)
    out.fields.push_back(path[step++].number);
  for (; step < path.size(); ++step, ++out.position) {
    const core::StepKind kind = path[step].kind;
    if (kind == core::StepKind::All) continue;
    if (kind != core::StepKind::Index && kind != core::StepKind::Slice) return std::nullopt;
    if (kind == core::StepKind::Index && add.operands[operand] == axis) return out;
    ++operand;
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
  Needed needed(fn, nest.body());
  for (core::ValueId v : yields) needed.value(v);
  for (core::OpId id : fn.regions[nest.body()].ops) {
    const core::Op& op = fn.ops[id];
    if ((withEffects && hasEffect(fn, op)) || !op.resultDims.empty()) needed.op(id);
  }
  return std::move(needed.found);
}

bool addsApart(const core::Function& fn, const types::TypeStore& types, const core::NestView& nest) {
  std::map<std::pair<types::TypeId, std::vector<uint32_t>>, size_t> positions;
  bool apart = true;
  core::forEachOp(fn, nest.body(), [&](core::OpId id) {
    const core::Op& op = fn.ops[id];
    if (op.kind == OpKind::Yield || !op.regions.empty() || !apart) return;
    if (std::ranges::none_of(
            op.operands, [&](core::ValueId v) { return types.kind(fn.typeOf(v)) == types::TypeKind::Acc; }))
      return;
    apart = false;
    if (op.kind != OpKind::AddAt) return;
    std::optional<AxisPosition> at = positionOf(op, nest.axisParams()[0]);
    if (!at) return;
    const auto key = std::pair(fn.typeOf(op.operands[0]), std::move(at->fields));
    apart = positions.emplace(key, at->position).first->second == at->position;
  });
  return apart;
}

} // namespace melix::loops
