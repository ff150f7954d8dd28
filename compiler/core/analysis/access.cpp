#include "core/analysis/access.h"

#include "core/ir/walk.h"

#include <algorithm>

namespace melix::core {

AccessInfo::AccessInfo(const Function& f) : f_(f), axes_(f.values.size(), 0) {
  Number all = number({});
  if (f.body.valid()) region(f.body, all);
}

AccessInfo::AccessInfo(const Function& f, OpId root) : f_(f), axes_(f.values.size(), 0) {
  Number all = number({});
  op(f.ops[root], all);
}

/// One may have places for values that stand nowhere.
bool AccessInfo::operator==(const AccessInfo& o) const {
  for (uint32_t k = 0; k < std::max(axes_.size(), o.axes_.size()); ++k)
    if (axesOf(ValueId(k)) != o.axesOf(ValueId(k))) return false;
  return true;
}

AccessInfo::Number AccessInfo::number(std::set<ValueId> axes) {
  const auto [at, isNew] = numbers_.try_emplace(std::move(axes), static_cast<Number>(sets_.size()));
  if (isNew) sets_.push_back(&at->first);
  return at->second;
}

AccessInfo::Number AccessInfo::joined(Number a, Number b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  const auto [at, isNew] = joins_.try_emplace(uint64_t(std::min(a, b)) << 32 | std::max(a, b));
  if (isNew) {
    std::set<ValueId> both = *sets_[a];
    both.insert(sets_[b]->begin(), sets_[b]->end());
    at->second = number(std::move(both));
  }
  return at->second;
}

void AccessInfo::region(RegionId r, Number& out) {
  for (OpId id : f_.regions[r].ops) {
    Number all = 0;
    op(f_.ops[id], all);
    out = joined(out, all);
  }
}

void AccessInfo::usedInside(RegionId r, Number& out) {
  forEachOp(f_, r, [&](OpId id) {
    for (ValueId v : f_.ops[id].operands) out = joined(out, numberOf(v));
  });
}

void AccessInfo::op(const Op& op, Number& all) {
  for (ValueId v : op.operands) all = joined(all, numberOf(v));
  const bool loops = op.kind == OpKind::For || op.kind == OpKind::While;
  if (loops) // what is carried varies with what any iteration makes of it
    for (RegionId inner : op.regions) usedInside(inner, all);
  for (RegionId inner : op.regions) {
    const std::vector<ValueId>& params = f_.regions[inner].params;
    const size_t axes = op.kind == OpKind::Nest && inner == op.regions[0] ? op.dims.size() : 0;
    const bool counts = op.kind == OpKind::For; // the first parameter is the index
    for (size_t k = 0; k < params.size(); ++k) {
      if (k < axes) {
        axes_[params[k].index] = number({params[k]});
        open_.insert(params[k]);
      } else if (!(counts && k == 0)) {
        axes_[params[k].index] = all;
      }
    }
    region(inner, all);
    for (ValueId p : params) open_.erase(p);
  }
  // The axes of this op and of nests further inside do not leave it.
  if (!op.regions.empty() && all != 0) {
    std::set<ValueId> left = *sets_[all];
    std::erase_if(left, [&](ValueId a) { return !open_.contains(a); });
    all = number(std::move(left));
  }
  for (ValueId v : op.results) axes_[v.index] = all;
}

} // namespace melix::core
