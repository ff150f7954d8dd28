// Template values: lambdas, function names, transforms; and calls of function values (rules 11, 13, 43).
#include "check/body/attempt.h"
#include "check/body/dict_tangents.h"
#include "check/body/dicts.h"
#include "check/calls/named_parameters.h"
#include "check/derivatives/vmap.h"
#include "check/instances/instances.h"
#include "check/signatures/constants.h"

namespace melix::check {

using namespace syntax;

NodeId Body::templateValue(Known known, std::vector<NodeId> captures, Span span) {
  std::vector<TypeId> parts;
  for (NodeId capture : captures) parts.push_back(b.typeOf(capture));
  KnownId id = c.program_.addKnown(std::move(known));
  return b.make(NodeKind::Known, types.known(id, std::move(parts)), span, std::move(captures), KnownRef{id});
}

/// Whether reading a value twice does the same as once: a variable, a part of one, a function by its name.
bool Body::isReadable(NodeId node) {
  const Node& n = instance.nodes[node];
  if (n.kind != NodeKind::Get) return n.kind == NodeKind::Known || n.kind == NodeKind::Local;
  const std::vector<Step>& steps = n.as<Steps>().steps;
  bool fields =
      std::all_of(steps.begin(), steps.end(), [](const Step& s) { return s.kind == StepKind::Field; });
  return fields && isReadable(n.children[0]);
}

/// A lambda as written, with the type asked of its result: its body takes that, as a function's does.
NodeId Body::lambdaReturning(NodeId value, TypeId result) {
  const Node& node = instance.nodes[value];
  std::vector<DimSym> sizes;
  types.collectSymbols(result, sizes);
  if (node.kind != NodeKind::Known || !sizes.empty() || infer.hasOpen(result)) return value;
  Known known = c.program_.known(node.as<KnownRef>().known);
  if (known.kind != KnownKind::Lambda || known.asked) return value;
  known.asked = result;
  return templateValue(std::move(known), node.children, node.span);
}

/// The types of the parameters of a function that is no template: it is one function, and says the type of
/// each of them without a size or type of its own. None else.
std::optional<std::vector<TypeId>> Body::monomorphicParameters(const Known& known) {
  const bool isLambda = known.kind == KnownKind::Lambda;
  if (!isLambda && (known.kind != KnownKind::Overloads || known.candidates.size() != 1)) return std::nullopt;
  const Signature& signature = isLambda ? c.signatures.ofLambda(known) : signatureOf(known, 0);
  if (signature.isGeneric || signature.impliesTypes()) return std::nullopt;
  SignatureUse use(c, signature);
  use.takeOuter(known.env);
  auto isTold = [&](uint32_t k) {
    const SizeVariable& v = signature.sizes[k];
    const ModuleId home = isLambda ? known.module : c.modules.decl(known.candidates[0]).module;
    if (!use.sizes[k] && v.source == VariableSource::Value && v.name)
      use.sizes[k] = c.constants.constantDim(home, v.name);
    return use.sizes[k].valid();
  };
  Attempt attempt(*this); // a size that only the call knows is told there
  std::vector<TypeId> told;
  for (size_t p = 0; p < signature.params.size(); ++p) {
    const SignatureType& param = signature.params[p];
    if (!param.isWritten() || param.isInout || param.isWrong || !std::ranges::all_of(param.sizes, isTold))
      return std::nullopt;
    told.push_back(use.type(param));
  }
  const bool isOpen = attempt.hasErrors();
  attempt.drop();
  return isOpen ? std::nullopt : std::optional(std::move(told));
}

/// The signature of a candidate of a function value.
const Signature& Body::signatureOf(const Known& known, size_t candidate) {
  return c.signatures.of(known.candidates[candidate], known.nesting.isNested ? &known.env : nullptr);
}

/// Whether an argument may be a function that needs nothing asked of it to say what its parameters are.
bool Body::mayBeFunction(const CallArg& arg) {
  if (arg.node.valid()) return true;
  const SynKind kind = ast.kind(arg.syntax);
  return kind == SynKind::Lambda || kind == SynKind::Name || kind == SynKind::Member;
}

/// What a function that is no template says of the parameters of the type asked for.
void Body::unifyMonomorphic(NodeId function, TypeId asked) {
  const TypeId type = b.typeOf(function);
  std::optional<std::vector<TypeId>> told;
  if (types.kind(type) == TypeKind::Function) told = types[type].parts;
  if (types.kind(type) == TypeKind::Known) told = monomorphicParameters(c.program_.known(types[type].known));
  const std::vector<TypeId>& wanted = types[infer.zonk(asked)].parts;
  for (size_t k = 0; told && k < wanted.size() && k < told->size(); ++k) infer.unify(wanted[k], (*told)[k]);
}

/// A function that is no template as a value of function type, which its result completes; none else.
NodeId Body::monomorphicFunction(NodeId value) {
  auto told = monomorphicParameters(c.program_.known(types[b.typeOf(value)].known));
  if (!told) return NodeId::none();
  std::vector<NodeId> args;
  for (TypeId param : *told) args.push_back(b.op(OpKind::Undef, param, {}, b.spanOf(value)));
  TypeId result = b.typeOf(callFunction(value, args, b.spanOf(value)));
  if (types.kind(result) == TypeKind::Error) return b.error(b.spanOf(value));
  for (TypeId var : infer.openVars({infer.zonk(result)}))
    infer.unify(infer.varClass(var) == types::VarClass::OpenInt ? types.int64() : types.scalar(TypeKind::F32),
                var);
  std::vector<bool> inout(told->size(), false);
  return asFunction(value, types.function(std::move(*told), std::move(inout), infer.zonk(result)),
                    b.spanOf(value));
}

/// A known function as a value of function type: its instance at that type.
NodeId Body::asFunction(NodeId value, TypeId functionType, Span span) {
  const types::Type& fn = types[functionType];
  value = lambdaReturning(value, fn.result);
  // The instance is asked for like a call with arguments of the parameters' types.
  std::vector<NodeId> args;
  for (TypeId param : fn.parts) args.push_back(b.op(OpKind::Undef, param, {}, span));
  NodeId call = callFunction(value, args, span);
  if (b.kindOf(call) == TypeKind::Error) return call;
  if (instance.nodes[call].kind != NodeKind::Call) {
    sink.report(DiagId::NoFunctionValue, span);
    return b.error(span);
  }
  UnifyResult match = infer.unify(fn.result, b.typeOf(call));
  if (match.kind > UnifyKind::NeedsCheck) {
    sink.report(DiagId::FunctionResult, span, b.show(functionType), b.show(b.typeOf(call)));
    return b.error(span);
  }
  const Node& made = instance.nodes[call];
  std::vector<DimSym> sizes;
  types.collectSymbols(infer.zonk(fn.result), sizes);
  for (DimSym own : made.resultDims)
    if (std::find(sizes.begin(), sizes.end(), own) != sizes.end()) { // no caller of the value would know it
      sink.report(DiagId::NoFunctionValue, span).hint =
          "the size of its result is its own: take the function as an untyped parameter, or give a List";
      return b.error(span);
    }
  if (made.as<CallTarget>().known) value = made.children[0]; // the one chosen of a set
  if (auto captures = static_cast<ptrdiff_t>(made.as<CallTarget>().captures);
      captures > 0) { // those of the one chosen
    Known chosen;
    chosen.module = module;
    value = templateValue(std::move(chosen), {made.children.begin(), made.children.begin() + captures}, span);
  }
  NodeId node = b.make(NodeKind::ToClosure, functionType, span, {value}, made.as<CallTarget>());
  followTarget(node, call);
  return node;
}

NodeId Body::callFunction(NodeId function, std::vector<NodeId> args, Span span) {
  std::vector<CallArg> given;
  for (NodeId arg : args) given.push_back({NameId::none(), SynId::none(), arg, b.spanOf(arg)});
  ++wrapTransforms; // a transform that is itself transformed needs an instance
  NodeId result = callValue(function, given, TypeId::none(), span);
  --wrapTransforms;
  return result;
}

void Body::followTarget(NodeId derivative, NodeId call) { follows.push_back({derivative, call}); }

/// Whether the parameters of a template value are declared, so that the call of the declaration reads labels.
static bool hasDeclaration(KnownKind kind) {
  return kind == KnownKind::Overloads || kind == KnownKind::Intrinsic || kind == KnownKind::Constructor;
}

static bool hasLabel(const std::vector<CallArg>& args) {
  return std::ranges::any_of(args, [](const CallArg& arg) { return arg.label.valid(); });
}

NodeId Body::callValue(NodeId function, const std::vector<CallArg>& args, TypeId expected, Span span) {
  TypeId type = b.typeOf(function);
  switch (types.kind(type)) {
  case TypeKind::Error: return function;
  case TypeKind::Known: return callKnown(function, args, expected, span);
  case TypeKind::Function: {
    const types::Type& fn = types[type];
    if (hasLabel(args)) return callByNames(*this, function, args, expected, span);
    if (fn.parts.size() != args.size()) {
      sink.report(DiagId::ValueArguments, span, "this function", std::to_string(fn.parts.size()),
                  std::to_string(args.size()));
      return b.error(span);
    }
    std::vector<NodeId> children{function};
    for (size_t k = 0; k < args.size(); ++k) {
      NodeId value = coerce(checkArg(args[k], fn.parts[k]), fn.parts[k], args[k].span, DiagId::ArgumentType,
                            "this function");
      if (b.kindOf(value) == TypeKind::Error) return value;
      children.push_back(value);
    }
    return b.make(NodeKind::Apply, fn.result, span, std::move(children));
  }
  default: sink.report(DiagId::NotCallable, b.spanOf(function), b.show(type)); return b.error(span);
  }
}

NodeId Body::intrinsicValue(IntrinsicKind kind, Span span) {
  Known known;
  known.kind = KnownKind::Intrinsic;
  known.module = module;
  known.name = std::string(intrinsicName(kind));
  known.number = static_cast<uint32_t>(kind);
  return templateValue(std::move(known), {}, span);
}

/// The intrinsic that is meant where none of the functions of its name takes the arguments (rule 8).
std::optional<IntrinsicKind> Body::intrinsicMeant(const Known& known, const std::vector<CallArg>& args) {
  auto intrinsic = findIntrinsic(types.names.text(c.modules.decl(known.candidates[0]).name));
  if (!intrinsic || known.nesting.isNested) return std::nullopt;
  std::vector<int> score;
  for (DeclId decl : known.candidates)
    if (applicable(decl, args, score)) return std::nullopt;
  return intrinsic;
}

/// A call of a function by its value; what it captures is in the value.
NodeId Body::callOverloads(NodeId function, const std::vector<CallArg>& written, const Explicit* items,
                           TypeId expected, Span span) {
  const Known& known = c.program_.known(types[b.typeOf(function)].known);
  const NameId name = c.modules.decl(known.candidates[0]).name;
  std::vector<CallArg> args = written;
  if (!known.nesting.isNested && findIntrinsic(types.names.text(name))) // the arguments say which is meant
    for (CallArg& arg : args) {
      if (arg.node.valid() || ast.kind(arg.syntax) == SynKind::Ref) continue;
      arg.node = checkArg(arg);
      if (b.kindOf(arg.node) == TypeKind::Error) return arg.node;
    }
  if (auto intrinsic = intrinsicMeant(known, args))
    return callKnown(intrinsicValue(*intrinsic, span), args, expected, span);
  std::vector<NodeId> nodes;
  if (!known.nesting.isNested && !known.captures.names.empty() && !isReadable(function))
    function = b.local(b.bind("f", function, nodes), span);
  size_t before = given.size();
  giveCaptures(known, function);
  std::vector<std::vector<DeclId>> layers;
  for (DeclId decl : known.candidates) { // the layers, told apart by their modules
    if (layers.empty() || c.modules.decl(layers.back()[0]).module != c.modules.decl(decl).module)
      layers.emplace_back();
    layers.back().push_back(decl);
  }
  bool single = known.candidates.size() == 1;
  nodes.push_back(single ? callDecl(known.candidates[0], args, items, expected, span)
                         : callNamed(name, layers, args, items, expected, span, span));
  given.resize(before);
  return b.block(std::move(nodes), span);
}

NodeId Body::callKnown(NodeId function, const std::vector<CallArg>& args, TypeId expected, Span span) {
  TypeId type = b.typeOf(function);
  KnownId id = types[type].known;
  const Known& known = c.program_.known(id);
  if (!hasDeclaration(known.kind) && hasLabel(args))
    return callByNames(*this, function, args, expected, span);
  switch (known.kind) {
  case KnownKind::Overloads: return callOverloads(function, args, nullptr, expected, span);
  case KnownKind::Intrinsic:
  case KnownKind::Constructor:
    if (wrapTransforms == 0) return applyKnown(known, NodeId::none(), args, expected, span);
    [[fallthrough]];
  case KnownKind::Transform:
  case KnownKind::Pullback:
  case KnownKind::Value: {
    std::vector<NodeId> values;
    std::vector<CallArg> given;
    for (const CallArg& arg : args) {
      TypeId asked = expectedArgument(type, values.size(), args.size());
      values.push_back(transformArg(arg, asked));
      if (b.kindOf(values.back()) == TypeKind::Error) return values.back();
      given.push_back({NameId::none(), SynId::none(), values.back(), arg.span});
    }
    if (wrapTransforms > 0) return callInstanceOf(id, function, values, span);
    NodeId inner = b.make(NodeKind::Get, types[type].parts[0], span, {function},
                          Steps{{Step{StepKind::Field, 0, {}, {}, {}, 1, span}}});
    return applyKnown(known, knownCapture(function, inner), given, expected, span);
  }
  case KnownKind::Equality:
  case KnownKind::Moved:
  case KnownKind::Scaled:
  case KnownKind::Hashed:
  case KnownKind::Keyed:
  case KnownKind::Placed:
  case KnownKind::ZeroLike:
  case KnownKind::Dotted: break; // called by callOwn only
  case KnownKind::Lambda: {
    const Ast& tree = *known.lambda.tree;
    const auto& lambda = tree[known.lambda.node].as<Lambda>();
    if (lambda.params.size() != args.size()) {
      sink.report(DiagId::ValueArguments, span, "this lambda", std::to_string(lambda.params.size()),
                  std::to_string(args.size()));
      return b.error(span);
    }
    std::vector<NodeId> values;
    for (size_t k = 0; k < args.size(); ++k) {
      NodeId value = checkArg(args[k]);
      if (b.kindOf(value) == TypeKind::Error) return value;
      if (lambda.params[k].type) {
        // Literals take the element type that is written; the shape is compared inside.
        TypeId want = writtenType(c.signatures.ofLambda(known), known.env, k);
        if (want && infer.isOpen(types.element(b.typeOf(value))))
          infer.unify(types.element(want), types.element(b.typeOf(value)));
      }
      values.push_back(value);
    }
    return callInstanceOf(id, function, values, span);
  }
  }
  return b.error(span);
}

/// What a call of a template value that has no declaration means; `capture` is its only one, if any.
NodeId Body::applyKnown(const Known& known, NodeId capture, const std::vector<CallArg>& args, TypeId expected,
                        Span span) {
  std::vector<NodeId> values;
  for (const CallArg& arg : args) values.push_back(arg.node);
  switch (known.kind) {
  case KnownKind::Intrinsic:
    return callIntrinsic(static_cast<IntrinsicKind>(known.number), args, nullptr, expected, span);
  case KnownKind::Constructor:
    return construct(known.constructor, known.number, args, nullptr, expected, span);
  case KnownKind::Pullback:
    if (args.size() == 1) return derivatives.pull(known.pullback, capture, values[0], span);
    sink.report(DiagId::ValueArguments, span, "this pullback", "1", std::to_string(args.size()));
    return b.error(span);
  case KnownKind::Value: return callValue(capture, args, expected, span);
  case KnownKind::Equality: return equalityBody(values[0], values[1], span);
  case KnownKind::Moved: return movedBody(values[0], values[1], span);
  case KnownKind::Scaled: return scaledBody(known, values, span);
  case KnownKind::Dotted: return dottedBody(values[0], values[1], span);
  case KnownKind::Hashed: return hashedBody(*this, values[0], values[1], span);
  case KnownKind::Keyed: return keyedBody(*this, values[0], values[1], span);
  case KnownKind::Placed: return placedBody(*this, values[0], values[1], span);
  case KnownKind::ZeroLike: return zeroLikeBody(*this, values[0], span);
  default:
    if (static_cast<TransformKind>(known.number) == TransformKind::Vmap)
      return vmap(b, *this, capture, std::move(values), known.named, expected, span);
    return derivatives.apply(static_cast<TransformKind>(known.number), capture, std::move(values),
                             known.named.positions, span);
  }
}

/// Part 0 of a transform's captures: the function it transforms.
NodeId Body::knownCapture(NodeId function, NodeId fallback) {
  const Node& node = instance.nodes[function];
  if (node.kind == NodeKind::Known && !node.children.empty()) return node.children[0];
  return fallback;
}

/// A call of the instance of a lambda or transform; its captures are the leading parameters.
NodeId Body::callInstanceOf(KnownId id, NodeId function, const std::vector<NodeId>& args, Span span) {
  PendingCall call;
  call.known = id;
  CallTarget target;
  target.known = true;
  std::vector<NodeId> children{function};
  for (TypeId capture : types[b.typeOf(function)].parts) call.untyped.push_back(capture);
  for (NodeId arg : args) {
    children.push_back(arg);
    call.untyped.push_back(b.typeOf(arg));
  }
  NodeId node = b.make(NodeKind::Call, types.error(), span, std::move(children), std::move(target));
  return finishInferred(std::move(call), node, span);
}

/// A call of a template that the compiler itself makes; with a `place`, one whose panics tell it.
NodeId Body::callOwn(Known known, Span place, const std::vector<NodeId>& args, Span span) {
  known.module = module;
  KnownId id = c.instances.ownTemplate(std::move(known), place);
  NodeId function = b.make(NodeKind::Known, types.known(id, {}), span, {}, KnownRef{id});
  return callInstanceOf(id, function, args, span);
}

} // namespace melix::check
