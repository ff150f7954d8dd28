// Calls of what the compiler gives types to: arguments are taken by kind.
#include "check/body/attempt.h"
#include "check/body/dicts.h"
#include "check/body/growing.h"
#include "check/body/iteration.h"
#include "check/calls/nested_reduction.h"
#include "check/derivatives/vmap.h"
#include "check/signatures/suggestions.h"

#include "types/tangent.h"

namespace melix::check {

using namespace syntax;

namespace {

/// How many arguments a call has that is not an array function; none: it says itself.
std::optional<size_t> argumentCountOf(IntrinsicKind kind) {
  switch (kind) {
  case IntrinsicKind::Jvp: return 3;
  case IntrinsicKind::FoldLeaves: return 4;
  case IntrinsicKind::Vjp:
  case IntrinsicKind::Map:
  case IntrinsicKind::Dot: return 2;
  case IntrinsicKind::Str:
  case IntrinsicKind::Panic:
  case IntrinsicKind::Build:
  case IntrinsicKind::Norm:
  case IntrinsicKind::HashOf:
  case IntrinsicKind::Saturate:
  case IntrinsicKind::Wrap: return 1;
  default: return std::nullopt;
  }
}

} // namespace

NodeId Body::callIntrinsic(IntrinsicKind kind, const std::vector<CallArg>& args, const Explicit* explicitArgs,
                           TypeId expected, Span span) {
  std::string_view name = intrinsicName(kind);
  if (infersFromExpected(kind) && explicitArgs && explicitArgs->size() == 1) {
    expected = resolveType((*explicitArgs)[0].value, true);
    if (types.kind(expected) == TypeKind::Error) return b.error(span);
  }
  if (auto transform = transformOf(kind)) return callTransform(*transform, kind, args, span);
  if (auto wanted = argumentCountOf(kind); wanted && *wanted != args.size())
    return wrongCount(kind, std::to_string(*wanted), args.size(), span);
  switch (kind) {
  case IntrinsicKind::Jvp:
  case IntrinsicKind::Vjp: return callAtOnce(kind, args, span);
  case IntrinsicKind::Print:
  case IntrinsicKind::Eprint: return callPrint(kind, args, span);
  case IntrinsicKind::Str: return toStr(checkArg(args[0]), "", span);
  case IntrinsicKind::Panic:
    return b.make(
        NodeKind::Panic, types.never(), span,
        {coerce(checkArg(args[0], types.str()), types.str(), args[0].span, DiagId::ArgumentType, name)});
  case IntrinsicKind::ZeroOf:
    if (expected) return leaves.zero(infer.zonk(expected), span);
    sink.report(DiagId::NothingSettles, span, "the type of `zero()`");
    return b.error(span);
  case IntrinsicKind::Map: {
    NodeId f = checkArg(args[0]), x = checkArg(args[1]);
    auto isFunction = [this](NodeId n) {
      return b.kindOf(n) == TypeKind::Known || b.kindOf(n) == TypeKind::Function;
    };
    const bool turned = isFunction(x) && !isFunction(f); // `xs.map(f)`
    if (turned) std::swap(f, x);
    if (b.kindOf(f) == TypeKind::Error || b.kindOf(x) == TypeKind::Error) return b.error(span);
    TypeKind given = b.kindOf(x);
    if (given != TypeKind::Array && given != TypeKind::List && given != TypeKind::Tuple) {
      sink.report(DiagId::WantsArray, args[turned ? 0 : 1].span, name, b.show(b.typeOf(x))).hint =
          intrinsicHint(kind);
      return b.error(span);
    }
    return vmap(b, *this, f, {x}, {}, expected, span);
  }
  case IntrinsicKind::MapLeaves: return callMapLeaves(args, span);
  case IntrinsicKind::FoldLeaves: return callFoldLeaves(args, expected, span);
  case IntrinsicKind::Build: return callBuild(args, expected, span);
  case IntrinsicKind::Dot:
  case IntrinsicKind::Norm: return callDot(kind, args, span);
  case IntrinsicKind::HashOf: return callHashOf(*this, args[0], span);
  case IntrinsicKind::Saturate:
  case IntrinsicKind::Wrap: return callConversion(kind, args, explicitArgs, span);
  case IntrinsicKind::ListOf:
  case IntrinsicKind::ArrayOf:
  case IntrinsicKind::Push:
  case IntrinsicKind::Pop: return callListIntrinsic(kind, args, expected, span);
  default: break;
  }
  if (isGenerator(args) && ArrayIntrinsics::takesGenerator(kind)) return callReduction(kind, args, span);
  return callArrayFunction(kind, args, expected, span);
}

/// Whether a type is settled enough to say what its tangent is: an open whole number may become one that has
/// none.
bool Body::determinesTangent(TypeId type) {
  if (!determinesType(type)) return false;
  const std::vector<TypeId> open = infer.openVars({type});
  return std::all_of(open.begin(), open.end(),
                     [this](TypeId var) { return infer.varClass(var) == types::VarClass::OpenFloat; });
}

/// `jvp(f, x, dx)` and `vjp(f, x)`, which are applied at once.
NodeId Body::callAtOnce(IntrinsicKind kind, const std::vector<CallArg>& args, Span span) {
  NodeId f = known(checkArg(args[0]), args[0].span);
  std::vector<NodeId> values;
  TypeId asked = b.kindOf(f) == TypeKind::Known ? expectedInput(b.typeOf(f), args[1].syntax) : TypeId::none();
  for (size_t k = 1; k < args.size(); ++k) {
    values.push_back(transformArg(args[k], asked));
    if (!asked && determinesTangent(b.typeOf(values.back()))) asked = infer.zonk(b.typeOf(values.back()));
    if (asked) asked = types::tangentType(types, asked);
  }
  bool failed = b.kindOf(f) == TypeKind::Error;
  for (NodeId value : values) failed |= b.kindOf(value) == TypeKind::Error;
  if (failed) return b.error(span);
  return kind == IntrinsicKind::Jvp ? derivatives.jvp(f, values[0], values[1], span)
                                    : derivatives.vjp(f, values[0], span);
}

NodeId Body::callPrint(IntrinsicKind kind, const std::vector<CallArg>& args, Span span) {
  std::vector<NodeId> parts;
  for (const CallArg& arg : args) {
    NodeId text = toStr(checkArg(arg), "", arg.span);
    if (b.kindOf(text) == TypeKind::Error) return text;
    parts.push_back(text);
  }
  if (builderDepth > 0) sink.report(DiagId::BuilderIo, span);
  doesIo(span);
  return b.make(
      NodeKind::Builtin, types.unit(), span, std::move(parts),
      BuiltinRef{kind == IntrinsicKind::Print ? ops::BuiltinKind::Print : ops::BuiltinKind::Eprint});
}

/// Reports a call with too few or too many arguments.
NodeId Body::wrongCount(IntrinsicKind kind, const std::string& wanted, size_t got, Span span) {
  sink.report(DiagId::ArgumentCount, span, intrinsicName(kind), wanted, std::to_string(got)).hint =
      intrinsicHint(kind);
  return b.error(span);
}

/// What texts the path of a leaf is made of, for a function that takes it before `values`; null for one that
/// takes none.
static TextOf pathText(Body& body, NodeId f, size_t values, Span span) {
  const std::set<size_t> counts = body.arities(f);
  if (counts.contains(values) || !counts.contains(values + 1)) return nullptr;
  return [&body, span](NodeId key) { return body.toStr(key, "", span); };
}

NodeId Body::callMapLeaves(const std::vector<CallArg>& args, Span span) {
  if (args.size() < 2) {
    return wrongCount(IntrinsicKind::MapLeaves, "at least 2", args.size(), span);
  }
  NodeId f = checkArg(args[0]);
  std::vector<NodeId> values;
  for (size_t k = 1; k < args.size(); ++k) {
    values.push_back(checkArg(args[k]));
    if (b.kindOf(values.back()) == TypeKind::Error) return values.back();
  }
  auto call = [&](std::vector<NodeId> leaf, TypeId asked) {
    NodeId made = callFunction(f, std::move(leaf), span);
    return asked ? coerce(made, asked, span) : made;
  };
  return leaves.map({call, pathText(*this, f, values.size(), span)}, values, span);
}

NodeId Body::callFoldLeaves(const std::vector<CallArg>& args, TypeId expected, Span span) {
  NodeId op = checkArg(args[0]), zero = checkArg(args[1], expected), f = checkArg(args[2]),
         value = checkArg(args[3]);
  if (b.kindOf(value) == TypeKind::Error || b.kindOf(op) == TypeKind::Error || b.kindOf(f) == TypeKind::Error)
    return b.error(span);
  auto calling = [&](NodeId function) {
    return [&, function](std::vector<NodeId> given, TypeId) {
      return callFunction(function, std::move(given), span);
    };
  };
  const Combining by{
      calling(op),
      [&](NodeId start, FunctionRef<NodeId(NodeId)> next) { return growing(*this, start, next, span); },
      [&](NodeId made, TypeId type) { return coerce(made, type, span); }};
  return leaves.fold(by, zero, {calling(f), pathText(*this, f, 1, span)}, value, span);
}

NodeId Body::callBuild(const std::vector<CallArg>& args, TypeId expected, Span span) {
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
      [&](std::vector<NodeId> path, TypeId asked) { return callReturning(f, std::move(path), asked, span); },
      infer.zonk(expected), span);
}

