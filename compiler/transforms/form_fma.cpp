#include "transforms/form_fma.h"

#include "core/build.h"
#include "core/walk.h"

#include <algorithm>
#include <set>

namespace melix::transforms {

using namespace core;

namespace {

class FmaFormer {
public:
  FmaFormer(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), uses_(countUses(f_)) {}

  void region(RegionId r) {
    std::vector<OpId> list = std::move(f_.regions[r].ops);
    f_.regions[r].ops.clear();
    for (OpId id : list) {
      if (f_.ops[id].kind == OpKind::Add || f_.ops[id].kind == OpKind::Sub) join(id, r);
      if (f_.ops[id].kind == OpKind::Nest) reductions(f_.ops[id]);
      f_.regions[r].ops.push_back(id);
      const std::vector<RegionId> inner = f_.ops[id].regions;
      for (RegionId i : inner) region(i);
    }
    // Products that are used up.
    std::erase_if(f_.regions[r].ops, [&](OpId id) { return joined_.contains(id.index); });
  }

private:
  bool isWide(ValueId v) const {
    TypeKind k = m_.types.kind(f_.typeOf(v));
    return k == TypeKind::F32 || k == TypeKind::F64;
  }
  /// The product's op, if it stands in the same region and nobody else looks at it.
  std::optional<OpId> product(ValueId v, const std::vector<OpId>& here) const {
    OpId def = f_.values[v].def;
    if (!def.valid() || f_.ops[def].kind != OpKind::Mul || uses_[v.index] != 1 || !isWide(v))
      return std::nullopt;
    for (size_t k = here.size(); k-- > 0;)
      if (here[k] == def) return def;
    return std::nullopt;
  }

  void join(OpId id, RegionId r) {
    const std::vector<OpId> here = f_.regions[r].ops;
    ValueId a = f_.ops[id].operands[0], b = f_.ops[id].operands[1];
    bool minus = f_.ops[id].kind == OpKind::Sub;
    std::optional<OpId> left = product(a, here), right = left ? std::nullopt : product(b, here);
    if (!left && !right) return;
    Builder build(m_, id_, r, f_.ops[id].loc);
    OpId mul = left ? *left : *right;
    ValueId x = f_.ops[mul].operands[0], y = f_.ops[mul].operands[1], c = left ? b : a;
    if (minus && left) c = build.unary(OpKind::Neg, c);
    if (minus && right) x = build.unary(OpKind::Neg, x);
    Op& op = f_.ops[id];
    op.kind = OpKind::Fma;
    op.operands = {x, y, c};
    joined_.insert(mul.index);
  }

  void reductions(Op& op) {
    const Op& end = terminator(f_, op.regions[0]);
    size_t y = 0;
    for (NestResult& r : op.as<NestAttr>().results) {
      ValueId v = end.operands[y];
      y += r.kind == NestResultKind::Filter ? 2 : r.yields;
      bool sum =
          r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Sum && r.order != OrderKind::Unset;
      if (!sum || !isWide(v) || uses_[v.index] != 1) continue;
      OpId def = f_.values[v].def;
      if (!def.valid() || f_.ops[def].kind != OpKind::Mul) continue;
      const std::vector<OpId>& body = f_.regions[op.regions[0]].ops;
      r.fused = std::find(body.begin(), body.end(), def) != body.end();
    }
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  std::vector<uint32_t> uses_;
  std::set<uint32_t> joined_;
};

} // namespace

void formFma(Module& m) {
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    FunctionId f(i);
    if (m.functions[f].body.valid()) FmaFormer(m, f).region(m.functions[f].body);
  }
}

} // namespace melix::transforms
