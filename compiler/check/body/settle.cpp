// The end of a body: open numbers get their types, calls their instances, and no inference variable stays in
// the tree.
#include "check/body/body.h"
#include "check/body/dict_tangents.h"
#include "check/body/growing.h"
#include "check/body/unzip_tuples.h"
#include "check/instances/instances.h"
#include "check/instances/programs.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/generic_bodies.h"
#include "check/signatures/lookup.h"
#include "check/tree/formats.h"
#include "check/tree/literal_digits.h"
#include "check/tree/literal_sign.h"
#include "check/tree/quotients.h"
#include "check/tree/typed_walk.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace melix::check {

using types::DimSymKind;

Body::Body(Checker& checker, InstanceId instanceId, ModuleId moduleId, const syntax::Ast& tree)
    : c(checker), id(instanceId), module(moduleId), ast{&tree},
      instance(checker.program_.instance(instanceId)), types(checker.types), sink(checker.sink),
      infer(checker.types, trail,
            [&checker](TypeId record, std::vector<TypeId> args) {
              return checker.declarations.reinstantiate(record, std::move(args));
            }),
      b(checker.types, checker.sink, instance, trail, infer, *this), arrays(b), leaves(b),
      derivatives(
          b, *this, [this](NodeId x, NodeId t, Span at) { return keyedTangent(*this, x, t, at); },
          [this](NodeId x, NodeId t, Span at) { return placedTangent(*this, x, t, at); },
          [this](NodeId x, Span at) { return zeroLike(*this, x, at); }),
      messages(checker.sink) {
  instance.recordOn(&trail);
}

Body::~Body() { instance.recordOn(nullptr); }

namespace {

uint64_t floatBits(double value, TypeKind kind) {
  if (kind == TypeKind::F64) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  auto narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return bits;
}

/// What is written as a number of that kind: digits or the name of a constant.
double floatNumber(const std::string& text, TypeKind kind) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "pi") return kind == TypeKind::F64 ? 3.14159265358979323846 : double(3.14159265358979323846f);
  return kind == TypeKind::F64 ? std::strtod(text.c_str(), nullptr)
                               : double(std::strtof(text.c_str(), nullptr));
}

/// Whether another number of the same array literal was refused: only numbers and commas are between them.
bool followsNarrow(const Messages& told, const SourceStore& sources, Span span) {
  if (!told.any() || told.last()->id != DiagId::NoNarrowFloats) return false;
  const Span before = told.last()->span;
  if (before.file != span.file || before.end > span.begin) return false;
  std::string_view between = sources.text(Span{span.file, before.end, span.begin});
  return between.find_first_not_of("0123456789.,-+_eE[] \n") == std::string_view::npos;
}

bool isSignedLiteral(const Node& node) {
  auto* op = std::get_if<OpRef>(&node.payload);
  return op && op->kind == OpKind::Neg && op->index == signOfLiteral;
}

/// Makes a whole literal and its sign one constant: no negation, which could overflow, is left.
void joinSign(const Instance& instance, const TypeStore& types, Node& node) {
  node.as<OpRef>().index = 0;
  const Node& literal = instance.nodes[node.children[0]];
  if (literal.kind != NodeKind::Const || !types::isIntKind(types.kind(node.type))) return;
  Const number = literal.as<Const>();
  number.bits = uint64_t(0) - number.bits;
  node.kind = NodeKind::Const;
  node.payload = std::move(number);
  node.children.clear();
}

/// What a check says when it fails, with the sizes as they are written.
std::string inWords(const DimCheckItem& item, const types::DimStore& dims) {
  std::vector<DimId> sizes{item.left, item.right};
  sizes.insert(sizes.end(), item.shown.begin(), item.shown.end());
  std::string out;
  for (size_t at = 0; at < item.text.size(); ++at) {
    const size_t end = item.text[at] == '{' ? item.text.find('}', at) : std::string::npos;
    size_t k = 0;
    if (end == std::string::npos ||
        std::from_chars(&item.text[at] + 1, &item.text[end], k).ptr != &item.text[end] || k >= sizes.size()) {
      out += item.text[at];
      continue;
    }
    out += dims.show(sizes[k]);
    at = end;
  }
  return out;
}

} // namespace