/// The root of `square`, which is dot(x, x). Where the squares leave the range of their type they are those
/// of x times a power of two, which rounds nothing; everywhere else it is 1. A branch instead would keep
/// points around it from lanes.
static NodeId normOf(Body& body, NodeId x, NodeId square, Span span) {
  NodeBuilder& b = body.b;
  const TypeId type = b.typeOf(square), shallow = body.infer.shallow(type);
  if (body.infer.isOpen(shallow))
    body.infer.unify(body.infer.freshVar(types::VarClass::OpenFloat, span), shallow);
  else if (!body.types.isFloat(shallow)) {
    body.sink.report(DiagId::WantsFloat, span, intrinsicName(IntrinsicKind::Norm), b.show(type));
    return b.error(span);
  }
  std::vector<NodeId> nodes;
  NodeId decides = b.make(NodeKind::StopGradient, type, span, {square});
  NodeId scales = b.local(b.bind("scales", body.callPrelude("norm_scales", {decides}, span), nodes), span);
  NodeId product = b.scaleTangent(BinaryKind::Mul, x, b.field(scales, 0, span), span);
  NodeId scaled = b.local(b.bind("scaled", product, nodes), span);
  NodeId total = body.leaves.dot(scaled, scaled, span);
  nodes.push_back(body.callPrelude("norm_root", {total, b.field(scales, 1, span)}, span));
  return b.block(std::move(nodes), span);
}

