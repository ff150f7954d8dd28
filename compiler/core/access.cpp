#include "core/access.h"

#include "core/affine.h"

#include "core/walk.h"

namespace melix::core {

AccessInfo::AccessInfo(const Module& m, const Function& f) : m_(m), f_(f) {
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
    const Op& op = f_.ops[id];
    std::set<ValueId> all;
    for (ValueId v : op.operands) all.insert(axesOf(v).begin(), axesOf(v).end());
    for (RegionId inner : op.regions) {
      const std::vector<ValueId>& params = f_.regions[inner].params;
      for (size_t k = 0; k < params.size(); ++k) {
        bool axis = (op.kind == OpKind::Nest && inner == op.regions[0] && k < op.dims.size()) ||
                    (op.kind == OpKind::For && k == 0);
        std::set<ValueId> own = all; // what is carried may vary with all that goes in
        if (axis) {
          own = {params[k]};
          open_.insert(params[k]);
        }
        axes_[params[k]] = std::move(own);
      }
      region(inner, all);
      for (ValueId p : params) open_.erase(p);
    }
    // Axes of this op and of nests further inside do not leave it.
    std::erase_if(all, [&](ValueId a) { return !open_.contains(a); });
    for (ValueId v : op.results) axes_[v] = all;
    out.insert(all.begin(), all.end());
  }
}

std::vector<ValueId> AccessInfo::indices(const Op& op) const {
  std::vector<ValueId> out;
  size_t at = op.kind == OpKind::Get ? 1 : 2;
  for (const PathStep& s : op.as<Path>()) {
    if (s.kind == StepKind::Index) out.push_back(op.operands[at]);
    at += s.kind == StepKind::Index || s.kind == StepKind::Slice || s.kind == StepKind::Element;
  }
  return out;
}

bool AccessInfo::readsContiguously(ValueId term, ValueId axis, std::set<ValueId>& seen) const {
  if (!axesOf(term).contains(axis) || !seen.insert(term).second) return false;
  const Value& value = f_.values[term];
  if (!value.def.valid()) return false;
  const Op& op = f_.ops[value.def];
  if (op.kind == OpKind::Get) {
    std::vector<ValueId> index = indices(op);
    bool last = !index.empty() && m_.types.kind(f_.typeOf(term)) != TypeKind::Array;
    auto isAxis = [&](ValueId v) { return !f_.values[v].def.valid() && axesOf(v) == std::set<ValueId>{v}; };
    auto isOutside = [&](ValueId v) { return axesOf(v).empty(); };
    std::optional<AffineIndex> form =
        last ? affineIndex(m_, f_, index.back(), isAxis, isOutside) : std::nullopt;
    if (form && form->axes.contains(axis) && form->axes.at(axis) == 1) return true;
  }
  for (ValueId v : op.operands)
    if (readsContiguously(v, axis, seen)) return true;
  for (RegionId r : op.regions)
    for (ValueId v : terminator(f_, r).operands)
      if (readsContiguously(v, axis, seen)) return true;
  return false;
}

} // namespace melix::core
