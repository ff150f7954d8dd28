#include "transforms/fusion/fusion.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

Fusion::Fusion(Module& module, FunctionId function, const Effects& ofOps, FusionLog* decisions)
    : m(module), id(function), f(module.functions[function]), uses(module, function), sharing(module, f),
      effects(ofOps), costs(module, f), log_(decisions), scratch_(f.regions.add(Region{})),
      opsBefore_(f.ops.size()) {}

// --- the block at hand

void Fusion::open(RegionId block) {
  at_.region = block;
  at_.kept = Storage::Array;
  for (OpId around = f.regions[block].parent; around.valid();) {
    if (f.ops[around].kind == OpKind::Nest) at_.kept = Storage::PerPoint;
    around = f.regions[uses.regionOf(around)].parent;
  }
  uint32_t place = 0, cuts = 0, all = 0;
  for (OpId op : f.regions[block].ops) {
    const EffectSet e = effects.ofOp(f, op);
    const Op& o = f.ops[op];
    const bool asserts = o.kind == OpKind::Check && o.as<CheckAttr>().kind == CheckKind::Assert;
    const bool cut = e.io || e.debug || asserts || o.kind == OpKind::Panic;
    cuts += cut;
    all += e.any();
    at_.placeOf[op] = {place++, cuts, all, e, cut};
  }
}

bool Fusion::isChecked(OpId from, OpId to) const {
  const Place &a = at_.placeOf.at(from), &b = at_.placeOf.at(to);
  if (a.place == b.place) return true; // what stands between copies at one place has no order
  return a.effects != b.effects - (b.own.any() ? 1 : 0);
}

EffectSet Fusion::effectsOf(OpId op) {
  return f.ops[op].kind == OpKind::Nest ? factsOf(op).effects : at_.placeOf.at(op).own;
}

NestFacts& Fusion::factsOf(OpId nest) {
  auto it = facts_.find(nest);
  if (it == facts_.end()) it = facts_.emplace(nest, nestFacts(m, f, effects, costs, nest)).first;
  return it->second;
}

void Fusion::note(FusionKind kind, FusionReason reason, OpId nest, OpId other) {
  if (log_) log_->push_back({kind, reason, f.ops[nest].loc, f.ops[other].loc});
}

// --- ops that come and go

Builder Fusion::scratch(LocId loc) {
  f.regions[scratch_].ops.clear();
  return Builder(m, id, scratch_, loc);
}

void Fusion::drop(OpId op) {
  pending_.pendingRegions.push_back(uses.regionOf(op));
  uses.leave(op);
  changed = true;
}

std::vector<OpId> Fusion::taken(RegionId region, OpId standing) {
  std::vector<OpId> ops = std::move(f.regions[scratch_].ops);
  f.regions[scratch_].ops.clear();
  pending_.pendingRegions.push_back(region);
  for (OpId op : ops) {
    uses.enter(op, region);
    standsAt_[op] = standing;
    for (RegionId r : f.ops[op].regions)
      forEachOp(f, r, [&](OpId inner) {
        if (inner.index >= opsBefore_) standsAt_[inner] = standing;
      });
  }
  changed = true;
  return ops;
}

void Fusion::setStanding(OpId op, OpId standing) {
  standsAt_[op] = standing;
  for (RegionId r : f.ops[op].regions) forEachOp(f, r, [&](OpId inner) { standsAt_[inner] = standing; });
}

OpId Fusion::firstOf(RegionId region, std::span<const OpId> ops) {
  if (ops.size() == 1) return ops[0];
  applyMoves(region);
  return *std::ranges::find_first_of(f.regions[region].ops, ops);
}

void Fusion::putAfter(OpId op, OpId standing) {
  const RegionId region = uses.regionOf(op);
  pending_.after[{region, op}].push_back(taken(region, standing));
}
void Fusion::putBefore(OpId op, OpId standing) {
  const RegionId region = uses.regionOf(op);
  pending_.before[{region, op}].push_back(taken(region, standing));
}
std::vector<OpId> Fusion::takeOps(RegionId body) {
  applyMoves(body);
  std::vector<OpId>& list = f.regions[body].ops;
  std::vector<OpId> ops(list.begin(), list.end() - 1);
  list.erase(list.begin(), list.end() - 1);
  return ops;
}
void Fusion::moveBefore(RegionId region, std::vector<OpId> ops, OpId standing) {
  for (OpId op : ops) {
    pending_.pendingRegions.push_back(uses.regionOf(op));
    uses.move(op, region);
    setStanding(op, standing);
  }
  pending_.front[region].push_back(std::move(ops));
  pending_.pendingRegions.push_back(region);
  changed = true;
}

void Fusion::applyMoves() {
  std::ranges::sort(pending_.pendingRegions, {}, &RegionId::index);
  const auto duplicates = std::ranges::unique(pending_.pendingRegions);
  pending_.pendingRegions.erase(duplicates.begin(), duplicates.end());
  for (RegionId region : std::exchange(pending_.pendingRegions, {})) applyMoves(region);
}

void Fusion::applyMoves(RegionId region) {
  std::vector<OpId> out;
  if (auto front = pending_.front.extract(region)) applyMoves(std::move(front.mapped()), region, out);
  for (OpId op : f.regions[region].ops) applyMoves(op, region, out);
  f.regions[region].ops = std::move(out);
}

/// Ops that left, or stand in another region by now, are passed; what was put beside them is not.
void Fusion::applyMoves(OpId op, RegionId region, std::vector<OpId>& out) {
  if (auto before = pending_.before.extract({region, op}))
    applyMoves(std::move(before.mapped()), region, out);
  if (uses.regionOf(op) == region) out.push_back(op);
  if (auto after = pending_.after.extract({region, op})) applyMoves(std::move(after.mapped()), region, out);
}

void Fusion::applyMoves(Lists lists, RegionId region, std::vector<OpId>& out) {
  for (auto list = lists.rbegin(); list != lists.rend(); ++list)
    for (OpId op : *list) applyMoves(op, region, out);
}

// --- memory

OpId Fusion::standingAt(OpId op) const {
  auto it = standsAt_.find(op);
  return it == standsAt_.end() ? op : it->second;
}

bool Fusion::mayReadLater(OpId nest, OpId at) {
  const OpId from = standingAt(nest), to = standingAt(at);
  if (from == to) return true; // both came to the same place
  return std::ranges::all_of(factsOf(nest).captured,
                             [&](ValueId v) { return sharing.mayUseLater(v, from, to); });
}

bool Fusion::mayReadWithin(OpId nest, OpId at) {
  const OpId from = standingAt(nest), to = standingAt(at);
  return std::ranges::all_of(factsOf(nest).captured,
                             [&](ValueId v) { return sharing.mayUseWithin(v, from, to); });
}

} // namespace melix::transforms