/// `dot(x, y)`, and `norm(x)`, the root of `dot(x, x)`.
NodeId Body::callDot(IntrinsicKind kind, const std::vector<CallArg>& args, Span span) {
  std::vector<NodeId> nodes;
  NodeId left = checkArg(args[0]);
  NodeId x = b.local(b.bind("x", left, nodes), span);
  NodeId right = kind == IntrinsicKind::Dot ? checkArg(args[1], b.typeOf(x)) : x;
  if (b.kindOf(right) == TypeKind::Never) {
    nodes.push_back(right);
    return b.block(std::move(nodes), span);
  }
  NodeId y = b.local(b.bind("y", right, nodes), span);
  if (b.kindOf(x) == TypeKind::Error || b.kindOf(y) == TypeKind::Error) return b.error(span);
  UnifyResult match = infer.unify(b.typeOf(x), b.typeOf(y));
  if (match.kind == UnifyKind::DimsDiffer) b.reportUnequal(match, left, right, span);
  if (match.kind == UnifyKind::Mismatch)
    sink.report(DiagId::ArgumentType, span, intrinsicName(kind), b.show(b.typeOf(x)), b.show(b.typeOf(y)));
  if (match.kind > UnifyKind::NeedsCheck) return b.error(span);
  if (!match.checks.empty())
    nodes.push_back(b.dimChecks(
        b.withMessages(std::move(match.checks), DiagId::ShapeMismatch, b.typeOf(x), b.typeOf(y)), span));
  NodeId total = leaves.dot(x, y, span);
  const bool isRoot = kind == IntrinsicKind::Norm && b.kindOf(total) != TypeKind::Error;
  nodes.push_back(isRoot ? normOf(*this, x, total, span) : total);
  return b.block(std::move(nodes), span);
}

