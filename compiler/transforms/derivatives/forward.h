#pragma once
// Makes the body of f_fwd from a jvp companion. It consists of the ops that do not depend on tangents, and of
// the residual items of the plan. Loops and nests collect their items, branches yield a case of an enum, and
// calls the callee's Saved.

#include "core/ir/flow.h"
#include "transforms/derivatives/derivative_context.h"

namespace melix::transforms {

class Forward {
public:
  Forward(Ad& ad, Linearisation& lin)
      : ad_(ad), lin_(lin), e_(ad.module, lin.forward, ad.module.functions[lin.forward].body, g().loc) {}

  void build();

private:
  const Function& g() const { return ad_.module.functions[lin_.source]; }
  const Op& opOf(OpId id) const { return g().ops[id]; }
  const Op& terminator(RegionId r) const { return opOf(g().regions[r].ops.back()); }
  types::TypeStore& types() const { return ad_.module.types; }
  bool linear(ValueId v) const { return lin_.values->values.count(v) != 0; }

  ValueId value(ValueId v) const {
    auto it = values_.find(v);
    assert(it != values_.end() && "a known value depends on a tangent");
    return it->second;
  }
  std::vector<ValueId> known(std::span<const ValueId> vs) const {
    std::vector<ValueId> out;
    for (ValueId v : vs)
      if (!linear(v)) out.push_back(value(v));
    return out;
  }
  TypeId type(TypeId t) { return types().substitute(t, dims_); }
  TypeId typeOf(ValueId v) { return type(TypeId(g().typeOf(v))); }
  DimId dim(DimId d) { return types().dims.substitute(d, dims_); }
  Dims dimsOf(std::span<const DimId> ds) {
    Dims out;
    for (DimId d : ds) out.push_back(dim(d));
    return out;
  }
  DimSym defineDim(DimSym s) {
    DimSym fresh = ad_.freshDim(s);
    dims_[s] = types().dims.symbol(fresh);
    return fresh;
  }

  const std::vector<ResidualItem>* planned(RegionId r) const {
    auto it = lin_.plan.regions.find(r);
    return it == lin_.plan.regions.end() ? nullptr : &it->second;
  }
  void findKeptUndefined();
  const OpResidual* planned(OpId id) const {
    auto it = lin_.plan.ops.find(id);
    return it == lin_.plan.ops.end() || it->second.carriers.empty() ? nullptr : &it->second;
  }

  /// The residual items of a region, at its end.
  std::vector<ValueId> items(RegionId r, Emit& e);
  void region(RegionId from, Emit& e);
  /// A new region whose parameters are the known ones of `from`.
  Emit open(RegionId from, Emit& e);
  void bind(const Op& o, OpId made, Emit& e);
  void op(OpId id, Emit& e);
  std::vector<TypeId> resultTypes(const Op& o);
  Op start(const Op& o);
  void branch(OpId id, Emit& e);
  void armItems(const Op& o, size_t arm, const OpResidual& plan, Emit& b, std::vector<ValueId>& out);
  void call(OpId id, Emit& e);

  // Loops and nests (forward_loops.cpp).
  struct Loop;
  void loopOperands(Loop& l, Emit& e);
  Emit openIteration(Loop& l, RegionId from, Emit& e);
  void countIteration(const Loop& l, Emit& b, std::vector<ValueId>& out);
  void collectIteration(Loop& l, Emit& b, std::vector<ValueId>& out);
  void loopSizes(Loop& l, Emit& e);
  TypeId extended(const Loop& l, TypeId array);
  void loop(OpId id, Emit& e);
  void openNest(const Op& o, const NestView& view, NestBuilder& made);
  std::vector<ValueId> nestResults(const NestView& view, NestBuilder& made, Emit& e);
  void nest(OpId id, Emit& e);

  Ad& ad_;
  Linearisation& lin_;
  Emit e_;
  std::unordered_map<ValueId, ValueId> values_;
  types::DimSubst dims_;
  std::unordered_set<ValueId> keptUndefined_; ///< see findKeptUndefined
};

} // namespace melix::transforms
