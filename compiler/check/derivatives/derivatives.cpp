#include "check/derivatives/derivatives.h"

#include "types/tangent.h"

#include <algorithm>

namespace melix::check {

std::vector<NodeId> Derivatives::bindAll(std::vector<NodeId> args, std::vector<NodeId>& into) {
  for (NodeId& arg : args) {
    LocalId l = b.bind("x", arg, into);
    arg = b.local(l, b.spanOf(arg));
  }
  return args;
}

/// Whether the arguments are passed as they are: the derivative of one has its own type. Says so if not.
bool Derivatives::passesAsGiven(const Callee& callee, const std::vector<NodeId>& args) {
  const std::vector<NodeId>& passed = b.instance.nodes[callee.call].children;
  // Behind a function value, which holds what it captured, or behind what was captured.
  const size_t first = b.instance.nodes[callee.call].as<CallTarget>().known ? 1 : callee.captures;
  for (size_t k = 0; k < args.size() && first + k < passed.size(); ++k) {
    TypeId given = b.infer.zonk(b.typeOf(args[k])), taken = b.infer.zonk(b.typeOf(passed[first + k]));
    if (b.types.keepsSizes(given) == b.types.keepsSizes(taken)) continue;
    b.sink.report(DiagId::ArgumentType, b.spanOf(args[k]), "the derivative", b.show(taken), b.show(given))
        .hint = "a value of that type is made before: `let x: … = …`";
    return false;
  }
  return true;
}

Derivatives::Callee Derivatives::prepare(NodeId function, const std::vector<NodeId>& args,
                                         std::vector<NodeId>& into, Span span) {
  Callee callee;
  if (calls_.changesParameters(function)) {
    b.sink.report(DiagId::TransformInout, span);
    return callee;
  }
  NodeId call = calls_.callFunction(function, args, span);
  while (b.instance.nodes[call].kind == NodeKind::Block) {
    const std::vector<NodeId>& nodes = b.instance.nodes[call].children;
    if (nodes.empty() || b.kindOf(nodes.back()) == TypeKind::Never) break;
    into.insert(into.end(), nodes.begin(), nodes.end() - 1);
    call = nodes.back();
  }
  const Node& node = b.instance.nodes[call];
  if (node.kind == NodeKind::Error) return callee;
  if (node.kind != NodeKind::Call) {
    b.sink.report(DiagId::NoKnownDerivative, span);
    return callee;
  }
  callee.call = call;
  callee.result = b.infer.zonk(node.type);
  callee.captures = node.as<CallTarget>().captures;
  if (node.as<CallTarget>().known)
    callee.captures = static_cast<uint32_t>(b.types[b.typeOf(node.children[0])].parts.size());
  if (!passesAsGiven(callee, args)) callee.call = NodeId::none();
  return callee;
}

NodeId Derivatives::derivative(DerivativeMode mode, const Callee& callee, std::vector<uint32_t> wrt,
                               std::vector<NodeId> seeds, TypeId type, Span span) {
  DerivativeRef ref;
  ref.mode = mode;
  for (uint32_t& w : wrt) w += callee.captures;
  ref.wrt = std::move(wrt);
  ref.target = b.instance.nodes[callee.call].as<CallTarget>();
  std::vector<NodeId> children = b.instance.nodes[callee.call].children;
  children.insert(children.end(), seeds.begin(), seeds.end());
  NodeId node = b.make(NodeKind::Derivative, type, span, std::move(children), std::move(ref));
  b.instance.nodes.edit(node).resultDims = b.instance.nodes[callee.call].resultDims;
  calls_.followTarget(node, callee.call);
  return node;
}

/// Whether argument `k` of a function has a derivative; says so if not.
bool Derivatives::differentiable(NodeId function, size_t k, NodeId arg) {
  TypeId type = b.typeOf(arg);
  TypeId element = b.infer.shallow(b.types.element(type));
  if (b.infer.isOpen(element) && !calls_.wantsWhole(function, k)) { // a whole literal becomes a float here
    b.infer.unify(b.infer.freshVar(types::VarClass::OpenFloat, b.spanOf(arg)), element);
    return true;
  }
  if (b.infer.isOpen(element)) {
    b.sink.report(DiagId::NotDifferentiable, b.spanOf(arg), b.show(type));
    return false;
  }
  if (b.types.kind(type) == TypeKind::Error) return false;
  if (b.lacks(type, "Differentiable", "a derivative", b.spanOf(arg))) return false;
  if (!b.types.isUnit(types::tangentType(b.types, type))) return true;
  b.sink.report(DiagId::NotDifferentiable, b.spanOf(arg), b.show(type));
  return false;
}

NodeId Derivatives::apply(TransformKind kind, NodeId function, std::vector<NodeId> args,
                          const std::vector<uint32_t>& given, Span span) {
  const std::vector<uint32_t> wrt = given.empty() ? std::vector<uint32_t>{0} : given;
  const size_t arity = kind == TransformKind::Hvp ? args.size() - 1 : args.size();
  if (args.empty() || *std::max_element(wrt.begin(), wrt.end()) >= arity) {
    b.sink.report(DiagId::TooFewArguments, span, std::to_string(args.size()), "what is differentiated by");
    return b.error(span);
  }
  switch (kind) {
  case TransformKind::Grad: return gradient(false, function, std::move(args), wrt, span);
  case TransformKind::ValueAndGrad: return gradient(true, function, std::move(args), wrt, span);
  case TransformKind::Jacobian: return jacobians(function, std::move(args), wrt, span);
  case TransformKind::Hessian: return hessian(function, std::move(args), wrt, span);
  case TransformKind::Hvp: return hvp(function, std::move(args), wrt, span);
  case TransformKind::Linearize: return linearize(function, std::move(args), span);
  case TransformKind::Vmap: break; // no derivative: vmap.h
  }
  return b.error(span);
}

/// The Hessian of the float result times a direction, which is the last argument.
NodeId Derivatives::hvp(NodeId function, std::vector<NodeId> args, const std::vector<uint32_t>& wrt,
                        Span span) {
  std::vector<NodeId> nodes;
  NodeId direction = b.local(b.bind("v", args.back(), nodes), span);
  args.pop_back();
  std::vector<NodeId> tangents{direction};
  if (wrt.size() > 1) {
    if (!isTupleOf(direction, wrt.size(), "hvp(f)")) return b.error(span);
    tangents.clear();
    for (uint32_t k = 0; k < wrt.size(); ++k) tangents.push_back(b.tuplePart(direction, k, span));
  }
  NodeId pair = jvpAt(calls_.gradientOf(function, wrt, span), args, wrt, std::move(tangents), span);
  if (b.kindOf(pair) == TypeKind::Error) return pair;
  nodes.push_back(b.tuplePart(pair, 1, span));
  return b.block(std::move(nodes), span);
}

bool Derivatives::isTupleOf(NodeId value, size_t parts, std::string_view what) {
  TypeId type = b.typeOf(value);
  if (b.types.kind(type) == TypeKind::Error) return false;
  if (b.types.kind(type) == TypeKind::Tuple && b.types[type].parts.size() == parts) return true;
  b.sink.report(DiagId::ArgumentKind, b.spanOf(value), what, "a tuple of " + std::to_string(parts),
                b.show(type));
  return false;
}

NodeId Derivatives::gradient(bool withValue, NodeId function, std::vector<NodeId> args,
                             std::vector<uint32_t> wrt, Span span) {
  for (uint32_t w : wrt)
    if (!differentiable(function, w, args[w])) return b.error(span);
  std::vector<NodeId> nodes;
  args = bindAll(std::move(args), nodes);
  Callee callee = prepare(function, args, nodes, span);
  if (!callee.call) return b.error(span);
  bool isTuple = b.types.kind(callee.result) == TypeKind::Tuple;
  TypeId main =
      isTuple && !b.types[callee.result].parts.empty() ? b.types[callee.result].parts[0] : callee.result;
  if (b.infer.isOpen(main))
    b.infer.unify(b.infer.freshVar(types::VarClass::OpenFloat, span), main);
  else if (!b.types.isFloat(b.infer.shallow(main))) {
    if (b.lacks(main, "Float", "the result of what is differentiated", span)) return b.error(span);
    b.sink.report(DiagId::GradWantsFloat, span, b.show(callee.result));
    return b.error(span);
  }
  NodeId seed = b.number("1", main, span);
  if (isTuple) {
    // Auxiliary results get none: their sizes may be known only when the function has run.
    std::vector<NodeId> parts{seed};
    for (size_t k = 1; k < b.types[callee.result].parts.size(); ++k) parts.push_back(b.unit(span));
    seed = b.tuple(std::move(parts), span);
  }
  std::vector<TypeId> types{callee.result};
  for (uint32_t w : wrt) types.push_back(types::positionalTangent(b.types, b.typeOf(args[w])));
  NodeId both =
      derivative(DerivativeMode::Reverse, callee, wrt, {seed}, b.types.tuple(std::move(types)), span);
  NodeId all = b.local(b.bind("d", both, nodes), span);
  NodeId slope;
  std::vector<NodeId> slopes;
  for (uint32_t k = 0; k < wrt.size(); ++k)
    slopes.push_back(keyed_(args[wrt[k]], b.tuplePart(all, k + 1, span), span));
  slope = slopes.size() == 1 ? slopes[0] : b.tuple(std::move(slopes), span);
  NodeId value = b.tuplePart(all, 0, span);
  std::vector<NodeId> result;
  if (withValue)
    result = {value, slope};
  else {
    result = {slope};
    for (uint32_t k = 1; isTuple && k < b.types[callee.result].parts.size(); ++k)
      result.push_back(b.tuplePart(value, k, span));
  }
  nodes.push_back(result.size() == 1 ? result[0] : b.tuple(std::move(result), span));
  return b.block(std::move(nodes), span);
}

/// A tangent that is given to `what`, at the type that is asked of it.
NodeId Derivatives::tangentAsked(NodeId tangent, TypeId wanted, std::string_view what, Span span) {
  TypeId type = b.typeOf(tangent);
  UnifyResult match = b.infer.unify(wanted, type);
  if (match.kind == UnifyKind::DimsDiffer)
    b.reportMismatch(match, wanted, type, tangent, b.spanOf(tangent), {what, {}});
  else if (match.kind == UnifyKind::Mismatch)
    b.sink.report(DiagId::ArgumentType, b.spanOf(tangent), what, b.show(wanted), b.show(type));
  if (match.kind > UnifyKind::NeedsCheck) return b.error(span);
  return b.checked(tangent, wanted, std::move(match.checks), span);
}

/// Whole numbers that are still open in a result that a tangent is asked of: floats if nothing else in it has
/// one, else integers, as where nothing settles them.
void Derivatives::settleWhole(TypeId type, Span span) {
  auto asInt = [this](TypeId var) {
    return b.infer.varClass(var) == types::VarClass::OpenInt ? b.types.int64() : var;
  };
  const TypeId whole = b.infer.mapVars(b.infer.zonk(type), asInt);
  const bool areFloats = b.types.isUnit(types::tangentType(b.types, whole));
  for (TypeId var : b.infer.openVars({type}))
    if (b.infer.varClass(var) == types::VarClass::OpenInt)
      b.infer.unify(areFloats ? b.infer.freshVar(types::VarClass::OpenFloat, span) : b.types.int64(), var);
}

NodeId Derivatives::jvpAt(NodeId function, const std::vector<NodeId>& args, const std::vector<uint32_t>& wrt,
                          std::vector<NodeId> tangents, Span span) {
  std::vector<NodeId> nodes;
  for (uint32_t w : wrt)
    if (!differentiable(function, w, args[w])) return b.error(span);
  std::vector<NodeId> bound = bindAll(args, nodes);
  tangents = bindAll(std::move(tangents), nodes);
  Callee callee = prepare(function, bound, nodes, span);
  if (!callee.call) return b.error(span);
  for (size_t k = 0; k < wrt.size(); ++k) {
    TypeId wanted = types::tangentType(b.types, b.typeOf(bound[wrt[k]]));
    tangents[k] = tangentAsked(tangents[k], wanted, "jvp", span);
    if (b.kindOf(tangents[k]) == TypeKind::Error) return tangents[k];
    tangents[k] = placed_(bound[wrt[k]], tangents[k], span);
  }
  settleWhole(callee.result, span);
  callee.result = b.infer.zonk(callee.result);
  TypeId slope = types::positionalTangent(b.types, callee.result);
  NodeId both = derivative(DerivativeMode::Jvp, callee, wrt, std::move(tangents),
                           b.types.tuple({callee.result, slope}), span);
  if (types::holdsDict(b.types, callee.result)) {
    NodeId pair = b.local(b.bind("both", both, nodes), span), y = b.tuplePart(pair, 0, span);
    both = b.tuple({y, keyed_(y, b.tuplePart(pair, 1, span), span)}, span);
  }
  nodes.push_back(both);
  return b.block(std::move(nodes), span);
}

NodeId Derivatives::jvp(NodeId function, NodeId x, NodeId dx, Span span) {
  std::vector<NodeId> nodes;
  std::vector<NodeId> args = spread(function, x, nodes);
  if (args.size() == 1) return jvpAt(function, {x}, {0}, {dx}, span);
  NodeId all = b.local(b.bind("dx", dx, nodes), span);
  if (!isTupleOf(all, args.size(), "jvp")) return b.error(span);
  std::vector<uint32_t> wrt;
  std::vector<NodeId> tangents;
  for (uint32_t k = 0; k < args.size(); ++k) {
    NodeId part = b.tuplePart(all, k, span);
    if (b.types.isUnit(b.typeOf(part)) && !carriesTangent(function, k, args[k])) continue;
    wrt.push_back(k);
    tangents.push_back(part);
  }
  nodes.push_back(jvpAt(function, args, wrt, tangents, span));
  return b.block(std::move(nodes), span);
}

} // namespace melix::check