/// `saturate[T](x)` and `wrap[T](x)`.
NodeId Body::callConversion(IntrinsicKind kind, const std::vector<CallArg>& args,
                            const Explicit* explicitArgs, Span span) {
  if (!explicitArgs || explicitArgs->size() != 1) {
    sink.report(DiagId::NothingSettles, span, "the type of `" + std::string(intrinsicName(kind)) + "[T](x)`");
    return b.error(span);
  }
  TypeId to = resolveType((*explicitArgs)[0].value, false);
  NodeId x = checkArg(args[0]);
  if (b.kindOf(x) == TypeKind::Error || types.kind(to) == TypeKind::Error) return b.error(span);
  std::string name = "`" + std::string(intrinsicName(kind)) + "`";
  if (b.lacks(to, "Num", name, span) || b.lacks(b.typeOf(x), "Num", name, span)) return b.error(span);
  if (!b.isNumber(to) || !b.isNumber(types.element(b.typeOf(x)))) {
    sink.report(DiagId::CannotConvert, span, b.show(b.typeOf(x)), b.show(to));
    return b.error(span);
  }
  auto mode = kind == IntrinsicKind::Wrap ? ops::ConvertMode::Wrap : ops::ConvertMode::Saturate;
  return b.elementwise({x}, span, [&](std::vector<NodeId> e) {
    return b.make(NodeKind::Convert, to, span, {e[0]}, ConvertRef{mode, false});
  });
}

/// Sums add field by field: refused for what has an operator of its own, which means something else.
bool Body::refuseOwnSum(IntrinsicKind kind, TypeId summed, Span span) {
  const TypeId whole = infer.zonk(summed);
  const TypeId type = types.kind(whole) == TypeKind::List ? types[whole].parts[0] : types.element(whole);
  const bool isRecord = types.kind(type) == TypeKind::Struct || types.kind(type) == TypeKind::Enum;
  const bool adds =
      kind == IntrinsicKind::Sum || kind == IntrinsicKind::Mean || kind == IntrinsicKind::Cumsum;
  if (!isRecord || !adds) return false;
  Attempt attempt(*this);
  const NodeId any = b.local(b.newLocal("element", type, span), span);
  const CallArg arg{NameId::none(), SynId::none(), any, span};
  const bool isOwn = declaredOperator(types.names.intern("+"), {arg, arg}, span).valid();
  attempt.drop();
  if (isOwn) sink.report(DiagId::OwnSum, span, intrinsicName(kind), b.show(type));
  return isOwn;
}

/// A reduction over a generator.
NodeId Body::callReduction(IntrinsicKind kind, const std::vector<CallArg>& args, Span span) {
  const auto& generator = ast[args[0].syntax].as<Builder>();
  if (isNested(ast, generator)) return reduceNested(*this, kind, generator, span);
  generatorBefore.clear();
  NodeId nest = checkBuilder(generator, span, TypeId::none(), BuilderUse::Terms);
  std::vector<NodeId> before = generatorBefore.exchange({});
  if (b.kindOf(nest) == TypeKind::Error) return nest;
  if (refuseOwnSum(kind, b.typeOf(nest), span)) return b.error(span);
  before.push_back(arrays.reduceGenerator(kind, nest, span));
  return b.block(std::move(before), span);
}

