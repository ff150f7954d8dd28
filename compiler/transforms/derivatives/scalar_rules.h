#pragma once
// The jvp rules of scalar ops: one function a row of ops.def (and of math.def, math_rules.cpp).

#include "transforms/walks/derivative_builder.h"

namespace melix::transforms {

/// The inputs of a rule: operands, result and tangents (none: zero) in the function being made.
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

/// Rules that move tangents about rather than scale them. Mutated: an index moved by one, operands or arms
/// swapped.
enum class StructuralRule : uint8_t {
#define STRUCTURAL(Kind, Text) Kind,
#include "transforms/derivatives/structural_rules.def"
};
inline constexpr unsigned structuralRuleCount = 0
#define STRUCTURAL(Kind, Text) +1
#include "transforms/derivatives/structural_rules.def"
    ;

/// Tests set this to get one rule wrong: that of an op, or of a math function and operand, by 0.1 %, or a
/// structural one. It is read while derivatives are made, so it costs programs nothing.
struct RuleMutation {
  bool active = false;
  bool math = false;
  uint32_t rule = 0;    ///< OpKind or MathKind
  uint32_t operand = 0; ///< tangent operand whose contribution is scaled
  int structural = -1;  ///< a StructuralRule
};
extern RuleMutation ruleMutation;

inline bool mutated(StructuralRule rule) { return ruleMutation.structural == static_cast<int>(rule); }
/// The indices of a place; the first is moved by one when a test mutates the rule.
std::vector<ValueId> placeIndices(Emit& e, StructuralRule rule, std::vector<ValueId> indices);

} // namespace melix::transforms
