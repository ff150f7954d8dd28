#include "core/access.h"

#include "core/walk.h"

namespace melix::core {

AccessInfo::AccessInfo(const Module& m, const Function& f) : m_(m), f_(f) { region(f.body); }

const std::set<ValueId>& AccessInfo::axesOf(ValueId v) const {
  static const std::set<ValueId> none;
  auto it = axes_.find(v);
  return it == axes_.end() ? none : it->second;
}

void AccessInfo::collect(RegionId r, std::set<ValueId>& out) {
  forEachOp(f_, r, [&](OpId id) {
    for (ValueId v : f_.ops[id].operands) out.insert(axesOf(v).begin(), axesOf(v).end());
  });
}

void AccessInfo::region(RegionId r) {
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
      region(inner);
      collect(inner, all);
      for (ValueId p : params) open_.erase(p);
    }
    // Axes of this op and of nests further inside do not leave it.
    std::erase_if(all, [&](ValueId a) { return !open_.contains(a); });
    for (ValueId v : op.results) axes_[v] = all;
  }
}

std::optional<AffineForm> AccessInfo::affine(ValueId v) const {
  const Value& value = f_.values[v];
  AffineForm out;
  if (axesOf(v).empty()) {
    out.isConstant = value.def.valid() && f_.ops[value.def].kind == OpKind::Const;
    if (out.isConstant) out.constant = static_cast<int64_t>(f_.ops[value.def].as<Constant>().bits);
    return out;
  }
  if (!value.def.valid()) {
    if (axesOf(v) != std::set<ValueId>{v}) return std::nullopt;
    out.axes.emplace(v, 1);
    return out;
  }
  const Op& op = f_.ops[value.def];
  if (op.kind != OpKind::Add && op.kind != OpKind::Sub && op.kind != OpKind::Mul) return std::nullopt;
  std::optional<AffineForm> a = affine(op.operands[0]), b = affine(op.operands[1]);
  if (!a || !b) return std::nullopt;
  if (op.kind == OpKind::Mul) {
    if (a->axes.empty()) std::swap(a, b);
    if (!b->axes.empty() || !b->isConstant) return std::nullopt;
    for (auto& [axis, c] : a->axes) c *= b->constant;
    a->constant *= b->constant;
    return a;
  }
  int64_t sign = op.kind == OpKind::Sub ? -1 : 1;
  for (auto [axis, c] : b->axes)
    if ((a->axes[axis] += sign * c) == 0) a->axes.erase(axis);
  a->constant += sign * b->constant;
  a->isConstant = a->isConstant && b->isConstant;
  return a;
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

bool AccessInfo::readsContiguously(ValueId term, ValueId axis) const {
  if (!axesOf(term).contains(axis)) return false;
  const Value& value = f_.values[term];
  if (!value.def.valid()) return false;
  const Op& op = f_.ops[value.def];
  if (op.kind == OpKind::Get) {
    std::vector<ValueId> index = indices(op);
    bool last = !index.empty() && m_.types.kind(f_.typeOf(term)) != TypeKind::Array;
    std::optional<AffineForm> form = last ? affine(index.back()) : std::nullopt;
    if (form && form->axes.contains(axis) && form->axes.at(axis) == 1) return true;
  }
  for (ValueId v : op.operands)
    if (readsContiguously(v, axis)) return true;
  for (RegionId r : op.regions)
    for (ValueId v : terminator(f_, r).operands)
      if (readsContiguously(v, axis)) return true;
  return false;
}

} // namespace melix::core