NodeId Body::callArrayFunction(IntrinsicKind kind, const std::vector<CallArg>& args, TypeId expected,
                               Span span) {
  std::string_view name = intrinsicName(kind);
  std::vector<GivenArg> given;
  for (const CallArg& arg : args) {
    NodeId value = unpacked(checkArg(arg), arg.span);
    if (b.kindOf(value) == TypeKind::Error) return value;
    if (b.kindOf(value) == TypeKind::Never) { // the arguments up to it
      std::vector<NodeId> nodes;
      for (const GivenArg& before : given) nodes.push_back(before.node);
      nodes.push_back(value);
      return b.block(std::move(nodes), span);
    }
    given.push_back({value, arg.label ? types.names.text(arg.label) : std::string_view(), arg.span});
  }
  auto positional = static_cast<size_t>(
      std::count_if(given.begin(), given.end(), [](const GivenArg& arg) { return arg.label.empty(); }));
  if (size_t least = leastArguments(kind); positional < least) {
    return wrongCount(kind, std::to_string(least), positional, span);
  }
  if (!given.empty() && refuseOwnSum(kind, b.typeOf(given[0].node), span)) return b.error(span);
  if (kind == IntrinsicKind::Len && given.size() == 1 && isRange(b.typeOf(given[0].node)))
    return callPrelude("range_length", {given[0].node}, span);
  if (kind == IntrinsicKind::Len && given.size() == 1 && types.isDict(b.typeOf(given[0].node)))
    return callPrelude("dict_len", {given[0].node}, span);
  if (kind == IntrinsicKind::Len && given.size() == 1 && types.isSet(b.typeOf(given[0].node)))
    return callPrelude("dict_len", {b.field(given[0].node, 0, span)}, span);
  GivenArgs list(std::move(given));
  TypeId asked = expected ? infer.zonk(expected) : expected;
  if (asked && types.kind(asked) == TypeKind::Pack) asked = openedPack(asked);
  NodeId result = arrays.call(kind, list, asked, span);
  if (!result.valid()) {
    sink.report(DiagId::NoIntrinsicForm, span, name);
    return b.error(span);
  }
  if (const GivenArg* left = list.firstUnused(); left && b.kindOf(result) != TypeKind::Error) {
    if (left->label.empty())
      return wrongCount(kind, std::to_string(positional - list.positionalsLeft()), positional, span);
    const std::string_view habit = argumentHabit(left->label);
    sink.report(DiagId::UnknownArgument, left->span, name, left->label).hint =
        habit.empty() ? intrinsicHint(kind) : habit;
    return b.error(span);
  }
  return result;
}

NodeId Body::callListIntrinsic(IntrinsicKind kind, const std::vector<CallArg>& args, TypeId expected,
                               Span span) {
  std::string_view name = intrinsicName(kind);
  size_t wanted = kind == IntrinsicKind::Push ? 2 : 1;
  if (args.size() != wanted) {
    Messages told(sink);
    NodeId wrong = wrongCount(kind, std::to_string(wanted), args.size(), span);
    if (kind == IntrinsicKind::ListOf && args.empty())
      told.hintLast("an empty List is `[]` where its type is known: `var xs: List[int] = []`");
    return wrong;
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
      Diagnostic& d = sink.report(DiagId::ArgumentKind, args[0].span, name, "a List", b.show(list));
      if (types.kind(list) == TypeKind::Array)
        d.hint = "an array keeps its size, a List grows: `var xs = list([1, 2])`";
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
  const bool isWritten =
      kind == IntrinsicKind::ListOf && args[0].syntax && ast.kind(args[0].syntax) == SynKind::Array;
  NodeId x = elements ? listOfBuilder(*this, ast[args[0].syntax].as<Builder>(), asked, span)
                      : unpacked(checkArg(args[0], isWritten ? asked : TypeId::none()), args[0].span);
  if (kind == IntrinsicKind::ListOf) x = iteratedList(*this, x, span);
  TypeId type = b.typeOf(x);
  if (types.kind(type) == TypeKind::Error) return x;
  if (kind == IntrinsicKind::ListOf) {
    const bool hasPlaces = types.kind(type) == TypeKind::List || types.kind(type) == TypeKind::Array;
    return hasPlaces ? asList(*this, x, span) : listOfIterator(*this, x, span);
  } else if (types.kind(type) == TypeKind::List) {
    return arrayOfList(x, expected, span);
  } else if (types.kind(type) == TypeKind::Array) {
    return x;
  }
  sink.report(DiagId::ArgumentKind, args[0].span, name, "a List", b.show(type));
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
    instance.nodes.edit(node).resultDims = {size};
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
