// Types asked for: coercion, what is written in annotations.
#include "check/body/attempt.h"
#include "check/body/body_values.h"
#include "check/body/function_values.h"
#include "check/body/key_hint.h"
#include "check/signatures/constants.h"
#include "check/signatures/ended_names.h"
#include "check/signatures/lookup.h"
#include "check/tree/quotients.h"

namespace melix::check {

using namespace syntax;

NodeId Body::coerce(NodeId node, TypeId type, Span span, DiagId id, std::string_view what, Span asker) {
  TypeId actual = b.typeOf(node);
  TypeKind k = types.kind(actual), wantKind = types.kind(infer.shallow(type));
  if (k == TypeKind::Error || k == TypeKind::Never || wantKind == TypeKind::Error) return node;
  if (wantKind == TypeKind::Function && k == TypeKind::Known) return asFunction(node, infer.zonk(type), span);
  if (wantKind == TypeKind::Pack && k != TypeKind::Pack) {
    // A value with sizes of its own, kept beside it.
    TypeId pack = infer.zonk(type);
    std::vector<DimId> dims;
    std::vector<DimSym> symbols;
    for (uint32_t h = 0; h < types[pack].number; ++h) {
      symbols.push_back(infer.freshDim("_", span));
      dims.push_back(types.dims.symbol(symbols.back()));
    }
    TypeId open = types.openPack(pack, dims);
    NodeId inner = coerce(node, open, span, id, what, asker);
    if (b.kindOf(inner) == TypeKind::Error) return inner;
    for (DimId& d : dims) d = infer.zonk(d);
    return b.make(NodeKind::Pack, pack, span, {inner}, Dims{std::move(dims)});
  }
  if (k == TypeKind::Pack && wantKind != TypeKind::Pack && wantKind != TypeKind::Var)
    return coerce(unpacked(node, span), type, span, id, what, asker);
  if (wantKind == TypeKind::Array && k == TypeKind::Array) {
    TypeId wanted = infer.zonk(type);
    bool rows = isRagged(wanted) && !isRagged(actual) && types.rank(actual) > types.rank(wanted);
    bool parts = types.rank(actual) == types.rank(wanted) && !types.keepsSizes(infer.zonk(actual)) &&
                 types.keepsSizes(wanted);
    if (rows || parts) return coerce(rowsOf(node, wanted, span), type, span, id, what, asker);
  }
  if (partsDiffer(type, actual)) return coerceParts(node, infer.zonk(type), span, id, what, asker);
  UnifyResult match = infer.unify(type, actual);
  if (match.kind == UnifyKind::Equal) return node;
  if (match.kind == UnifyKind::NeedsCheck) {
    std::vector<DimCheckItem> checks =
        b.withMessages(std::move(match.checks), DiagId::ShapeExpected, type, actual);
    return b.checked(node, infer.zonk(type), std::move(checks), span);
  }
  if (id != DiagId::PatternType && infer.isOpen(actual) && infer.varClass(actual) != types::VarClass::Any) {
    bool whole = infer.varClass(actual) == types::VarClass::OpenInt;
    if (b.lacks(type, whole ? "Num" : "Float", whole ? "a whole number" : "a fraction", span))
      return b.error(span);
  }
  if (match.kind == UnifyKind::DimsDiffer)
    b.reportMismatch(match, type, actual, node, span, {what, asker});
  else
    reportType(type, node, span, id, what);
  return b.error(span);
}

namespace {

/// How a function of one value is applied to the elements of an array, or to those of the rows that `map`
/// gives it.
std::string eachHint(Body& body, TypeId array, Span span, std::string_view function) {
  const std::string written = body.writtenShort(span);
  const bool isMapped = written.find("map(") != std::string::npos;
  const bool isName = written.find_first_of("([. …") == std::string::npos;
  const size_t rank = body.types.rank(body.infer.zonk(array)) + isMapped;
  const std::string name = isName && !isMapped ? written : rank == 1 ? "xs" : "m", call(function);
  std::string index;
  for (size_t k = 0; k < rank; ++k) index += std::string(k == 0 ? "" : ", ") + static_cast<char>('i' + k);
  return "apply it to every element: " +
         (rank == 1 ? "`[for x in " + name + ": " + call + "(x)]`"
                    : "`[for " + index + ": " + call + "(" + name + "[" + index + "])]`");
}

/// Says of a name that means a function that a block bound it before.
void noteEndedName(Diagnostic& to, Body& body, Span span) {
  const std::string name(body.c.modules.sources.text(span));
  const Span ended = endedBefore(*body.ast.at, body.types.names.intern(name), span);
  if (!ended.valid()) return;
  to.note(ended, "this `" + name + "` ends with its block");
  to.hint = "a name ends with its block: `var " + name + " = …` before the block keeps it";
}

} // namespace

/// A value of another type than is asked for.
void Body::reportType(TypeId type, NodeId given, Span span, DiagId id, std::string_view what) {
  const TypeId actual = b.typeOf(given);
  const std::string expected = b.show(type), got = b.show(actual);
  const bool isArgument = id == DiagId::ArgumentType;
  const bool scalarWanted =
      isArgument && types.isScalar(infer.shallow(type)) && types.kind(actual) == TypeKind::Array;
  std::string hint;
  if (scalarWanted)
    hint = eachHint(*this, actual, span, what);
  else if (isArgument)
    hint = expected == got ? templateHint(*this, type, actual) : conversionHint(type, given, span);
  else if (id != DiagId::PatternType)
    hint = templateHint(*this, type, actual);
  if (hint.empty() &&
      (id == DiagId::TypeMismatch || (!isArgument && id != DiagId::PatternType && isFallible(actual))))
    hint = conversionHint(type, given, span);
  Diagnostic& d = scalarWanted ? sink.report(DiagId::ArrayToScalarFunction, span, what, expected, got)
                  : isArgument ? sink.report(id, span, what, expected, got)
                  : id == DiagId::PatternType ? sink.report(id, span, expected)
                                              : sink.report(id, span, expected, got);
  d.hint = std::move(hint);
  if (isArgument) hintKey(d, *this, what, type);
  if (types.isFloat(infer.zonk(type))) noteQuotient(d, b, given, span);
  if (types.kind(actual) == TypeKind::Known) noteEndedName(d, *this, span);
}

/// An expression as it is written; `…` where that is long.
std::string Body::writtenShort(Span span) {
  constexpr size_t longest = 30;
  std::string text(span.valid() ? c.modules.sources.text(span) : "");
  const bool isLong = text.empty() || text.size() > longest || text.find_first_of("{\n") != std::string::npos;
  return isLong ? "…" : text;
}

std::string Body::writtenOperand(Span span) {
  const std::string text = writtenShort(span);
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

/// The type of what a `Result` or `Option` holds if nothing failed; none for other types.
TypeId Body::successType(TypeId type) {
  if (!isFallible(type)) return TypeId::none();
  const TypeId fallible = infer.zonk(type);
  return types.fieldType(fallible, caseNumber(fallible, isPreludeEnum(fallible, "Result") ? "Ok" : "Some"),
                         0);
}

std::string Body::takesOut(TypeId type) {
  if (!isFallible(type)) return {};
  const bool isOption = isPreludeEnum(type, "Option");
  const TypeId back = returnType ? infer.zonk(returnType) : TypeId::none();
  const bool returnsIt = !back || isPreludeEnum(back, isOption ? "Option" : "Result");
  if (mayReturn && returnsIt) return "`?` takes the value out, or returns what stands in its place";
  return isOption ? "`x.or_else(value)` gives another value instead, `x.or_panic(\"…\")` ends the program"
                  : "`x.or_else(value)` gives another value instead; `match` sees the error";
}

bool Body::isFallible(TypeId type) { return isPreludeEnum(type, "Result") || isPreludeEnum(type, "Option"); }

/// What makes a value of the type that is asked for from the one that is there; nothing if no conversion
/// does.
std::string Body::conversionHint(TypeId want, NodeId value, Span span) {
  const TypeId got = b.typeOf(value);
  auto wouldFit = [this](TypeId asked, TypeId given) {
    if (!asked || !given || infer.isAny(asked) || infer.isAny(given)) return false;
    Attempt attempt(*this);
    return unifyGiven(asked, given).kind <= UnifyKind::NeedsCheck;
  };
  if (wouldFit(want, successType(got))) return takesOut(got);
  const std::string maker = isPreludeEnum(want, "Result") ? "`Ok(" : "`Some(";
  if (wouldFit(successType(want), got))
    return types.isUnit(got) ? maker + ")` behind it is one" : maker + writtenShort(span) + ")` is one";
  TypeId to = infer.zonk(types.element(infer.zonk(want))), from = infer.zonk(types.element(infer.zonk(got)));
  const TypeKind wanted = types.kind(infer.shallow(want)), given = types.kind(infer.shallow(got));
  if (wanted == TypeKind::Array && given == TypeKind::List)
    return "`array(" + writtenOperand(span) + ")` is the array of its elements";
  if (wanted == TypeKind::List && given == TypeKind::Array)
    return "`list(" + writtenOperand(span) + ")` is the List of its elements";
  if (wanted == TypeKind::Array && given == TypeKind::Array)
    if (std::string axis = b.axisHint(infer.zonk(want), infer.zonk(got), writtenOperand(span)); !axis.empty())
      return axis;
  bool differ = types.isNumber(to) && types.isNumber(from) && to != from;
  if (!differ || types.rank(infer.zonk(want)) != types.rank(infer.zonk(got))) return {};
  const std::string divided = types.isFloat(to) ? quotientHint(b, value, to) : "";
  if (!divided.empty()) return divided;
  return "`" + writtenOperand(span) + " as " + b.show(to) + "` converts it";
}

/// Whether parts of a tuple become what is asked for one by one: those that keep their sizes beside them are
/// not those asked for, or a template stands where a function type is.
bool Body::partsDiffer(TypeId want, TypeId got) {
  const types::Type &wanted = types[infer.shallow(want)], &given = types[infer.shallow(got)];
  if (wanted.kind == TypeKind::Var || given.kind == TypeKind::Var) return false;
  if ((wanted.kind == TypeKind::Pack) != (given.kind == TypeKind::Pack)) return true;
  bool tuples = wanted.kind == TypeKind::Tuple && given.kind == TypeKind::Tuple;
  if (!tuples || wanted.parts.size() != given.parts.size()) return false;
  for (size_t k = 0; k < given.parts.size(); ++k) {
    const TypeId asked = infer.zonk(wanted.parts[k]), part = infer.zonk(given.parts[k]);
    if (types.kind(asked) == TypeKind::Function && types.kind(part) == TypeKind::Known) return true;
    const bool arrays = types.kind(asked) == TypeKind::Array && types.kind(part) == TypeKind::Array;
    if (arrays ? types.keepsSizes(asked) != types.keepsSizes(part) : partsDiffer(asked, part)) return true;
  }
  return false;
}

/// A tuple with each part as it is asked for.
NodeId Body::coerceParts(NodeId node, TypeId tuple, Span span, DiagId id, std::string_view what, Span asker) {
  const std::vector<TypeId>& wanted = types[tuple].parts;
  std::vector<NodeId> nodes, parts;
  LocalId whole = b.bind("parts", node, nodes);
  for (uint32_t k = 0; k < wanted.size(); ++k) {
    parts.push_back(coerce(b.tuplePart(b.local(whole, span), k, span), wanted[k], span, id, what, asker));
    if (b.kindOf(parts.back()) == TypeKind::Error) return parts.back();
  }
  nodes.push_back(b.tuple(std::move(parts), span));
  return b.block(std::move(nodes), span);
}

/// Whether an array's elements have sizes of their own.
bool Body::isRagged(TypeId array) { return types.kind(types.element(infer.zonk(array))) == TypeKind::Pack; }

/// The rows of an array as the elements of one whose elements hide other sizes; an error if they do not fit.
NodeId Body::rowsOf(NodeId node, TypeId ragged, Span span) {
  std::vector<NodeId> nodes;
  LocalId rows = b.bind("rows", node, nodes);
  std::vector<DimId> leading = b.dimsOf(b.typeOf(node));
  leading.resize(types.rank(ragged));
  bool failed = false;
  nodes.push_back(b.collect(leading, span, [&](const std::vector<LocalId>& at) {
    NodeId row = coerce(b.at(b.local(rows, span), at, span), types.element(ragged), span);
    failed |= b.kindOf(row) == TypeKind::Error;
    return row;
  }));
  return failed ? b.error(span) : b.block(std::move(nodes), span);
}

/// A packed value with its hidden sizes named.
NodeId Body::unpacked(NodeId node, Span span) {
  TypeId pack = b.typeOf(node);
  if (types.kind(pack) != TypeKind::Pack) return node;
  std::vector<DimSym> fresh;
  std::vector<DimId> dims;
  for (uint32_t k = 0; k < types[pack].number; ++k) {
    fresh.push_back(types.dims.newSym({"_", types::DimSymKind::Unknown, 0, span}));
    dims.push_back(types.dims.symbol(fresh.back()));
  }
  NodeId made = b.make(NodeKind::Unpack, types.openPack(pack, dims), span, {node});
  instance.nodes.edit(made).resultDims = fresh;
  return made;
}

TypeId Body::resolveType(SynId node, bool binds, bool keepsSizes) {
  BodyValues values(*this);
  TypeSurroundings around{.values = &values};
  if (binds) around.newSizes = types::DimSymKind::Inference;
  TypeResolver resolver(c, module, ast, env.edit(), around);
  return keepsSizes ? resolver.nested(node) : resolver.type(node);
}

TypeId BodyValues::typeOf(NameId name) {
  LocalId l = body_.lookup(name);
  return l ? body_.infer.zonk(body_.instance.locals[l].type) : TypeId::none();
}

std::string BodyValues::whyNoSize(NameId name) {
  LocalId local = body_.lookupAny(name);
  if (!local) return "";
  const std::string text(body_.types.names.text(name)), shown = "`" + text + "`";
  if (body_.instance.locals[local].isVar)
    return shown + " is a `var`; `let n = " + text + "` names the value it has";
  return shown + " is `" + body_.b.show(body_.instance.locals[local].type) + "`, and a dimension is an `int`";
}

DimId BodyValues::sizeOf(SynId node) {
  Attempt attempt(body_);
  NodeId value = body_.checkExpr(node);
  if (!attempt.hasMessages())
    if (DimId size = body_.b.dimOf(value)) {
      attempt.keep();
      return size;
    }
  attempt.drop();
  const syntax::Ast& ast = body_.ast;
  bool hidden = ast.kind(node) == SynKind::Name && body_.lookupAny(ast[node].as<Name>().name);
  DeclId constant = hidden ? DeclId::none() : constDecl(body_.c, body_.module, ast, node);
  return constant ? body_.c.constants.constantSize(constant).dim : DimId::none();
}

} // namespace melix::check