/// The bits of a number literal at its settled type.
void Body::settleLiteral(Node& node, bool negated) {
  Const& value = node.as<Const>();
  TypeKind kind = types.kind(node.type);
  if (value.text.empty() || kind == TypeKind::Str || kind == TypeKind::Error || kind == TypeKind::Param)
    return;
  std::string text(value.text);
  value.text.clear();
  bool negative = text.starts_with('-');
  std::string digits = negative ? text.substr(1) : text;
  if (types::isFloatKind(kind)) {
    const double number = floatNumber(digits, kind);
    value.bits = floatBits(number, kind);
    if (std::isinf(number) && digits != "inf")
      sink.report(DiagId::LiteralRange, node.span, digits, types.show(node.type));
    else if (kind != TypeKind::F64 && kind != TypeKind::F32 &&
             !followsNarrow(messages, c.modules.sources, node.span))
      sink.report(DiagId::NoNarrowFloats, node.span, types.show(node.type));
    return;
  }
  if (types::scalarClass(kind) == types::ScalarClass::Complex) {
    sink.report(DiagId::NoNumberType, node.span, types.show(node.type));
    return;
  }
  uint64_t bits = 0;
  bool fits = Checker::literalFits(digits, bits);
  if (types::isIntKind(kind)) {
    unsigned width = types::scalarBits(kind);
    bool isSigned = types::scalarClass(kind) == types::ScalarClass::SInt;
    // Under a minus sign the least signed number fits too, and nothing but 0 fits an unsigned type.
    uint64_t half = uint64_t(1) << (width - 1);
    uint64_t most = !isSigned && negated ? 0 : isSigned ? half - !negated : half - 1 + half;
    if (!fits || bits > most)
      sink.report(DiagId::LiteralRange, node.span, (negated ? "-" : "") + digits, types.show(node.type));
  }
  value.bits = bits;
}

/// Sizes that are found now to differ in every run are an error. Under `--strict-shapes` what only the run
/// can compare is one too, in the program, not in the library.
void Body::refuseChecks(const DimChecks& checks, Span span) {
  for (const DimCheckItem& item : checks.items)
    if (item.isOpen && infer.areDifferent(item.left, item.right, item.equal)) {
      Diagnostic& d = sink.report(DiagId::SizesDiffer, span, inWords(item, types.dims));
      if (!types.dims.asConstant(item.left) || !types.dims.asConstant(item.right))
        d.hint = "a size that is only known to be equal at run time is checked by `x as T[…]`";
      b.noteNames(d, item.left);
      b.noteNames(d, item.right);
      return;
    }
  if (!c.strictShapes || !span.valid() || c.modules.isLibraryFile(span.file)) return;
  for (const DimCheckItem& item : checks.items) {
    if (item.left == item.right) continue;
    Diagnostic& d =
        sink.report(DiagId::ShapeAtRun, span, types.dims.show(item.left), types.dims.show(item.right));
    b.noteNames(d, item.left);
    b.noteNames(d, item.right);
    return;
  }
}

/// An operation that is not for what its open operands became: `|` of floats, `fma` of integers.
void Body::reportMisapplied(const OpRef& op, TypeId type, Span span) {
  std::string_view text;
  bool wantsFloat = false;
  switch (op.kind) {
  case OpKind::IDiv:
    if (op.index != staysWhole) return; // `/` of literals that became floats
    text = "div";
    break;
  case OpKind::And: text = "&"; break;
  case OpKind::Or: text = "|"; break;
  case OpKind::Shl: text = "<<"; break;
  case OpKind::Shr: text = ">>"; break;
  case OpKind::Math: text = ops::mathName(static_cast<ops::MathKind>(op.index)), wantsFloat = true; break;
  case OpKind::Fma:
  case OpKind::Sqrt:
  case OpKind::CopySign: text = ops::opText(op.kind), wantsFloat = true; break;
  case OpKind::Scale: text = "ldexp", wantsFloat = true; break;
  default: return;
  }
  std::string name = "`" + std::string(text) + "`";
  if (b.lacks(type, wantsFloat ? "Float" : "Int", name, span)) return;
  if (types.isFloat(type) == wantsFloat || types.kind(type) == TypeKind::Error) return;
  Diagnostic& d = sink.report(DiagId::OperatorTypes, span, name, types.show(type), types.show(type));
  if (op.kind == OpKind::Math && static_cast<ops::MathKind>(op.index) == ops::MathKind::Pow)
    d.hint = "powers of integers are written `a ^ b`";
}

