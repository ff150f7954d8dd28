#pragma once
// Makes the body of f_jvp: every op of f, and beside it the ops that propagate the tangents of active leaves.

#include "core/ir/flow.h"
#include "transforms/derivatives/derivative_context.h"

namespace melix::transforms {

class JvpBuilder {
public:
  JvpBuilder(Ad& ad, JvpCompanion& c);
  void build();

private:
  // Names of the source in the companion.
  const Function& source() const { return ad_.module.functions[src_]; }
  const Op& sourceOp(OpId id) const { return source().ops[id]; }
  const Op& terminator(RegionId r) const { return sourceOp(source().regions[r].ops.back()); }
  types::TypeStore& types() const { return ad_.module.types; }
  ValueId value(ValueId v) const;
  std::vector<ValueId> valuesOf(std::span<const ValueId> vs) const;
  TypeId type(TypeId t) { return types().substitute(t, dims_); }
  TypeId typeOfSource(ValueId v) { return type(source().typeOf(v)); }
  DimId dim(DimId d) { return types().dims.substitute(d, dims_); }
  std::vector<DimId> dimsOf(std::span<const DimId> ds);
  DimSym defineDim(DimSym s);
  Path path(const Path& p);

  // Tangents.
  bool active(ValueId v) const { return act_->active(v); }
  LeafBits bits(ValueId v) const;
  size_t leafCount(ValueId v) { return ad_.leaves.count(source().typeOf(v)); }
  Tangents tangents(ValueId v);
  /// The tangent of a value that is one leaf; none for zero.
  ValueId leaf(ValueId v);
  void bind(ValueId v, Tangents t);
  void bindLeaf(ValueId v, ValueId t) { bind(v, Tangents{t}); }
  /// Tangents of the leaves in `which`, zeros made real.
  std::vector<ValueId> real(Emit& e, ValueId v, const LeafBits& which);
  /// Tangent of the whole value as one value of its tangent type, zeros made real.
  ValueId whole(Emit& e, ValueId v);
  ValueId follow(ValueId t, ValueId v);
  ValueId zeroLeaf(Emit& e, ValueId v, const Leaf& leaf);
  std::vector<Leaf> leavesOf(ValueId v) { return ad_.leaves.of(typeOfSource(v)); }

  // Ops.
  void region(RegionId from, Emit& e);
  void op(OpId id, Emit& e);
  OpId clone(const Op& o, Emit& e);
  void scalar(const Op& o, Emit& e);
  void noteProducts(ValueId tangent);
  void bundle(const Op& o, Emit& e);
  void capture(const Op& o, Emit& e);
  void get(const Op& o, Emit& e);
  void update(const Op& o, Emit& e);
  void linear(const Op& o, Emit& e);
  void variant(const Op& o, Emit& e);
  void unpack(const Op& o, Emit& e);
  void push(const Op& o, Emit& e);
  void pop(const Op& o, Emit& e);
  void toArray(const Op& o, Emit& e);
  void call(const Op& o, Emit& e);
  void customRule(Emit& e);
  void branch(const Op& o, Emit& e);
  void forLoop(const Op& o, Emit& e);
  void whileLoop(const Op& o, Emit& e);
  void nest(const Op& o, Emit& e);

  // Pieces of control ops.
  RegionId openRegion(RegionId from, Emit& e);
  /// A parameter or op result of the source has this value, and no tangents so far.
  void bindValue(ValueId v, ValueId made);
  /// A region for the source's `from`, with its parameters bound.
  Emit openBody(RegionId from, Emit& e);
  void payloadTangents(const Op& o, size_t regionIndex, Emit& e);
  /// Where results of the source op stand among the results of the op made.
  struct Slots {
    std::vector<uint32_t> primal;
    struct Tangent {
      uint32_t result, leaf, at;
    };
    std::vector<Tangent> tangents;
    std::vector<TypeId> types; ///< of the results added so far
    void addPrimal(JvpBuilder& j, ValueId result);
    void addTangents(JvpBuilder& j, uint32_t result, ValueId v, const LeafBits& which);
  };
  void bindResults(const Op& o, OpId made, const Slots& slots);
  std::vector<DimId> yieldDims(RegionId r) { return dimsOf(terminator(r).dims); }
  std::vector<ValueId> realAll(Emit& e, std::span<const ValueId> yielded, const std::vector<LeafBits>& which);
  std::vector<LeafBits> carryIn(const LoopView& loop, Op& copy, Emit& e);
  void openCarries(const LoopView& loop, RegionId from, const std::vector<LeafBits>& which, Emit& b);
  /// Selection results (min, max, filter): the body is run again at the points chosen.
  struct Chosen;
  struct NestCopy;
  void nestAtPoints(const Op& o, const Chosen& chosen, OpId made, Emit& e);
  Tangents bodyAt(const Op& o, ValueId yielded, const std::vector<ValueId>& axisValues, Emit& e);
  void markNeeds(OpId id, std::unordered_map<ValueId, bool>& needed) const;

  Ad& ad_;
  JvpCompanion& c_;
  FunctionId src_, dst_;
  const FunctionActivity* act_;
  std::unordered_map<ValueId, ValueId> values_;
  std::unordered_map<ValueId, Tangents> tangents_;
  types::DimSubst dims_;
  bool inCondition_ = false; ///< of a `while`: no tangent leaves it
};

} // namespace melix::transforms
