#pragma once
// Expands the transforms of rule 43 to typed nodes: each becomes Derivative nodes on a call of the function,
// and the rest is ordinary code around them.

#include "check/derivatives/leaves.h"
#include "check/tree/program.h"
#include "support/function_ref.h"

#include <optional>
#include <set>

namespace melix::check {

/// The services of the checker that the transforms need.
class FunctionCalls {
public:
  virtual ~FunctionCalls() = default;
  /// Calls a function value (of Known or Function type). For a Known one the answer is a Call node, so that a
  /// Derivative can take its target over; an Error node after a report.
  virtual NodeId callFunction(NodeId function, std::vector<NodeId> args, Span span) = 0;
  /// `call`'s target is resolved later; `derivative` gets it then too.
  virtual void followTarget(NodeId derivative, NodeId call) = 0;
  /// The pullback that keeps `saved`, as a template value.
  virtual NodeId pullbackValue(PullbackShape shape, NodeId saved, Span span) = 0;
  /// `grad(function, wrt: …)` as a template value.
  virtual NodeId gradientOf(NodeId function, std::vector<uint32_t> wrt, Span span) = 0;
  /// Whether parameter `k` is declared as a whole number, so that a literal given to it stays one.
  virtual bool wantsWhole(NodeId function, size_t k) = 0;
  /// Whether it has an `inout` parameter, in each of its overloads.
  virtual bool changesParameters(NodeId function) = 0;
  /// How many arguments the function value may be called with.
  virtual std::set<size_t> arities(NodeId function) = 0;
};

enum class TransformKind : uint8_t { Grad, ValueAndGrad, Jacobian, Hessian, Hvp, Vmap, Linearize };

class Derivatives {
public:
  /// Makes of the tangent `t` of `x` another form of it (dict_tangents.h).
  using Conversion = std::function<NodeId(NodeId x, NodeId t, Span span)>;
  using ZeroLike = std::function<NodeId(NodeId x, Span span)>;
  Derivatives(NodeBuilder& build, FunctionCalls& calls, Conversion keyed, Conversion placed,
              ZeroLike zeroLike)
      : b(build), calls_(calls), keyed_(std::move(keyed)), placed_(std::move(placed)),
        zeroLike_(std::move(zeroLike)) {}

  /// Reverse mode: `(result, cotangents…)` with the seed 1 for the float result; none of `wrt` means
  /// parameter 0.
  NodeId apply(TransformKind kind, NodeId function, std::vector<NodeId> args,
               const std::vector<uint32_t>& wrt, Span span);
  /// `(y, dy)`; several arguments are given as tuples.
  NodeId jvp(NodeId function, NodeId x, NodeId dx, Span span);
  /// `(y, pullback)`; several arguments are given as a tuple, and so are their cotangents.
  NodeId vjp(NodeId function, NodeId x, Span span);
  /// A pullback applied to `seed`; `saved` is the value it keeps.
  NodeId pull(const PullbackShape& shape, NodeId saved, NodeId seed, Span span);
  /// The type of the cotangent that a pullback takes.
  TypeId seedOf(const PullbackShape& shape, TypeId saved);

private:
  struct Callee {
    NodeId call; ///< the Call node whose target is taken over; none after an error
    TypeId result;
    uint32_t captures = 0;
  };
  /// The call of the function at these arguments. Nodes computed before it, such as sizes, go to `into`.
  Callee prepare(NodeId function, const std::vector<NodeId>& args, std::vector<NodeId>& into, Span span);
  bool passesAsGiven(const Callee& callee, const std::vector<NodeId>& args);
  NodeId derivative(DerivativeMode mode, const Callee& callee, std::vector<uint32_t> wrt,
                    std::vector<NodeId> seeds, TypeId type, Span span);
  NodeId gradient(bool withValue, NodeId function, std::vector<NodeId> args, std::vector<uint32_t> wrt,
                  Span span);
  std::vector<NodeId> spread(NodeId function, NodeId x, std::vector<NodeId>& into);
  void closeNumbers(TypeId type);
  void settleWhole(TypeId type, Span span);
  types::DimSubst sizesOf(const PullbackShape& shape, TypeId saved);
  NodeId vjpAt(NodeId function, std::vector<NodeId> args, Span span);
  /// A function run forwards: its value, the saved value, and the types that its pullback takes and gives.
  struct Swept {
    NodeId value;
    LocalId saved;
    PullbackShape shape;
  };
  Swept sweep(const Callee& callee, const std::vector<NodeId>& args, const std::vector<uint32_t>& wrt,
              std::vector<TypeId> slopes, std::vector<NodeId>& into, Span span);
  /// None if an error was reported.
  std::optional<Swept> transposed(NodeId pullback, NodeId zero, std::vector<NodeId>& into, Span span);
  NodeId linearize(NodeId function, std::vector<NodeId> args, Span span);
  bool isTupleOf(NodeId value, size_t parts, std::string_view what);
  NodeId hvp(NodeId function, std::vector<NodeId> args, const std::vector<uint32_t>& wrt, Span span);
  NodeId hessian(NodeId function, std::vector<NodeId> args, const std::vector<uint32_t>& wrt, Span span);
  NodeId jacobians(NodeId function, std::vector<NodeId> args, const std::vector<uint32_t>& wrt, Span span);
  NodeId jacobian(NodeId function, std::vector<NodeId> args, uint32_t wrt, Span span);
  NodeId jacobianOfNumber(NodeId function, const std::vector<NodeId>& args, uint32_t wrt, Span span);
  enum class Direction : uint8_t { Backward, Forward, Either };
  Direction directionFor(TypeId in, TypeId out);
  NodeId forwards(const Swept& swept, TypeId in, TypeId out, Span span);
  NodeId rows(TypeId tangent, FunctionRef<NodeId(NodeId)> seed, FunctionRef<NodeId(NodeId)> pull, Span span);
  NodeId columns(TypeId tangent, const std::vector<DimId>& in,
                 FunctionRef<NodeId(const std::vector<LocalId>&)> at, Span span);
  bool isCounted(TypeId tangent);
  std::vector<TypeId> partsOf(TypeId composite);
  NodeId eachPartOf(TypeId composite, Span span, FunctionRef<NodeId(uint32_t, TypeId)> each);
  NodeId numbersOf(TypeId tangent, Span span);
  NodeId oneAt(TypeId type, const std::vector<LocalId>& place, NodeId one, Span span);
  NodeId tangentAsked(NodeId tangent, TypeId wanted, std::string_view what, Span span);
  NodeId jvpAt(NodeId function, const std::vector<NodeId>& args, const std::vector<uint32_t>& wrt,
               std::vector<NodeId> tangents, Span span);
  bool differentiable(NodeId function, size_t k, NodeId arg);
  bool carriesTangent(NodeId function, size_t k, NodeId arg);
  std::vector<NodeId> bindAll(std::vector<NodeId> args, std::vector<NodeId>& into);

  NodeBuilder& b;
  FunctionCalls& calls_;
  Conversion keyed_, placed_; ///< from Core's form to the program's, and the other way
  ZeroLike zeroLike_;
};

} // namespace melix::check