void Body::settle() {
  std::vector<Span> unsolved;
  const std::vector<OpenFloat> wide = isProvisional ? std::vector<OpenFloat>() : wideLiterals(*this);
  infer.settle(unsolved);
  for (DimSym s : returned->sizes) // nothing of that size is returned there
    if (infer.hasInferenceDim(types.dims.symbol(s))) infer.solve(s, types.dims.constant(0));
  // An error leaves types open that it would have settled.
  if (!unsolved.empty() && !holdsError() && !messages.anyErrors())
    for (Span span : unsolved)
      sink.report(DiagId::NothingSettles, span, "a type here").hint =
          "write the whole type beside it: `let x: Option[int] = None`, `fn f() -> Result[int] = Ok(1)`";
  settleCalls();
  settleInside();
  if (!isProvisional) warnQuotients(*this);
  settleNodes();
  warnLostDigits(*this, wide);
  for (uint32_t k = 0; k < instance.locals.size(); ++k) {
    Local& local = instance.locals.edit(LocalId(k));
    local.type = infer.zonk(local.type);
  }
  reportEscapingSizes();
  settleQuotients();
  for (auto [pattern, value] : literalPatterns)
    instance.patterns.edit(pattern).value = patternConstant(value);
  for (uint32_t k = 0; k < instance.patterns.size(); ++k) {
    Pattern& p = instance.patterns.edit(PatternId(k));
    p.type = p.type ? infer.zonk(p.type) : types.error();
  }
  instance.failed |= messages.anyErrors() || holdsError();
}

namespace {

/// `type` with the sizes `found` kept beside each value in it that has some.
TypeId keeping(TypeStore& types, TypeId type, const std::vector<DimSym>& found) {
  types::Type made = types[type];
  if (!made.dims.empty()) {
    std::vector<DimSym> own;
    types.collectSymbols(type, own);
    std::erase_if(own, [&](DimSym s) { return std::find(found.begin(), found.end(), s) == found.end(); });
    return types.pack(type, own);
  }
  for (TypeId& part : made.parts) part = keeping(types, part, found);
  return types.intern(std::move(made));
}

} // namespace

void Body::reportEscapingSizes() {
  for (const OpenLocal& open : openLocals) {
    const Local& local = instance.locals[open.local];
    std::vector<DimSym> found;
    types.collectSymbols(local.type, found);
    std::erase_if(found, [&](DimSym s) {
      return s.index < open.firstSymbol || types.dims.info(s).kind != types::DimSymKind::Unknown;
    });
    if (found.empty()) continue;
    sink.report(DiagId::SizeFoundBelow, local.span, types.names.text(local.name), b.show(local.type),
                b.show(keeping(types, local.type, found)));
  }
}

void Body::settleCalls() {
  for (size_t k = 0; k < pending.size(); ++k) // finishing a call adds none here
    finishCall(pending.edit(k));
  for (auto [node, call] : follows) {
    const CallTarget& target = instance.nodes[call].as<CallTarget>();
    if (instance.nodes[node].kind == NodeKind::Derivative) {
      DerivativeRef& ref = instance.nodes.edit(node).as<DerivativeRef>();
      ref.target = target;
      if (ref.saved) c.program_.savedBy[ref.saved] = target.instance;
    } else
      instance.nodes.edit(node).payload = target;
  }
}

/// Functions inside of this one are checked with what they capture, called or not, and so are lambdas that
/// say the types of their parameters. Nothing is said of what captures an error.
void Body::settleInside() {
  if (isProvisional) return;
  for (NodeId function : inside) {
    const types::Type& type = types[b.typeOf(function)];
    const KnownId id = infer.templateOf(type.known);
    if (std::any_of(type.parts.begin(), type.parts.end(), [&](TypeId t) { return holdsUnresolved(t); }))
      continue;
    if (c.program_.known(id).kind == KnownKind::Lambda) {
      settleLambda(id, type.parts);
      continue;
    }
    DeclId decl = c.program_.known(id).candidates[0];
    bool fits = c.generics.satisfiesBounds(decl, id, type.parts);
    if (InstanceId made = fits ? instantiateDefinition(c, decl, id, type.parts) : InstanceId::none())
      fits = !c.program_.instance(made).failed;
    instance.failed |= !fits;
  }
}

