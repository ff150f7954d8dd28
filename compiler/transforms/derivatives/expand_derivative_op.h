#pragma once
// Replaces one derivative op by calls of companions; `expand_derivatives` decides the order of the ops.

#include "transforms/derivatives/derivative_context.h"

namespace melix::transforms {

class OpExpansion {
public:
  /// `active`: leaves of the callee's parameters that depend on the differentiated values.
  OpExpansion(Ad& ad, const Op& op, std::vector<LeafBits> active);

  /// Appends the calls; gives the values that stand for the op's results.
  std::vector<ValueId> run(Emit& e);

  /// Of Forward and Backward: the fields of the record that the pullback keeps.
  void fillSaved();

private:
  // Places in the function that holds the op.
  const Function& callee() const { return ad_.module.functions[attr_.callee]; }
  types::TypeStore& types() const { return ad_.module.types; }
  TypeId paramType(uint32_t param) const { return callee().typeOf(callee().params()[param]); }
  size_t arity() const { return callee().params().size(); }
  std::vector<ValueId> arguments() const;
  std::span<const ValueId> seeds() const { return std::span(op_.operands).subspan(arity()); }
  std::vector<uint32_t> sizedParams() const;
  std::vector<uint32_t> sizedResults() const;
  OpId call(Emit& e, FunctionId f, std::vector<ValueId> operands);

  // Tangents and cotangents, leaf by leaf.
  ValueId leafOf(Emit& e, ValueId tangent, TypeId type, const Leaf& leaf);
  ValueId zeroOf(Emit& e, TypeId tangent, ValueId primal, TypeId type, const Leaf& leaf);
  ValueId sizedLike(Emit& e, ValueId part, TypeId tangent, ValueId primal, TypeId type, const Leaf& leaf);
  ValueId together(Emit& e, TypeId type, TypeId declared, const std::vector<ValueId>& leaves, size_t& at);

  void companions();
  std::vector<ValueId> jvp(Emit& e);
  std::vector<ValueId> reverse(Emit& e);
  std::vector<ValueId> forward(Emit& e);
  std::vector<ValueId> backward(Emit& e);
  /// Primal results, then Saved.
  std::vector<ValueId> callForward(Emit& e);
  /// The inputs of `callBackward`: sizes of the callee and its results, values whose sizes zeros have.
  struct Sweep {
    ValueId saved;
    Dims dims;
    std::map<uint32_t, ValueId> results;        ///< of the callee, those at hand
    std::map<uint32_t, ValueId> sizedArguments; ///< by parameter
  };
  std::vector<ValueId> callBackward(Emit& e, const Sweep& sweep, std::span<const ValueId> cotangents);
  std::vector<ValueId> cotangentOperands(Emit& e, const Sweep& sweep, std::span<const ValueId> cotangents,
                                         const types::DimSubst& here, const std::vector<TypeId>& wanted);

  Ad& ad_;
  const Op& op_;
  const DerivativeAttr& attr_;
  std::vector<LeafBits> active_;
  const JvpCompanion* jvp_ = nullptr;
  Linearisation* lin_ = nullptr;
};

} // namespace melix::transforms
