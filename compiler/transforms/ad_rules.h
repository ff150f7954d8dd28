#pragma once
// The jvp rules of scalar ops: one function a row of ops.def (and of math.def, math_rules.cpp).

#include "transforms/ad_emit.h"

namespace melix::transforms {

/// What a rule sees: operands, result and tangents (none: zero) in the function being made.
struct RuleArgs {
  const Op& op; ///< of the source, for its attribute
  std::span<const ValueId> x;
  ValueId r;
  std::span<const ValueId> t;
};

/// The tangent of the result; none for zero. Every emitted op is linear in the tangents.
ValueId jvpScalar(Emit& e, const RuleArgs& a);
/// The partial derivative of an elementary function by operand `which`.
ValueId mathDerivative(Emit& e, ops::MathKind kind, std::span<const ValueId> x, ValueId r, unsigned which);
bool hasScalarRule(OpKind kind);

/// Tests set this to perturb one rule by 0.1 %: the rule of an op, or of a math function and operand.
struct RuleMutation {
  bool active = false;
  bool math = false;
  uint32_t rule = 0;    ///< OpKind or MathKind
  uint32_t operand = 0; ///< tangent operand whose contribution is scaled; structural rules: see ad_mutation
};
extern RuleMutation ruleMutation;

} // namespace melix::transforms