bool Body::holdsUnresolved(TypeId type) {
  bool found = false;
  types.rewrite(type, [&](TypeId part) {
    found |= types.kind(part) == TypeKind::Error || types.kind(part) == TypeKind::Var;
    return part;
  });
  return found;
}

/// A lambda that nothing has called, at the types that are written; their sizes are any.
void Body::settleLambda(KnownId id, std::vector<TypeId> args) {
  const Known& known = c.program_.known(id);
  const Signature& signature = c.signatures.ofLambda(known);
  const std::vector<SignatureType>& params = signature.params;
  if (c.instances.isCalled(known) || !std::ranges::all_of(params, &SignatureType::isWritten)) return;
  if (std::ranges::any_of(params, &SignatureType::isWrong)) return c.signatures.reportLambda(known);
  auto size = [this](Span at) {
    return types.dims.symbol(types.dims.newSym({"_", DimSymKind::Unknown, 0, at}));
  };
  SignatureUse use(c, signature);
  use.takeOuter(known.env);
  for (size_t k = 0; k < use.sizes.size(); ++k)
    if (!use.sizes[k]) use.sizes[k] = size(signature.sizes[k].span);
  const Messages ofTypes(sink);
  for (const SignatureType& p : params) {
    types::Type written = types[use.type(p)];
    for (DimId& d : written.dims)
      if (!types.dims.asConstant(d)) d = size(p.span);
    args.push_back(types.intern(std::move(written)));
  }
  if (ofTypes.anyErrors()) return;
  InstanceKey key;
  key.known = id;
  key.typeArgs = c.instances.canonical(args).types;
  instance.failed |= c.program_.instance(c.instances.instantiate(std::move(key), Span())).failed;
}

void Body::settleNodes() {
  const Messages ofNodes(sink);
  std::set<NodeId> negated; // literals with a minus sign
  for (const Node& node : instance.nodes)
    if (isSignedLiteral(node)) negated.insert(node.children[0]);
  for (uint32_t k = 0; k < instance.nodes.size(); ++k) {
    Node& node = instance.nodes.edit(NodeId(k));
    node.type = node.type ? infer.zonk(node.type) : types.error();
    instance.failed |= isTooLarge(types, sink, node.type, node.span);
    if (node.kind == NodeKind::Const)
      settleLiteral(node, negated.contains(NodeId(k)));
    else
      settlePayload(node);
    if (isSignedLiteral(node)) joinSign(instance, types, node);
    if (node.kind != NodeKind::Error && infer.hasInferenceDim(node.type) && !ofNodes.anyErrors() &&
        !instance.failed) {
      // Left over only where nothing uses the value, or where a size was never given.
      instance.failed = true;
      sink.report(DiagId::NothingSettles, node.span, "a size of `" + types.show(node.type) + "`");
    }
  }
}

/// Types and sizes that a node holds beside its own, and what its payload says of settled types.
void Body::settlePayload(Node& node) {
  struct Settled : NodeParts<Node> {
    Inference& infer;
    explicit Settled(Inference& inference) : infer(inference) {}
    void size(DimId& d) override { d = infer.zonk(d); }
    void type(TypeId& t) override { t = infer.zonk(t); }
  } settled(infer);
  tellParts(node, settled);
  if (auto* checks = std::get_if<DimChecks>(&node.payload)) {
    if (!checks->written) refuseChecks(*checks, node.span);
  } else if (auto* derivative = std::get_if<DerivativeRef>(&node.payload)) {
    derivative->saved = infer.recordOf(derivative->saved);
  } else if (auto* format = std::get_if<FormatSpec>(&node.payload)) {
    TypeId printed = infer.zonk(b.typeOf(node.children[0]));
    if (!formatFits(types, printed, format->spec))
      sink.report(DiagId::FormatType, node.span, format->spec, types.show(printed));
  } else if (auto* op = std::get_if<OpRef>(&node.payload)) {
    reportMisapplied(*op, node.type, node.span);
    if (op->kind == OpKind::IRem && types.isFloat(node.type))
      *op = {OpKind::Math, static_cast<uint32_t>(ops::MathKind::Rem)};
    if (op->kind == OpKind::IDiv) *op = {types.isFloat(node.type) ? OpKind::Div : OpKind::IDiv, 0};
  }
}

