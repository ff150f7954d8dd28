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
  at_.kept = Kept::Array;
  for (OpId around = f.regions[block].parent; around.valid();) {
    if (f.ops[around].kind == OpKind::Nest) at_.kept = Kept::Row;
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
  if (a.place == b.place) return true; // what stands between copies at one place is not told
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
  pending_.unsettled.push_back(uses.regionOf(op));
  uses.leave(op);
  changed = true;
}

std::vector<OpId> Fusion::taken(RegionId region, OpId standing) {
  std::vector<OpId> ops = std::move(f.regions[scratch_].ops);
  f.regions[scratch_].ops.clear();
  pending_.unsettled.push_back(region);
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

void Fusion::standIn(OpId op, OpId standing) {
  standsAt_[op] = standing;
  for (RegionId r : f.ops[op].regions) forEachOp(f, r, [&](OpId inner) { standsAt_[inner] = standing; });
}

OpId Fusion::firstOf(RegionId region, std::span<const OpId> ops) {
  if (ops.size() == 1) return ops[0];
  settle(region);
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
  settle(body);
  std::vector<OpId>& list = f.regions[body].ops;
  std::vector<OpId> ops(list.begin(), list.end() - 1);
  list.erase(list.begin(), list.end() - 1);
  return ops;
}
void Fusion::moveFront(RegionId region, std::vector<OpId> ops, OpId standing) {
  for (OpId op : ops) {
    pending_.unsettled.push_back(uses.regionOf(op));
    uses.move(op, region);
    standIn(op, standing);
  }
  pending_.front[region].push_back(std::move(ops));
  pending_.unsettled.push_back(region);
  changed = true;
}

void Fusion::settle() {
  std::ranges::sort(pending_.unsettled, {}, &RegionId::index);
  const auto again = std::ranges::unique(pending_.unsettled);
  pending_.unsettled.erase(again.begin(), again.end());
  for (RegionId region : std::exchange(pending_.unsettled, {})) settle(region);
}

void Fusion::settle(RegionId region) {
  std::vector<OpId> out;
  if (auto front = pending_.front.extract(region)) settle(std::move(front.mapped()), region, out);
  for (OpId op : f.regions[region].ops) settle(op, region, out);
  f.regions[region].ops = std::move(out);
}

/// Ops that left, or stand in another region by now, are passed; what was put beside them is not.
void Fusion::settle(OpId op, RegionId region, std::vector<OpId>& out) {
  if (auto before = pending_.before.extract({region, op})) settle(std::move(before.mapped()), region, out);
  if (uses.regionOf(op) == region) out.push_back(op);
  if (auto after = pending_.after.extract({region, op})) settle(std::move(after.mapped()), region, out);
}

void Fusion::settle(Lists lists, RegionId region, std::vector<OpId>& out) {
  for (auto list = lists.rbegin(); list != lists.rend(); ++list)
    for (OpId op : *list) settle(op, region, out);
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
