// Template values: lambdas, function names, transforms; and calls of function values (rules 11, 13, 43).
#include "check/attempt.h"

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
NodeId Body::lambdaAsked(NodeId value, TypeId result) {
  const Node node = instance.nodes[value];
  std::vector<DimSym> sizes;
  types.collectSymbols(result, sizes);
  if (node.kind != NodeKind::Known || !sizes.empty() || infer.hasOpen(result)) return value;
  Known known = c.program_.known(node.as<KnownRef>().known);
  if (known.kind != KnownKind::Lambda || known.asked) return value;
  known.asked = result;
  return templateValue(std::move(known), node.children, node.span);
}

/// A known function as a value of function type: its instance at that type.
NodeId Body::asFunction(NodeId value, TypeId functionType, Span span) {
  const types::Type fn = types[functionType];
  value = lambdaAsked(value, fn.result);
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
    sink.report(DiagId::TypeMismatch, span, b.show(functionType),
                "a function that returns " + b.show(b.typeOf(call)));
    return b.error(span);
  }
  const Node made = instance.nodes[call];
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

NodeId Body::callValue(NodeId function, const std::vector<CallArg>& args, TypeId expected, Span span) {
  TypeId type = b.typeOf(function);
  switch (types.kind(type)) {
  case TypeKind::Error: return function;
  case TypeKind::Known: return callKnown(function, args, expected, span);
  case TypeKind::Function: {
    const types::Type fn = types[type];
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

/// A call of a function by its value; what it captures is in the value.
NodeId Body::callOverloads(NodeId function, const std::vector<CallArg>& args, const Explicit* items,
                           TypeId expected, Span span) {
  const Known known = c.program_.known(types[b.typeOf(function)].known);
  std::vector<NodeId> nodes;
  if (!known.isNested && !known.captureNames.empty() && !isReadable(function))
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
                         : callNamed(c.modules.decl(known.candidates[0]).name, layers, args, items, expected,
                                     span, span));
  given.resize(before);
  return b.block(std::move(nodes), span);
}

/// The type that a transform of one declared function asks of an argument: that of the function's parameter.
/// None where the parameters are not the function's, or their types are not written out.
TypeId Body::askedOf(TypeId function, size_t k) {
  const Known known = c.program_.known(types[function].known);
  auto transform = static_cast<TransformKind>(known.number);
  if (known.kind == KnownKind::Transform && transform != TransformKind::Vmap &&
      transform != TransformKind::Hvp)
    return askedOf(types[function].parts[0], k);
  if (known.kind != KnownKind::Overloads || known.candidates.size() != 1) return TypeId::none();
  const FunctionDecl fn = c.function(known.candidates[0]);
  if (k >= fn.params.size() || !fn.params[k].type || !fn.generics.empty()) return TypeId::none();
  TypeEnv scratch = known.env;
  TypeResolver resolver(c, fn.module, c.ast(fn.decl), scratch);
  resolver.freshDim =
      resolver.bindDim = [&](NameId, Span at) { return types.dims.symbol(infer.freshDim("_", at)); };
  resolver.valueDim = [&](SynId) { return types.dims.symbol(infer.freshDim("_", fn.span)); };
  Attempt attempt(*this);
  TypeId asked = resolver.type(fn.params[k].type);
  if (!attempt.hasMessages()) return asked;
  attempt.drop();
  return TypeId::none();
}

NodeId Body::callKnown(NodeId function, const std::vector<CallArg>& args, TypeId expected, Span span) {
  TypeId type = b.typeOf(function);
  KnownId id = types[type].known;
  const Known known = c.program_.known(id);
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
      TypeId asked = askedOf(type, values.size());
      values.push_back(checkArg(arg, asked));
      if (asked && b.kindOf(values.back()) == TypeKind::List)
        values.back() = coerce(values.back(), asked, arg.span);
      if (b.kindOf(values.back()) == TypeKind::Error) return values.back();
      given.push_back({NameId::none(), SynId::none(), values.back(), arg.span});
    }
    if (wrapTransforms > 0) return callInstanceOf(id, function, values, span);
    NodeId inner = b.make(NodeKind::Get, types[type].parts[0], span, {function},
                          Steps{{Step{StepKind::Field, 0, {}, {}, {}, 1, span}}});
    return applyKnown(known, knownCapture(function, inner), given, expected, span);
  }
  case KnownKind::Equality:
  case KnownKind::Moved: break; // called by callEquality, callMoved only
  case KnownKind::Lambda: {
    const Ast& tree = *known.tree;
    const auto lambda = tree[known.lambda].as<Lambda>();
    if (lambda.params.size() != args.size()) {
      sink.report(DiagId::ValueArguments, span, "this lambda", std::to_string(lambda.params.size()),
                  std::to_string(args.size()));
      return b.error(span);
    }
    std::vector<NodeId> values;
    for (size_t k = 0; k < args.size(); ++k) {
      NodeId value = checkArg(args[k]);
      if (b.kindOf(value) == TypeKind::Error) return value;
      if (SynId annotated = lambda.params[k].type) {
        // Literals take the element type that is written; the shape is compared inside.
        TypeEnv scratch = known.env;
        TypeResolver resolver(c, known.module, tree, scratch);
        resolver.freshDim =
            resolver.bindDim = [&](NameId, Span at) { return types.dims.symbol(infer.freshDim("_", at)); };
        resolver.valueDim = [&](SynId) { return types.dims.symbol(infer.freshDim("_", span)); };
        TypeId want = resolver.type(annotated);
        if (infer.isOpen(types.element(b.typeOf(value))))
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
  default:
    return derivatives.apply(static_cast<TransformKind>(known.number), capture, std::move(values), known.wrt,
                             span);
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
  for (TypeId capture : std::vector<TypeId>(types[b.typeOf(function)].parts)) call.untyped.push_back(capture);
  for (NodeId arg : args) {
    children.push_back(arg);
    call.untyped.push_back(b.typeOf(arg));
  }
  NodeId node = b.make(NodeKind::Call, types.error(), span, std::move(children), std::move(target));
  return finishInferred(std::move(call), node, span);
}

// --- intrinsics
// -----------------------------------------------------------------------------------------------------

NodeId Body::callIntrinsic(IntrinsicKind kind, const std::vector<CallArg>& args, const Explicit* explicitArgs,
                           TypeId expected, Span span) {
  std::string_view name = intrinsicName(kind);
  auto count = [&](size_t wanted) {
    if (args.size() == wanted) return true;
    sink.report(DiagId::ArgumentCount, span, name, std::to_string(wanted), std::to_string(args.size()));
    return false;
  };
  if (auto transform = transformOf(kind)) return callTransform(*transform, name, args, span);
  switch (kind) {
  case IntrinsicKind::Jvp: {
    if (!count(3)) return b.error(span);
    NodeId f = known(checkArg(args[0]), args[0].span), x = checkArg(args[1]), dx = checkArg(args[2]);
    if (b.kindOf(f) == TypeKind::Error || b.kindOf(x) == TypeKind::Error || b.kindOf(dx) == TypeKind::Error)
      return b.error(span);
    return derivatives.jvp(f, x, dx, span);
  }
  case IntrinsicKind::Vjp: {
    if (!count(2)) return b.error(span);
    NodeId f = known(checkArg(args[0]), args[0].span), x = checkArg(args[1]);
    if (b.kindOf(f) == TypeKind::Error || b.kindOf(x) == TypeKind::Error) return b.error(span);
    return derivatives.vjp(f, x, span);
  }
  case IntrinsicKind::Print:
  case IntrinsicKind::Eprint: {
    std::vector<NodeId> parts;
    for (const CallArg& arg : args) {
      NodeId text = toStr(checkArg(arg), "", arg.span);
      if (b.kindOf(text) == TypeKind::Error) return text;
      parts.push_back(text);
    }
    if (builderDepth > 0) sink.report(DiagId::BuilderIo, span);
    instance.doesIo = true;
    return b.make(
        NodeKind::Builtin, types.unit(), span, std::move(parts),
        BuiltinRef{kind == IntrinsicKind::Print ? ops::BuiltinKind::Print : ops::BuiltinKind::Eprint});
  }
  case IntrinsicKind::Str: return count(1) ? toStr(checkArg(args[0]), "", span) : b.error(span);
  case IntrinsicKind::Panic: {
    if (!count(1)) return b.error(span);
    NodeId text =
        coerce(checkArg(args[0], types.str()), types.str(), args[0].span, DiagId::ArgumentType, name);
    return b.make(NodeKind::Panic, types.never(), span, {text});
  }
  case IntrinsicKind::ZeroOf:
    if (!expected) {
      sink.report(DiagId::NothingSettles, span, "the type of `zero()`");
      return b.error(span);
    }
    return leaves.zero(infer.zonk(expected), span);
  case IntrinsicKind::Map: {
    if (!count(2)) return b.error(span);
    NodeId f = checkArg(args[0]), x = checkArg(args[1]);
    if (b.kindOf(x) == TypeKind::List) x = callPrelude("array", {x}, span);
    return derivatives.apply(TransformKind::Vmap, f, {x}, {}, span);
  }
  case IntrinsicKind::MapLeaves: {
    if (args.size() < 2) {
      count(2);
      return b.error(span);
    }
    NodeId f = checkArg(args[0]);
    std::vector<NodeId> values;
    for (size_t k = 1; k < args.size(); ++k) {
      values.push_back(checkArg(args[k]));
      if (b.kindOf(values.back()) == TypeKind::Error) return values.back();
    }
    return leaves.map(
        [&](std::vector<NodeId> leaf, TypeId asked) {
          NodeId made = callFunction(f, std::move(leaf), span);
          return asked ? coerce(made, asked, span) : made;
        },
        values, span);
  }
  case IntrinsicKind::FoldLeaves: {
    if (!count(4)) return b.error(span);
    NodeId op = checkArg(args[0]), zero = checkArg(args[1]), f = checkArg(args[2]), value = checkArg(args[3]);
    if (b.kindOf(value) == TypeKind::Error || b.kindOf(op) == TypeKind::Error ||
        b.kindOf(f) == TypeKind::Error)
      return b.error(span);
    return leaves.fold(
        [&](std::vector<NodeId> pair, TypeId) { return callFunction(op, std::move(pair), span); }, zero,
        [&](std::vector<NodeId> leaf, TypeId) { return callFunction(f, std::move(leaf), span); }, value,
        span);
  }
  case IntrinsicKind::Build: {
    if (!count(1)) return b.error(span);
    if (!expected) {
      sink.report(DiagId::NothingSettles, span, "the type of `build`");
      return b.error(span);
    }
    NodeId f = checkArg(args[0]);
    if (b.kindOf(f) != TypeKind::Known) {
      sink.report(DiagId::NotCallable, args[0].span, b.show(b.typeOf(f)));
      return b.error(span);
    }
    return leaves.build(
        [&](std::vector<NodeId> path, TypeId asked) { return callAsked(f, std::move(path), asked, span); },
        infer.zonk(expected), span);
  }
  case IntrinsicKind::Dot:
  case IntrinsicKind::Norm: {
    if (!count(kind == IntrinsicKind::Dot ? 2 : 1)) return b.error(span);
    std::vector<NodeId> nodes;
    NodeId x = b.local(b.bind("x", checkArg(args[0]), nodes), span);
    NodeId y = kind == IntrinsicKind::Dot ? b.local(b.bind("y", checkArg(args[1]), nodes), span) : x;
    if (b.kindOf(x) == TypeKind::Error || b.kindOf(y) == TypeKind::Error) return b.error(span);
    UnifyResult match = infer.unify(b.typeOf(x), b.typeOf(y));
    if (match.kind > UnifyKind::NeedsCheck) {
      sink.report(DiagId::ArgumentType, span, name, b.show(b.typeOf(x)), b.show(b.typeOf(y)));
      return b.error(span);
    }
    NodeId total = leaves.dot(x, y, span);
    if (kind == IntrinsicKind::Norm && b.kindOf(total) != TypeKind::Error) {
      // sqrt has no slope at 0; norm has slope 0 there (rule 42).
      LocalId square = b.bind("square", total, nodes);
      TypeId type = b.typeOf(total);
      NodeId positive = b.op(OpKind::Cmp, types.boolean(), {b.local(square, span), b.number("0", type, span)},
                             span, static_cast<uint32_t>(ops::CmpKind::Gt));
      NodeId nan = b.op(OpKind::Cmp, types.boolean(), {b.local(square, span), b.local(square, span)}, span,
                        static_cast<uint32_t>(ops::CmpKind::Ne));
      NodeId either = b.op(OpKind::Or, types.boolean(), {positive, nan}, span);
      total = b.make(
          NodeKind::If, type, span,
          {either, b.op(OpKind::Sqrt, type, {b.local(square, span)}, span), b.number("0", type, span)});
    }
    nodes.push_back(total);
    return b.block(std::move(nodes), span);
  }
  case IntrinsicKind::Saturate:
  case IntrinsicKind::Wrap: {
    if (!count(1) || !explicitArgs || explicitArgs->size() != 1) {
      if (args.size() == 1)
        sink.report(DiagId::NothingSettles, span, "the type of `" + std::string(name) + "[T](x)`");
      return b.error(span);
    }
    TypeId to = resolveType((*explicitArgs)[0].value, false);
    NodeId x = checkArg(args[0]);
    if (b.kindOf(x) == TypeKind::Error || types.kind(to) == TypeKind::Error) return b.error(span);
    if (!b.isNumber(to) || !b.isNumber(types.element(b.typeOf(x)))) {
      sink.report(DiagId::CannotConvert, span, b.show(b.typeOf(x)), b.show(to));
      return b.error(span);
    }
    auto mode = kind == IntrinsicKind::Wrap ? ops::ConvertMode::Wrap : ops::ConvertMode::Saturate;
    return b.elementwise({x}, span, [&](std::vector<NodeId> e) {
      return b.make(NodeKind::Convert, to, span, {e[0]}, ConvertRef{mode, false});
    });
  }
  case IntrinsicKind::ListOf:
  case IntrinsicKind::ArrayOf:
  case IntrinsicKind::Push:
  case IntrinsicKind::Pop: return callListIntrinsic(kind, args, expected, span);
  default: break;
  }
  GivenArg given;
  std::vector<GivenArg> checkedArgs;
  if (isGenerator(args) && ArrayIntrinsics::takesGenerator(kind)) {
    generatorBefore.clear();
    NodeId nest = checkBuilder(ast[args[0].syntax].as<Builder>(), span, TypeId::none(), BuilderUse::Terms);
    std::vector<NodeId> before = std::move(generatorBefore);
    generatorBefore.clear();
    if (b.kindOf(nest) == TypeKind::Error) return nest;
    NodeId reduced = arrays.reduceGenerator(kind, nest, span);
    if (before.empty()) return reduced;
    before.push_back(reduced);
    return b.block(std::move(before), span);
  }
  for (const CallArg& arg : args) {
    NodeId value = unpacked(checkArg(arg), arg.span);
    if (b.kindOf(value) == TypeKind::Error) return value;
    checkedArgs.push_back({value, arg.label ? types.names.text(arg.label) : std::string_view(), arg.span});
  }
  size_t least = leastArguments(kind);
  size_t positional = 0;
  for (const GivenArg& arg : checkedArgs) positional += arg.label.empty();
  if (positional < least) {
    sink.report(DiagId::ArgumentCount, span, name, std::to_string(least), std::to_string(positional));
    return b.error(span);
  }
  GivenArgs list(std::move(checkedArgs));
  TypeId asked = expected ? infer.zonk(expected) : expected;
  if (asked && types.kind(asked) == TypeKind::Pack) asked = openedPack(asked);
  NodeId result = arrays.call(kind, list, asked, span);
  if (!result.valid()) {
    sink.report(DiagId::NoIntrinsicForm, span, name);
    return b.error(span);
  }
  if (const GivenArg* left = list.firstUnused(); left && b.kindOf(result) != TypeKind::Error) {
    sink.report(DiagId::UnknownArgument, left->span, name,
                left->label.empty() ? "another positional argument" : left->label);
    return b.error(span);
  }
  return result;
}

NodeId Body::callListIntrinsic(IntrinsicKind kind, const std::vector<CallArg>& args, TypeId expected,
                               Span span) {
  std::string_view name = intrinsicName(kind);
  size_t wanted = kind == IntrinsicKind::Push ? 2 : 1;
  if (args.size() != wanted) {
    sink.report(DiagId::ArgumentCount, span, name, std::to_string(wanted), std::to_string(args.size()));
    return b.error(span);
  }
  if (kind == IntrinsicKind::Push || kind == IntrinsicKind::Pop) {
    SynId target = args[0].syntax;
    if (target && ast.kind(target) == SynKind::Ref) target = ast[target].as<One>().inner;
    Target to;
    if (!target) // a receiver that is no place
      sink.report(DiagId::NotAssignable, args[0].span, c.modules.sources.text(args[0].span));
    if (!target || !checkPlaceTarget(target, to)) return b.error(span);
    TypeId list = infer.zonk(to.place.type);
    if (types.kind(list) != TypeKind::List) {
      sink.report(DiagId::ArgumentType, args[0].span, name, "a List", b.show(list));
      return b.error(span);
    }
    TypeId element = types[list].parts[0];
    if (kind == IntrinsicKind::Pop)
      return finishTarget(to, {}, b.make(NodeKind::Pop, element, span, {}, to.place), span);
    NodeId value = coerce(checkArg(args[1], element), element, args[1].span, DiagId::ArgumentType, name);
    if (b.kindOf(value) == TypeKind::Error) return value;
    return updateTarget(
        std::move(to), value,
        [&](NodeId current, NodeId added) { return b.make(NodeKind::Push, list, span, {current, added}); },
        span);
  }
  bool elements = kind == IntrinsicKind::ListOf && isGenerator(args);
  TypeId asked =
      expected && types.kind(infer.shallow(expected)) == TypeKind::List ? expected : TypeId::none();
  NodeId x = elements ? checkBuilder(ast[args[0].syntax].as<Builder>(), span, asked, BuilderUse::List)
                      : unpacked(checkArg(args[0]), args[0].span);
  TypeId type = b.typeOf(x);
  if (types.kind(type) == TypeKind::Error) return x;
  if (kind == IntrinsicKind::ListOf) {
    if (types.kind(type) == TypeKind::List) return x;
    if (types.kind(type) != TypeKind::Array) return listOfIterator(x, span);
    if (types.kind(type) == TypeKind::Array) {
      std::vector<DimId> rest(types[type].dims.begin() + 1, types[type].dims.end());
      TypeId element = types.array(types.element(type), std::move(rest));
      return b.make(NodeKind::ToList, types.list(element), span, {x});
    }
  } else if (types.kind(type) == TypeKind::List) {
    return arrayOfList(x, expected, span);
  } else if (types.kind(type) == TypeKind::Array) {
    return x;
  }
  sink.report(DiagId::ArgumentType, args[0].span, name, "a List", b.show(type));
  return b.error(span);
}

/// The elements along a first axis. Arrays with sizes of their own stay so, unless a rectangular type is
/// asked for: then all must have the sizes of the first, which are 0 where there is none.
NodeId Body::arrayOfList(NodeId list, TypeId asked, Span span) {
  TypeId element = types[b.typeOf(list)].parts[0];
  TypeId want = asked ? infer.zonk(asked) : TypeId::none();
  bool ragged = types.kind(element) == TypeKind::Pack && types[element].number > 0;
  bool rectangular = ragged && want && types.kind(want) == TypeKind::Array &&
                     types.kind(types.element(want)) != TypeKind::Pack;
  if (!rectangular) {
    DimSym size = types.dims.newSym({"_", types::DimSymKind::Unknown, 0, span});
    NodeId node = b.make(NodeKind::ToArray, types.array(element, {types.dims.symbol(size)}), span, {list});
    instance.nodes[node].resultDims = {size};
    return node;
  }
  std::vector<NodeId> nodes;
  LocalId xs = b.bind("xs", list, nodes);
  LocalId n = b.newLocal("n", types.int64(), span);
  nodes.push_back(b.let(n, b.make(NodeKind::Length, types.int64(), span, {b.local(xs, span)})));
  auto at = [&](NodeId index) {
    Steps steps{{Step{StepKind::Element, 0, index, {}, {}, 1, span}}};
    return unpacked(b.make(NodeKind::Get, element, span, {b.local(xs, span)}, std::move(steps)), span);
  };
  std::vector<DimId> row;
  TypeId first = b.typeOf(at(b.integer(0, span)));
  for (size_t k = 0; k < b.dimsOf(first).size(); ++k) {
    NodeId of = at(b.integer(0, span));
    NodeId some = b.op(OpKind::Cmp, types.boolean(), {b.local(n, span), b.integer(0, span)}, span,
                       static_cast<uint32_t>(ops::CmpKind::Gt));
    NodeId size = b.after(of, b.dimValue(b.dimsOf(b.typeOf(of))[k], span), span);
    NodeId known = b.make(NodeKind::If, types.int64(), span, {some, size, b.integer(0, span)});
    row.push_back(b.dimOf(b.local(b.bind("m", known, nodes), span)));
  }
  nodes.push_back(b.collect({b.dimOf(b.local(n, span))}, span, [&](const std::vector<LocalId>& index) {
    return coerce(at(b.local(index[0], span)), types.array(types.element(first), row), span);
  }));
  return b.block(std::move(nodes), span);
}

bool Body::isGenerator(const std::vector<CallArg>& args) const {
  return args.size() == 1 && args[0].syntax && !args[0].node.valid() &&
         ast.kind(args[0].syntax) == SynKind::Generator;
}

} // namespace melix::check
