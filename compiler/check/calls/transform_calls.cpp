// Calls of `grad`, `vmap` and their like: the template value that comes out.
#include "check/body/attempt.h"
#include "check/calls/named_parameters.h"
#include "check/signatures/declaration_table.h"
#include "types/tangent.h"

namespace melix::check {

using namespace syntax;

std::optional<TransformKind> Body::transformOf(IntrinsicKind kind) {
  switch (kind) {
  case IntrinsicKind::Grad: return TransformKind::Grad;
  case IntrinsicKind::ValueAndGrad: return TransformKind::ValueAndGrad;
  case IntrinsicKind::Jacobian: return TransformKind::Jacobian;
  case IntrinsicKind::Hessian: return TransformKind::Hessian;
  case IntrinsicKind::Hvp: return TransformKind::Hvp;
  case IntrinsicKind::Vmap: return TransformKind::Vmap;
  case IntrinsicKind::Linearize: return TransformKind::Linearize;
  default: return std::nullopt;
  }
}

NodeId Body::callTransform(TransformKind kind, IntrinsicKind intrinsic, const std::vector<CallArg>& args,
                           Span span) {
  if (args.empty()) return wrongCount(intrinsic, "1", 0, span);
  NodeId function = known(checkArg(args[0]), args[0].span);
  if (b.kindOf(function) == TypeKind::Error) return function;
  for (size_t k = 1; k < args.size(); ++k)
    if (!args[k].label) return wrongCount(intrinsic, "1", args.size(), span);
  std::optional<NamedParameters> named = readNamed(*this, intrinsic, args, b.typeOf(function));
  if (!named) return b.error(span);
  return transformed(kind, intrinsicName(intrinsic), std::move(*named), function, span);
}

NodeId Body::transformed(TransformKind kind, std::string_view name, NamedParameters named, NodeId function,
                         Span span) {
  Known value;
  value.kind = KnownKind::Transform;
  value.module = module;
  value.number = static_cast<uint32_t>(kind);
  value.name = std::string(name);
  value.named = std::move(named);
  return templateValue(std::move(value), {function}, span);
}

NodeId Body::gradientOf(NodeId function, std::vector<uint32_t> wrt, Span span) {
  return transformed(TransformKind::Grad, "grad", {std::move(wrt), {}}, function, span);
}

NodeId Body::pullbackValue(PullbackShape shape, NodeId saved, Span span) {
  Known value;
  value.kind = KnownKind::Pullback;
  value.module = module;
  value.name = "pullback";
  value.pullback = std::move(shape);
  return templateValue(std::move(value), {saved}, span);
}

/// The function as a template value: a plain function value becomes one that captures it.
NodeId Body::known(NodeId function, Span span) {
  switch (b.kindOf(function)) {
  case TypeKind::Known:
  case TypeKind::Error: return function;
  case TypeKind::Function: {
    Known value;
    value.kind = KnownKind::Value;
    value.module = module;
    value.name = "function";
    return templateValue(std::move(value), {function}, span);
  }
  default: sink.report(DiagId::NotCallable, span, b.show(b.typeOf(function))); return b.error(span);
  }
}

bool Body::wantsWhole(NodeId function, size_t k) {
  if (b.kindOf(function) != TypeKind::Known) return false;
  const Known& value = c.program_.known(types[b.typeOf(function)].known);
  auto whole = [&](const Signature& signature) {
    return k < signature.params.size() && signature.params[k].isWritten() &&
           types::isIntKind(types.kind(signature.params[k].type));
  };
  if (value.kind == KnownKind::Lambda) return whole(c.signatures.ofLambda(value));
  bool all = value.kind == KnownKind::Overloads;
  for (size_t n = 0; n < value.candidates.size(); ++n) all = all && whole(signatureOf(value, n));
  return all;
}

bool Body::changesParameters(NodeId function) {
  if (b.kindOf(function) != TypeKind::Known) {
    const std::vector<bool>& changed = types[b.typeOf(function)].inout;
    return std::find(changed.begin(), changed.end(), true) != changed.end();
  }
  const Known& value = c.program_.known(types[b.typeOf(function)].known);
  return !value.candidates.empty() &&
         std::all_of(value.candidates.begin(), value.candidates.end(), [&](DeclId decl) {
           const FunctionDecl& fn = c.declarations.function(decl);
           return std::any_of(fn.params.begin(), fn.params.end(),
                              [](const ParamDecl& p) { return p.isInout; });
         });
}

/// The type that is written of parameter `k`, with open sizes; none if it depends on other parameters.
TypeId Body::writtenType(const Signature& signature, const TypeEnv& around, size_t k) {
  if (k >= signature.params.size()) return TypeId::none();
  const SignatureType& written = signature.params[k];
  if (!written.isWritten() || written.isWrong || signature.impliesTypes()) return TypeId::none();
  SignatureUse use(c, signature);
  use.takeOuter(around);
  for (uint32_t size : written.sizes)
    if (!use.sizes[size])
      use.sizes[size] = types.dims.symbol(infer.freshDim("_", signature.sizes[size].span));
  Attempt attempt(*this);
  TypeId asked = use.type(written);
  if (attempt.hasMessages()) return TypeId::none();
  attempt.keep();
  // A size that is computed of others, `n / 2`, does not say these: any is asked for.
  return types.rewrite(asked, [&](TypeId part) {
    types::Type type = types[part];
    if (type.kind != TypeKind::Array && !type.record) return part;
    for (DimId& d : type.dims)
      if (!types.dims.asSymbol(d) && infer.hasInferenceDim(d))
        d = types.dims.symbol(infer.freshDim("_", written.span));
    return type.record ? types.record(type.record, std::move(type.dims))
                       : types.array(type.parts[0], std::move(type.dims));
  });
}

/// The type that a function, or what was made of one, asks of argument `k` of `count`: what is written of the
/// parameter, or the tangent of that. None where nothing says it.
TypeId Body::expectedArgument(TypeId function, size_t k, size_t count) {
  if (types.kind(function) == TypeKind::Function)
    return k < types[function].parts.size() ? types[function].parts[k] : TypeId::none();
  if (types.kind(function) != TypeKind::Known) return TypeId::none();
  const Known& value = c.program_.known(types[function].known);
  switch (value.kind) {
  case KnownKind::Value: return expectedArgument(types[function].parts[0], k, count);
  case KnownKind::Pullback: return derivatives.seedOf(value.pullback, types[function].parts[0]);
  case KnownKind::Lambda: return writtenType(c.signatures.ofLambda(value), value.env, k);
  case KnownKind::Overloads: {
    const Signature* signature = value.candidates.size() == 1 ? &signatureOf(value, 0) : nullptr;
    return signature && !signature->isGeneric ? writtenType(*signature, value.env, k) : TypeId::none();
  }
  case KnownKind::Transform: {
    const TypeId inner = types[function].parts[0];
    const auto transform = static_cast<TransformKind>(value.number);
    const std::vector<uint32_t>& named = value.named.positions;
    if (transform == TransformKind::Vmap) // what is asked of an element asks nothing of the whole
      return named.empty() || std::ranges::count(named, k) > 0 ? TypeId::none()
                                                               : expectedArgument(inner, k, count);
    if (transform != TransformKind::Hvp) return expectedArgument(inner, k, count);
    return k + 1 < count
               ? expectedArgument(inner, k, count - 1)
               : expectedTangent(inner, named.empty() ? std::vector<uint32_t>{0} : named, count - 1);
  }
  default: return TypeId::none();
  }
}

/// The tangent of the parameters `wrt`, a tuple of several.
TypeId Body::expectedTangent(TypeId function, const std::vector<uint32_t>& wrt, size_t count) {
  std::vector<TypeId> parts;
  for (uint32_t w : wrt) {
    TypeId asked = expectedArgument(function, w, count);
    if (!asked) return asked;
    parts.push_back(types::tangentType(types, asked));
  }
  return parts.size() == 1 ? parts[0] : types.tuple(std::move(parts));
}

/// What `jvp` and `vjp` ask of `x`: its parts are the arguments, where it is written as a tuple of them.
TypeId Body::expectedInput(TypeId function, SynId x) {
  std::set<size_t> arities = aritiesOf(function);
  if (arities == std::set<size_t>{1}) return expectedArgument(function, 0, 1);
  if (!x || ast.kind(x) != SynKind::Tuple || !arities.contains(ast[x].as<Many>().items.size()))
    return TypeId::none();
  std::vector<TypeId> parts;
  for (size_t k = 0, n = ast[x].as<Many>().items.size(); k < n; ++k) {
    parts.push_back(expectedArgument(function, k, n));
    if (!parts.back()) return TypeId::none();
  }
  return types.tuple(std::move(parts));
}

/// An argument of a transformed function, at the type that is asked of it.
NodeId Body::transformArg(const CallArg& arg, TypeId asked) {
  NodeId value = checkArg(arg, asked);
  return asked && b.kindOf(value) == TypeKind::List ? coerce(value, asked, arg.span) : value;
}

/// How many arguments a function value may be called with.
std::set<size_t> Body::aritiesOf(TypeId function) {
  if (types.kind(function) == TypeKind::Function) return {types[function].parts.size()};
  if (types.kind(function) != TypeKind::Known) return {1};
  const Known& value = c.program_.known(types[function].known);
  switch (value.kind) {
  case KnownKind::Overloads: {
    std::set<size_t> out;
    for (DeclId decl : value.candidates) {
      const FunctionDecl& fn = c.declarations.function(decl);
      size_t needed = 0;
      for (const ParamDecl& param : fn.params) needed += !param.defaultValue.valid();
      for (size_t n = needed; n <= fn.params.size(); ++n) out.insert(n);
    }
    return out;
  }
  case KnownKind::Lambda: return {(*value.lambda.tree)[value.lambda.node].as<Lambda>().params.size()};
  case KnownKind::Value: return aritiesOf(types[function].parts[0]);
  case KnownKind::Transform: {
    std::set<size_t> inner = aritiesOf(types[function].parts[0]), out;
    for (size_t n : inner) out.insert(n + (static_cast<TransformKind>(value.number) == TransformKind::Hvp));
    return out;
  }
  case KnownKind::Intrinsic: {
    auto kind = static_cast<IntrinsicKind>(value.number);
    if (kind == IntrinsicKind::Max || kind == IntrinsicKind::Min) return {1, 2};
    return {leastArguments(kind)};
  }
  case KnownKind::Constructor: {
    const SynNode& item = c.ast(value.constructor)[c.modules.decl(value.constructor).node];
    return {item.kind == SynKind::Enum ? item.as<EnumItem>().cases[value.number].fields.size()
                                       : item.as<StructItem>().fields.size()};
  }
  case KnownKind::Equality:
  case KnownKind::Moved:
  case KnownKind::Hashed:
  case KnownKind::Keyed:
  case KnownKind::Placed:
  case KnownKind::Dotted: return {2};
  case KnownKind::Scaled: return {size_t(value.literal.empty() ? 2 : 1)};
  case KnownKind::ZeroLike:
  case KnownKind::Pullback: return {1};
  }
  return {1};
}

} // namespace melix::check
