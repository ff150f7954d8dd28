#include "core/analysis/access.h"

#include "core/ir/walk.h"

namespace melix::core {

AccessInfo::AccessInfo(const Function& f) : f_(f) {
  std::set<ValueId> all;
  region(f.body, all);
}

const std::set<ValueId>& AccessInfo::axesOf(ValueId v) const {
  static const std::set<ValueId> none;
  auto it = axes_.find(v);
  return it == axes_.end() ? none : it->second;
}

void AccessInfo::region(RegionId r, std::set<ValueId>& out) {
  for (OpId id : f_.regions[r].ops) {
    std::set<ValueId> all;
    op(f_.ops[id], all);
    out.insert(all.begin(), all.end());
  }
}

void AccessInfo::usedInside(RegionId r, std::set<ValueId>& out) const {
  forEachOp(f_, r, [&](OpId id) {
    for (ValueId v : f_.ops[id].operands) out.insert(axesOf(v).begin(), axesOf(v).end());
  });
}

void AccessInfo::op(const Op& op, std::set<ValueId>& all) {
  for (ValueId v : op.operands) all.insert(axesOf(v).begin(), axesOf(v).end());
  const bool loops = op.kind == OpKind::For || op.kind == OpKind::While;
  if (loops) // what is carried varies with what any iteration makes of it
    for (RegionId inner : op.regions) usedInside(inner, all);
  for (RegionId inner : op.regions) {
    const std::vector<ValueId>& params = f_.regions[inner].params;
    const size_t axes = op.kind == OpKind::Nest && inner == op.regions[0] ? op.dims.size() : 0;
    const bool counts = op.kind == OpKind::For; // the first parameter is the index
    for (size_t k = 0; k < params.size(); ++k) {
      if (k < axes) {
        axes_[params[k]] = {params[k]};
        open_.insert(params[k]);
      } else if (!all.empty() && !(counts && k == 0)) {
        axes_[params[k]] = all;
      }
    }
    region(inner, all);
    for (ValueId p : params) open_.erase(p);
  }
  // The axes of this op and of nests further inside do not leave it.
  std::erase_if(all, [&](ValueId a) { return !open_.contains(a); });
  if (all.empty()) return;
  for (ValueId v : op.results) axes_[v] = all;
}

} // namespace melix::core
