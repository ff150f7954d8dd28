#include "transforms/contractions/contract_fma.h"

#include "core/ir/build.h"
#include "core/ir/nest.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>
#include <array>

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

  // --- sums
  // ------------------------------------------------------------------------------------------------------

  void reductions(Op& op) {
    const NestView nest(f_, op);
    for (const NestPart& part : nest.parts()) {
      NestResult& r = resultOf(op, part);
      if (!isSum(r) || r.order == OrderKind::Unset) continue;
      const ValueId term = nest.yields(part)[0];
      r.fused = isProduct(term, nest.body());
      if (r.fused || termOf(term, nest.body()) != Term::Product) continue;
      openBranches(term, nest.body());
      r.fused = true;
    }
  }

  /// What joins a sum: a product that arms of branches make, no number, or another.
  enum class Term : uint8_t { None, Product, Other };

  Term termOf(ValueId v, RegionId here) const {
    if (isProduct(v, here)) return Term::Product;
    if (isZero(v)) return Term::None;
    const OpId def = f_.values[v].def;
    if (!def.valid() || !isBranch(f_.ops[def]) || uses_.count(v) != 1 || uses_.regionOf(def) != here ||
        !isWide(v))
      return Term::Other;
    Term all = Term::None;
    for (RegionId arm : f_.ops[def].regions) all = std::max(all, termOf(yieldsOf(arm)[0], arm));
    return all;
  }
  static bool isBranch(const Op& op) {
    return op.kind == OpKind::If && op.results.size() == 1 && op.resultDims.empty();
  }
  bool isZero(ValueId v) const {
    const OpId def = f_.values[v].def;
    if (!def.valid()) return false;
    const Op& op = f_.ops[def];
    return op.kind == OpKind::Zero || (op.kind == OpKind::Const && op.as<Constant>().bits == 0);
  }
  OpId yieldOf(RegionId r) const { return f_.regions[r].ops.back(); }
  const Operands& yieldsOf(RegionId r) const { return f_.ops[yieldOf(r)].operands; }

  /// What `make` gives, in a region that ends in a yield.
  template <class Make>
  auto beforeYield(RegionId r, LocId loc, const Make& make) {
    const OpId yield = yieldOf(r);
    f_.regions[r].ops.pop_back();
    Builder build(m_, id_, r, loc);
    const auto made = make(build);
    f_.regions[r].ops.push_back(yield);
    return made;
  }
  /// The term becomes a product after the branch that made it.
  void openBranches(ValueId term, RegionId body) {
    const OpId branch = f_.values[term].def, yield = yieldOf(body);
    const std::array<ValueId, 2> factors = factorsOf(branch);
    const ValueId product = beforeYield(body, f_.ops[branch].loc, [&](Builder& build) {
      return build.binary(OpKind::Mul, factors[0], factors[1]);
    });
    uses_.change(yield, [&](Op& op) { std::ranges::replace(op.operands, term, product); });
    uses_.enter(f_.values[product].def, body);
  }
  /// A branch gives the factors of its term from now on; a sum that is added 0 · -0 stays what it is.
  std::array<ValueId, 2> factorsOf(OpId branch) {
    for (RegionId arm : f_.ops[branch].regions) {
      const ValueId term = yieldsOf(arm)[0];
      const OpId def = f_.values[term].def;
      std::array<ValueId, 2> factors;
      if (isZero(term)) {
        factors = beforeYield(arm, f_.ops[branch].loc, [&](Builder& build) {
          const TypeId type = f_.typeOf(term);
          return std::array{build.number(type, 0.0), build.number(type, -0.0)};
        });
        for (ValueId v : factors) uses_.enter(f_.values[v].def, arm);
      } else if (f_.ops[def].kind == OpKind::Mul) {
        factors = {f_.ops[def].operands[0], f_.ops[def].operands[1]};
      } else {
        factors = factorsOf(def);
      }
      uses_.change(yieldOf(arm), [&](Op& op) { op.operands = {factors[0], factors[1]}; });
      if (!uses_.used(term)) uses_.leave(def);
    }
    Op& op = f_.ops[branch];
    op.results.push_back(f_.values.add(Value{f_.typeOf(op.results[0]), branch, {}, 1, {}}));
    return {op.results[0], op.results[1]};
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
};

} // namespace

void contractFma(Module& m) {
  require(m, {State::OrdersChosen});
  changeBodies(m, [&](FunctionId f) { FmaFormer(m, f).region(m.functions[f].body); });
}

} // namespace melix::transforms
