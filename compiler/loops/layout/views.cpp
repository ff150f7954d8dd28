#include "loops/layout/views.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {
constexpr size_t nowhere = SIZE_MAX;

/// Whether the lowering of such an op takes a view.
bool isReader(OpKind kind) {
  return kind == OpKind::Get || kind == OpKind::Set || kind == OpKind::Call || kind == OpKind::Variant;
}
} // namespace

/// The place of the op of a region that an op is or stands in; `nowhere` outside of the region.
size_t Views::placeOf(core::RegionId region, core::OpId op) {
  const core::OpId own = uses_.ancestorIn(region, op);
  if (!own.valid()) return nowhere;
  auto [places, isNew] = places_.try_emplace(region);
  const std::vector<core::OpId>& ops = fn_.regions[region].ops;
  for (size_t k = 0; isNew && k < ops.size(); ++k) places->second.emplace(ops[k], k);
  return places->second.at(own);
}

/// The place of the first op of a region that may do more than read an array or the arrays that it is a part
/// of.
size_t Views::readUntil(core::ValueId v, core::RegionId region) {
  if (const auto known = readUntil_.find({v, region}); known != readUntil_.end()) return known->second;
  size_t until = nowhere;
  uses_.forEach(v, [&](core::Use use) {
    const core::Op& op = fn_.ops[use.op];
    if (op.kind == OpKind::CastDims)
      until = std::min(until, readUntil(op.results[0], region));
    else if (!elementParams_.isRead(fn_, use))
      until = std::min(until, placeOf(region, use.op));
  });
  const core::OpId def = fn_.values[v].def;
  if (def.valid() && fn_.ops[def].kind == OpKind::Get)
    until = std::min(until, readUntil(fn_.ops[def].operands[0], region));
  readUntil_.emplace(std::pair(v, region), until);
  return until;
}

void Views::follow(core::ValueId v, Part& part) {
  uses_.forEach(v, [&](core::Use use) {
    const core::Op& op = fn_.ops[use.op];
    part.end = std::max(part.end, placeOf(part.region, use.op));
    if (op.kind == OpKind::CastDims) return follow(op.results[0], part);
    part.isRead = part.isRead && isReader(op.kind) && elementParams_.isRead(fn_, use);
    part.isPassed = part.isPassed || op.kind == OpKind::Call;
  });
}

/// Whether the part's elements follow one another: of the first axes one index each, then perhaps a range of
/// the next axis, and all of the others.
bool Views::isRun(const core::Op& get) const {
  const auto& path = get.as<core::Path>();
  auto at =
      std::ranges::find_if(path, [](const core::PathStep& s) { return s.kind != core::StepKind::Index; });
  if (at != path.end() && at->kind == core::StepKind::Slice && at->step == 1) ++at;
  if (!std::all_of(at, path.end(), [](const core::PathStep& s) { return s.kind == core::StepKind::All; }))
    return false;
  core::OpId def = fn_.values[get.operands[0]].def;
  while (def.valid() && fn_.ops[def].kind == OpKind::CastDims) def = fn_.values[fn_.ops[def].operands[0]].def;
  return !def || fn_.ops[def].kind != OpKind::Get || isRun(fn_.ops[def]);
}

/// Whether a use of a payload reads it where it lies.
bool Views::isReadInNode(core::Use use) const {
  const core::Op& op = fn_.ops[use.op];
  const core::ValueId v = op.operands[use.operand];
  if (types_.kind(fn_.typeOf(v)) != types::TypeKind::Array)
    return op.kind == OpKind::Get || op.kind == OpKind::Variant;
  if (op.kind != OpKind::CastDims) return isReader(op.kind) && elementParams_.isRead(fn_, use);
  bool isRead = true;
  uses_.forEach(op.results[0], [&](core::Use next) { isRead = isRead && isReadInNode(next); });
  return isRead;
}

/// The arm of a branch in the region that an op stands in.
core::RegionId Views::armOf(core::RegionId region, core::OpId op) const {
  const core::OpId branch = uses_.ancestorIn(region, op);
  const OpKind kind = fn_.ops[branch].kind;
  if (branch == op || (kind != OpKind::If && kind != OpKind::Match)) return {};
  for (core::RegionId arm : fn_.ops[branch].regions)
    if (uses_.ancestorIn(arm, op).valid()) return arm;
  return {};
}

std::optional<std::vector<core::RegionId>> Views::armsThatTake(core::ValueId payload) const {
  std::vector<core::RegionId> arms;
  uses_.forEach(payload, [&](core::Use use) {
    if (isReadInNode(use)) return;
    const core::RegionId arm = armOf(uses_.homeOf(payload), use.op);
    if (std::ranges::find(arms, arm) == arms.end()) arms.push_back(arm);
  });
  const bool isTaken = std::ranges::any_of(arms, [](core::RegionId arm) { return !arm.valid(); });
  return isTaken ? std::nullopt : std::optional(std::move(arms));
}

bool Views::mayView(const core::Op& get, bool isInNode) {
  const core::ValueId result = get.results[0];
  if (!uses_.used(result)) return false;
  Part part{uses_.homeOf(result)};
  follow(result, part);
  if (!part.isRead || (part.isPassed && !isRun(get))) return false;
  return isInNode || part.end < readUntil(get.operands[0], part.region);
}

} // namespace melix::loops