/// Rule 15: quotients of arrays of literals that nothing made floats.
void Body::settleQuotients() {
  for (auto [quotient, left, right] : b.arrayQuotients)
    if (types.isInt(instance.nodes[quotient].type))
      sink.report(DiagId::IntegerArrayDivision, instance.nodes[quotient].span, b.show(infer.zonk(left)),
                  b.show(infer.zonk(right)));
}

/// The number of a literal pattern, from the node that settled it.
Const Body::patternConstant(NodeId value) const {
  bool negative = instance.nodes[value].kind == NodeKind::Op;
  NodeId literal = negative ? instance.nodes[value].children[0] : value;
  Const constant = instance.nodes[literal].as<Const>();
  if (!negative) return constant;
  TypeKind kind = types.kind(instance.nodes[literal].type);
  constant.bits = kind == TypeKind::F64   ? constant.bits ^ (uint64_t(1) << 63)
                  : kind == TypeKind::F32 ? constant.bits ^ (uint64_t(1) << 31)
                                          : uint64_t(0) - constant.bits;
  return constant;
}

/// Whether an Error node is part of the body.
bool Body::holdsError() {
  auto isError = [this](NodeId n) { return n.valid() && instance.nodes[n].kind == NodeKind::Error; };
  bool found = isError(instance.body);
  for (const Node& node : instance.nodes) forEachChild(node, [&](NodeId child) { found |= isError(child); });
  return found;
}

/// Not beside errors: what they left unchecked may use the name.
void Body::warnUnused() {
  if (instance.failed) return;
  std::set<Span> repeated; // which of these is meant is not known
  for (const Diagnostic& d : sink.all()) {
    if (d.id != DiagId::RepeatedName) continue;
    repeated.insert(d.span);
    for (const DiagNote& note : d.notes) repeated.insert(note.span);
  }
  for (LocalId l : declared) {
    const Local& local = instance.locals[l];
    if (!used.contains(l) && !repeated.contains(local.span) && !types.names.text(local.name).starts_with("_"))
      sink.report(DiagId::UnusedName, local.span, types.names.text(local.name));
  }
}

// --- library calls
// --------------------------------------------------------------------------------------------------

NodeId Body::callPrelude(std::string_view name, std::vector<NodeId> args, Span span) {
  NameId id = types.names.intern(name);
  std::vector<CallArg> given;
  for (NodeId arg : args) given.push_back({NameId::none(), SynId::none(), arg, span});
  std::vector<DeclId> layer = functionsIn(c, c.modules.prelude(), id, true);
  if (layer.empty()) {
    if (auto intrinsic = findIntrinsic(name))
      return callIntrinsic(*intrinsic, given, nullptr, TypeId::none(), span);
    sink.report(DiagId::UnknownName, span, name);
    return b.error(span);
  }
  if (auto chosen = choose(id, layer, given, span, false))
    return callDecl(*chosen, given, nullptr, TypeId::none(), span);
  if (auto intrinsic = findIntrinsic(name))
    return callIntrinsic(*intrinsic, given, nullptr, TypeId::none(), span);
  std::string shown;
  for (NodeId arg : args) shown += (shown.empty() ? "" : ", ") + b.show(b.typeOf(arg));
  sink.report(DiagId::NoOverload, span, name, shown);
  return b.error(span);
}

