#include "transforms/form_fma.h"

#include "core/build.h"
#include "core/nest.h"
#include "core/uses.h"
#include "core/walk.h"
#include "transforms/rewrite_region.h"

namespace melix::transforms {

using namespace core;

namespace {

class FmaFormer {
public:
  FmaFormer(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), uses_(m, id) {}

  void region(RegionId r) {
    rewriteRegion(m_, id_, r, [&](OpId id) {
      if (f_.ops[id].kind == OpKind::Nest) reductions(f_.ops[id]);
      for (RegionId inner : f_.ops[id].regions) region(inner);
      const bool sum = f_.ops[id].kind == OpKind::Add || f_.ops[id].kind == OpKind::Sub;
      return !sum || !join(id, r);
    });
    // Products that are used up.
    std::erase_if(f_.regions[r].ops, [&](OpId id) { return !uses_.regionOf(id).valid(); });
  }

private:
  bool isWide(ValueId v) const {
    TypeKind k = m_.types.kind(f_.typeOf(v));
    return k == TypeKind::F32 || k == TypeKind::F64;
  }
  /// Whether the value is a product made in this region that nobody else looks at.
  bool isProduct(ValueId v, RegionId here) const {
    OpId def = f_.values[v].def;
    return def.valid() && f_.ops[def].kind == OpKind::Mul && uses_.count(v) == 1 && isWide(v) &&
           uses_.regionOf(def) == here;
  }

  /// Whether an fma, appended to the region, took the place of the sum.
  bool join(OpId id, RegionId r) {
    const Op& sum = f_.ops[id];
    const bool left = isProduct(sum.operands[0], r);
    if (!left && !isProduct(sum.operands[1], r)) return false;
    const OpId product = f_.values[sum.operands[left ? 0 : 1]].def;
    const bool minus = sum.kind == OpKind::Sub;
    Builder build(m_, id_, r, sum.loc);
    ValueId x = f_.ops[product].operands[0], y = f_.ops[product].operands[1], c = sum.operands[left ? 1 : 0];
    auto negated = [&](ValueId v) {
      ValueId out = build.unary(OpKind::Neg, v);
      uses_.enter(f_.values[out].def, r);
      return out;
    };
    if (minus && left) c = negated(c);
    if (minus && !left) x = negated(x);
    uses_.change(id, [&](Op& op) {
      op.kind = OpKind::Fma;
      op.operands = {x, y, c};
    });
    uses_.leave(product);
    f_.regions[r].ops.push_back(id);
    return true;
  }

  void reductions(Op& op) {
    const NestView nest(f_, op);
    for (const NestPart& part : nest.parts()) {
      NestResult& r = resultOf(op, part);
      if (r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Sum && r.order != OrderKind::Unset)
        r.fused = isProduct(nest.yields(part)[0], nest.body());
    }
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
};

} // namespace

void formFma(Module& m) {
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    FunctionId f(i);
    if (m.functions[f].body.valid()) FmaFormer(m, f).region(m.functions[f].body);
  }
}

} // namespace melix::transforms
