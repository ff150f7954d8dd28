#include "core/analysis/sharing.h"

#include "core/ir/flow.h"
#include "core/ir/walk.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace melix::core {

Sharing::Sharing(const Module& m, const Function& f)
    : module_(m), f_(f), spans_(f.ops.size()), homes_(regionsOfOps(f)), parents_(f.values.size()),
      updates_(f.values.size()) {
  std::iota(parents_.begin(), parents_.end(), 0);
  region(f.body);
  for (auto [at, v] : found_) updates_[familyOf(v.index)].push_back(at);
  found_.clear();
}

void Sharing::region(RegionId r) {
  for (OpId id : f_.regions[r].ops) op(id);
}

void Sharing::op(OpId id) {
  const Op& o = f_.ops[id];
  work.ops += 1;
  spans_[id.index].begin = ++clock_;
  values(o);
  updates(o);
  for (RegionId r : o.regions) region(r);
  spans_[id.index].end = clock_;
}

/// An op's results may lie where its operands do, unless it makes new memory.
void Sharing::values(const Op& o) {
  if (!o.regions.empty()) {
    for (const FlowEdge& e : flowsOf(f_, o))
      if (lies(e.from) && lies(e.to)) join(e.from, e.to);
    return;
  }
  ValueId first;
  auto one = [&](ValueId v) {
    if (!lies(v)) return;
    if (first.valid()) join(first, v);
    first = v;
  };
  for (ValueId v : o.results) one(v);
  if (!first.valid()) return;
  for (ValueId v : o.operands) one(v);
}

void Sharing::updates(const Op& o) {
  auto updated = [&](ValueId v) {
    if (lies(v)) found_.emplace_back(clock_, v);
  };
  switch (o.kind) {
  case OpKind::Get:
  case OpKind::Check: return;
  case OpKind::Set:
  case OpKind::AddAt:
  case OpKind::Push:
  case OpKind::Pop:
  case OpKind::ToArray:
  case OpKind::ToList:
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Neg: return updated(o.operands[0]);
  case OpKind::Call:
  case OpKind::Apply:
  case OpKind::Builtin:
    for (ValueId v : o.operands) updated(v);
    return;
  default: return;
  }
}

uint32_t Sharing::familyOf(uint32_t v) const {
  while (parents_[v] != v) v = parents_[v] = parents_[parents_[v]];
  return v;
}

void Sharing::join(ValueId a, ValueId b) {
  uint32_t from = familyOf(a.index), into = familyOf(b.index);
  if (from == into) return;
  if (updates_[from].size() > updates_[into].size()) std::swap(from, into);
  parents_[from] = into;
  std::vector<uint32_t>&few = updates_[from], &all = updates_[into];
  if (few.empty()) return;
  std::vector<uint32_t> both;
  std::merge(all.begin(), all.end(), few.begin(), few.end(), std::back_inserter(both));
  all = std::move(both);
  few.clear();
}

void Sharing::leave(OpId update) {
  if (update.index >= spans_.size()) return;
  std::vector<uint32_t>& all = updates_[familyOf(f_.ops[update].operands[0].index)];
  const auto [first, last] = std::equal_range(all.begin(), all.end(), spans_[update.index].begin);
  all.erase(first, last);
}

bool Sharing::mayUseLater(ValueId v, OpId from, OpId at) const {
  return !lies(v) || (isThere(at) && isUntouched(v, from, at, spans_[at.index].begin));
}

bool Sharing::mayUseWithin(ValueId v, OpId from, OpId at) const {
  return !lies(v) || (isThere(at) && isUntouched(v, from, at, spans_[at.index].end + 1));
}

/// Whether nothing updates it from an op on until `end`, a time of a later op.
bool Sharing::isUntouched(ValueId v, OpId from, OpId at, uint32_t end) const {
  if (v.index >= parents_.size() || !isThere(from)) return false;
  // An op around the later one, but not around the earlier, may update on one iteration what it reads on the
  // next.
  for (OpId op = at; homes_[op.index] != homes_[from.index];) {
    op = f_.regions[homes_[op.index]].parent;
    if (!op.valid()) return false;
    end = spans_[op.index].end + 1;
  }
  const std::vector<uint32_t>& all = updates_[familyOf(v.index)];
  const auto next = std::upper_bound(all.begin(), all.end(), spans_[from.index].begin);
  return next == all.end() || *next >= end;
}

} // namespace melix::core