/// A function of builtins.def, or one that only the checker can type. `sizes` of the `declared` result come
/// into scope with it; parts of it that hide sizes are packed here.
NodeId Body::callBuiltin(const FunctionDecl& fn, const std::vector<NodeId>& args, TypeId declared,
                         std::vector<DimSym> sizes, TypeId expected, Span span) {
  if (fn.builtin == "unzip") return unzipped(*this, args[0], span);
  if (fn.builtin == "growing")
    return growing(
        *this, args[0], [&](NodeId before) { return callFunction(args[1], {before}, span); }, span);
  struct Row {
    std::string_view name;
    ops::BuiltinKind kind;
    bool io;
    std::string_view results;
  };
  static constexpr auto isIo = [](std::string_view effects) { return effects == "Io"; };
  static constexpr Row rows[] = {
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose)                                       \
  {Name, ops::BuiltinKind::Kind, isIo(#Effects), #Results},
#include "ops/builtins.def"
  };
  const Row* row = nullptr;
  for (const Row& candidate : rows)
    if (candidate.name == fn.builtin) row = &candidate;
  if (!row) {
    sink.report(DiagId::NoBuiltin, c.modules.decl(fn.decl).span, fn.builtin);
    return b.error(span);
  }
  if (row->io) doesIo(span);
  if (row->io && builderDepth > 0) sink.report(DiagId::BuilderIo, span);
  auto freshSize = [&](Span at) {
    sizes.push_back(types.dims.newSym({"_", DimSymKind::Unknown, 0, at}));
    return types.dims.symbol(sizes.back());
  };
  if (expected) infer.unify(declared, expected);
  declared = infer.zonk(declared);
  auto opened = [&](TypeId t) {
    if (types.kind(t) != TypeKind::Pack) return t;
    std::vector<DimId> dims;
    for (uint32_t k = 0; k < types[t].number; ++k) dims.push_back(freshSize(span));
    return types.openPack(t, dims);
  };
  if (row->kind == ops::BuiltinKind::Exit) { // does not return
    NodeId leave = b.make(NodeKind::Builtin, declared, span, args, BuiltinRef{row->kind});
    return b.block({leave, b.make(NodeKind::Panic, types.never(), span, {b.string("exit", span)})}, span);
  }
  if (types.kind(declared) != TypeKind::Tuple || types.isUnit(declared)) {
    NodeId node = b.make(NodeKind::Builtin, opened(declared), span, args, BuiltinRef{row->kind});
    instance.nodes.edit(node).resultDims = sizes;
    return b.typeOf(node) == declared ? node : coerce(node, declared, span);
  }
  const std::vector<TypeId>& parts = types[declared].parts;
  if (size_t at = row->results.find("Asked"); at != std::string_view::npos) {
    auto before = row->results.substr(0, at);
    TypeId asked = parts[static_cast<size_t>(std::count(before.begin(), before.end(), ','))];
    TypeId inner = types.kind(asked) == TypeKind::Pack ? types[asked].parts[0] : asked;
    if (types.kind(inner) != TypeKind::Array && !types.isScalar(inner) &&
        types.kind(inner) != TypeKind::Error)
      sink.report(DiagId::WantsArray, span, fn.builtin, types.print(asked));
  }
  std::vector<TypeId> open;
  for (TypeId part : parts) open.push_back(opened(part));
  NodeId node = b.make(NodeKind::Builtin, types.tuple(open), span, args, BuiltinRef{row->kind});
  instance.nodes.edit(node).resultDims = sizes;
  return coerce(node, declared, span);
}

/// Calls a lambda whose result type is asked for (rule 41's `build`): its body is checked here, with that
/// type expected.
NodeId Body::callReturning(NodeId function, std::vector<NodeId> args, TypeId asked, Span span) {
  const Known& known = c.program_.known(types[b.typeOf(function)].known);
  if (known.kind != KnownKind::Lambda || known.lambda.tree != ast.at) {
    std::vector<CallArg> given;
    for (NodeId arg : args) given.push_back({NameId::none(), SynId::none(), arg, span});
    return coerce(callKnown(function, given, asked, span), asked, span);
  }
  const auto& lambda = ast[known.lambda.node].as<syntax::Lambda>();
  if (lambda.params.size() != args.size()) {
    sink.report(DiagId::ValueArguments, span, "this lambda", std::to_string(lambda.params.size()),
                std::to_string(args.size()));
    return b.error(span);
  }
  size_t mark = scope.size();
  std::vector<NodeId> nodes;
  for (size_t k = 0; k < args.size(); ++k) {
    LocalId l = b.newLocal(types.names.text(lambda.params[k].name), b.typeOf(args[k]), span);
    nodes.push_back(b.let(l, args[k]));
    scope.add({lambda.params[k].name, l});
  }
  NodeId value = coerce(checkExpr(lambda.body, asked), asked, span);
  scope.leave(mark);
  nodes.push_back(value);
  return b.block(std::move(nodes), span);
}

} // namespace melix::check
