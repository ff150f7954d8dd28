// Values at other types: `as`, `?`, ranges as values.
#include "check/body/asked_through.h"
#include "check/body/attempt.h"
#include "check/body/iteration.h"
#include "check/body/tries.h"
#include "check/instances/instances.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/lookup.h"
#include "check/tree/protocols.h"
#include "check/tree/text_hint.h"

namespace melix::check {

using namespace syntax;

static bool isNegation(const Ast& ast, SynId node) {
  return ast.kind(node) == SynKind::Unary && ast[node].as<Unary>().op == UnaryOp::Neg;
}

NodeId Body::checkAs(const Two& as, Span span) {
  if (ast.kind(as.second) == SynKind::AxisNames) {
    sink.report(DiagId::NoNamedAxes, ast.span(as.second));
    return b.error(span);
  }
  TypeId type = resolveType(as.second, true);
  if (types.kind(type) == TypeKind::Error) return b.error(span);
  SynId inner = as.first;
  while (ast.kind(inner) == SynKind::Paren) inner = ast[inner].as<One>().inner;
  // A literal, or a call whose result its arguments do not settle, takes the type asked of it.
  bool literal = isNumberLiteral(inner);
  NodeId value;
  switch (ast.kind(inner)) {
  case SynKind::Call: value = callNeedsType(inner) ? asOperand(as.first, type) : checkExpr(as.first); break;
  case SynKind::Array:
  case SynKind::Builder: value = asOperand(as.first, type); break;
  case SynKind::Name: // `zero` alone is the zero of the type asked for
    value = nameNeedsType(ast[inner].as<Name>().name) ? asOperand(as.first, type) : checkExpr(as.first);
    break;
  default: value = checkExpr(as.first);
  }
  if (b.kindOf(value) == TypeKind::Error || b.kindOf(value) == TypeKind::Never) return value;
  if (literal && infer.unify(type, b.typeOf(value)).kind == UnifyKind::Equal) return value;
  TypeId element = types.element(b.typeOf(value)); // numbers in brackets are rounded once, to the type
  while (ast.kind(inner) == SynKind::Paren || isNegation(ast, inner))
    inner = ast.kind(inner) == SynKind::Paren ? ast[inner].as<One>().inner : ast[inner].as<Unary>().operand;
  if (ast.kind(inner) == SynKind::Array && types.isFloat(type) && infer.isOpen(element))
    infer.unify(type, element);
  return convertTo(value, type, span);
}

/// An operand that takes the type asked of it, if it can. One that could not is not asked again: else
/// operands inside of operands would be checked a power of their depth.
NodeId Body::asOperand(SynId operand, TypeId type) {
  if (unaskedOperands.contains({ast.at, operand})) return checkExpr(operand);
  Attempt asked(*this);
  NodeId value = checkExpr(operand, type);
  if (!asked.hasMessages() && infer.unify(type, b.typeOf(value)).kind != UnifyKind::Mismatch) {
    asked.keep();
    return value;
  }
  const bool failed = asked.hasErrors();
  const std::vector<Diagnostic> told(asked.messages().all().begin(), asked.messages().all().end());
  asked.drop();
  unaskedOperands.insert({ast.at, operand});
  Attempt unasked(*this);
  value = checkExpr(operand);
  if (!failed || !unasked.hasErrors()) {
    unasked.keep();
    return value;
  }
  unasked.drop(); // what is wrong with the type asked for says more
  for (const Diagnostic& d : told) sink.repeat(d);
  return b.error(ast.span(operand));
}

/// A number as written, with a sign or not, or one of the names for numbers.
bool Body::isNumberLiteral(SynId node) {
  while (ast.kind(node) == SynKind::Paren) node = ast[node].as<One>().inner;
  if (isNegation(ast, node)) return isNumberLiteral(ast[node].as<Unary>().operand);
  if (ast.kind(node) == SynKind::Name) {
    NameId name = ast[node].as<Name>().name;
    std::string_view text = types.names.text(name);
    return (text == "inf" || text == "nan" || text == "pi") && !lookupAny(name);
  }
  return ast.kind(node) == SynKind::IntLit || ast.kind(node) == SynKind::FloatLit;
}

bool Body::nameNeedsType(NameId name) {
  return findIntrinsic(types.names.text(name)) == IntrinsicKind::ZeroOf && !lookupAny(name) &&
         functionLayers(c, module, name).empty();
}

/// Whether a call's result has a parameter that its arguments do not settle.
bool Body::callNeedsType(SynId node) {
  const auto& call = ast[node].as<Call>();
  SynId callee = call.callee;
  if (ast.kind(callee) != SynKind::Name && ast.kind(callee) != SynKind::Member) return false;
  NameId name =
      ast.kind(callee) == SynKind::Name ? ast[callee].as<Name>().name : ast[callee].as<Member>().name;
  if (lookupAny(name)) return false;
  std::vector<std::vector<DeclId>> layers = functionLayers(c, module, name);
  if (ast.kind(callee) == SynKind::Member && ast.kind(ast[callee].as<Member>().base) == SynKind::Name)
    if (ModuleId used = c.modules.prefix(module, ast[ast[callee].as<Member>().base].as<Name>().name))
      layers = {functionsIn(c, used, name, true)};
  for (const auto& layer : layers)
    for (DeclId decl : layer)
      if (c.signatures.of(decl).resultDecides) return true;
  std::optional<IntrinsicKind> intrinsic = findIntrinsic(types.names.text(name));
  return layers.empty() && intrinsic && infersFromExpected(*intrinsic);
}

/// An array, struct or enum at the sizes of `to`, which has the form of its type: they are compared when the
/// program runs where they may differ, and an error where they do.
static NodeId atSizesOf(NodeBuilder& b, NodeId value, TypeId to, Span span) {
  const TypeId from = b.typeOf(value);
  std::vector<DimCheckItem> checks;
  const std::vector<DimId> want = b.types[to].dims, have = b.types[from].dims;
  for (uint32_t k = 0; k < want.size(); ++k) {
    if (b.infer.zonk(want[k]) == b.infer.zonk(have[k]) ||
        b.infer.unifyDim(want[k], have[k]) == UnifyKind::Equal)
      continue;
    const DimId x = b.infer.zonk(want[k]), y = b.infer.zonk(have[k]);
    if (b.types.dims.asConstant(x) && b.types.dims.asConstant(y)) {
      b.reportMismatch({UnifyKind::DimsDiffer, {}, want[k], have[k], want[k], k}, to, from, value, span);
      return b.error(span);
    }
    checks.push_back({x, y, "", {}, k});
  }
  to = b.infer.zonk(to);
  const TypeId sized =
      b.kindOf(value) == TypeKind::Array ? b.types.array(b.types.element(from), b.dimsOf(to)) : to;
  checks = b.withMessages(std::move(checks), DiagId::ShapeExpected, to, from);
  return b.checked(value, sized, std::move(checks), span, true);
}

NodeId Body::convertTo(NodeId value, TypeId type, Span span) {
  TypeId from = b.typeOf(value), to = infer.zonk(type);
  auto fail = [&] {
    if (b.lacks(to, "Num", "`as`", span) || b.lacks(from, "Num", "`as`", span)) return b.error(span);
    Diagnostic& d = sink.report(DiagId::CannotConvert, span, b.show(from), b.show(to));
    const std::string written = writtenOperand(b.spanOf(value));
    if (types.kind(from) == TypeKind::Str && types.isNumber(to))
      d.hint = readingHint(written, types.kind(to));
    if (types.kind(to) == TypeKind::Str)
      d.hint = "`str(" + writtenShort(b.spanOf(value)) + ")` is a value as a string";
    return b.error(span);
  };
  TypeId element = types.element(to), fromElement = infer.shallow(types.element(from));
  if (types.kind(from) == TypeKind::Pack) return convertTo(unpacked(value, span), type, span);
  bool numbers =
      b.isNumber(element) && (b.isNumber(fromElement) || types.kind(fromElement) == TypeKind::Bool ||
                              types.kind(fromElement) == TypeKind::Char);
  const bool openInt = infer.isOpen(fromElement) && infer.varClass(fromElement) == types::VarClass::OpenInt;
  bool chars = types.kind(element) == TypeKind::Char && (openInt || types.isInt(fromElement));
  if (chars && openInt) infer.unify(types.int64(), fromElement);
  if (types.kind(to) == TypeKind::Array) {
    if (types.kind(from) != TypeKind::Array || types.rank(from) != types.rank(to)) return fail();
    value = atSizesOf(b, value, to, span);
    if (b.kindOf(value) == TypeKind::Error) return value;
    to = infer.zonk(to);
  }
  if (types.kind(from) != TypeKind::Array && types.kind(to) != TypeKind::Array && !numbers && !chars) {
    if (infer.unify(to, from).kind == UnifyKind::Equal) return value;
    const types::RecordId record = types[to].record; // its parameters may be sizes
    return record && record == types[from].record ? atSizesOf(b, value, to, span) : fail();
  }
  if (!numbers && !chars) {
    if (types.element(to) == fromElement) return value;
    return fail();
  }
  bool checked = (types.isInt(element) && fromElement != element) || chars;
  return b.elementwise({value}, span, [&](std::vector<NodeId> e) {
    return b.make(NodeKind::Convert, element, span, {e[0]}, ConvertRef{ops::ConvertMode::Saturate, checked});
  });
}

TypeId Body::optionOf(TypeId payload) {
  DeclId decl = typeDecl(c, c.modules.prelude(), types.names.intern("Option"));
  return c.declarations.recordType(decl, {payload});
}

/// `e?`: the payload, or an early return (rule 35).
NodeId Body::checkTry(const One& t, Span span, TypeId expected) {
  TypeId asked, error;
  if (expected) {
    const TypeId payload = withSizesHidden(*this, expected);
    bool option = returnType && isPreludeEnum(returnType, "Option");
    DeclId result = typeDecl(c, c.modules.prelude(), types.names.intern("Result"));
    if (!option && result) error = fresh(span);
    asked = error ? c.declarations.recordType(result, {payload, error}) : optionOf(payload);
  }
  NodeId value = checkExpr(t.inner, asked);
  TypeId type = b.typeOf(value);
  if (types.kind(type) == TypeKind::Error) return value;
  if (error) // nothing was asked of it
    infer.unify(error, isPreludeEnum(type, "Result") ? types.fieldType(type, caseNumber(type, "Err"), 0)
                                                     : types.unit());
  return types.kind(type) == TypeKind::Never ? value : tryValue(value, span);
}

NodeId Body::tryValue(NodeId value, Span span) {
  TypeId type = b.typeOf(value);
  bool option = isPreludeEnum(type, "Option"), result = isPreludeEnum(type, "Result");
  if (!option && !result) {
    sink.report(DiagId::QuestionOperand, span, b.show(type));
    return b.error(span);
  }
  if (!mayReturn) {
    // A statement at the prompt returns from nothing: an error ends the entry.
    const bool isAtPrompt = c.modules[module].isEntry && !c.instances.info(id).key.decl;
    if (isAtPrompt) return callPrelude("value_at_prompt", {value}, span);
    sink.report(DiagId::NoTryHere, span);
    return b.error(span);
  }
  if (!returnType) returned.edit().byTry = value; // the first to tell what is returned
  if (!returnType && option) returnType = optionOf(fresh(span));
  if (DeclId either = typeDecl(c, c.modules.prelude(), types.names.intern("Result")); !returnType && either)
    returnType =
        c.declarations.recordType(either, {fresh(span), types.fieldType(type, caseNumber(type, "Err"), 0)});
  TypeId back = returnType ? infer.zonk(freshResult()) : TypeId::none();
  bool fits = back && (option ? isPreludeEnum(back, "Option") : isPreludeEnum(back, "Result"));
  if (!fits) {
    refuseTry(*this, value, back, span);
    return b.error(span);
  }
  uint32_t goodCase = caseNumber(type, option ? "Some" : "Ok"),
           badCase = caseNumber(type, option ? "None" : "Err");
  TypeId payload = types.fieldType(type, goodCase, 0);
  Pattern good;
  good.kind = PatternKind::Bind;
  good.span = span;
  good.type = openPattern(good, payload);
  good.local = b.newLocal("v", good.type, span);
  LocalId goodLocal = good.local;
  TypeId goodType = good.type;
  std::vector<DimSym> opened = good.unpacked;
  Arm hit, miss;
  Pattern holding;
  holding.kind = PatternKind::Case;
  holding.type = type;
  holding.caseIndex = goodCase;
  holding.span = span;
  holding.subs = {instance.patterns.add(std::move(good))};
  hit.pattern = instance.patterns.add(std::move(holding));
  hit.body = b.local(goodLocal, span);
  NodeId leave;
  if (option) {
    miss.pattern = anyPattern(type, span);
    leave = b.make(NodeKind::Variant, back, span, {}, Index{badCase});
  } else {
    TypeId wanted = types.fieldType(back, badCase, 0);
    std::vector<NodeId> fields;
    miss.pattern = casePattern(type, badCase, fields, span);
    NodeId err = passedOn(fields[0], wanted, span);
    if (b.kindOf(err) == TypeKind::Error) return err;
    leave = b.make(NodeKind::Variant, back, span, {err}, Index{badCase});
  }
  miss.body = b.make(NodeKind::Return, types.never(), span, {leave});
  NodeId match = b.make(NodeKind::Match, goodType, span, {value}, Arms{{hit, miss}, {}});
  instance.nodes.edit(match).resultDims = opened;
  return match;
}

void refuseTry(Body& body, NodeId value, TypeId back, Span span) {
  Checker& c = body.c;
  const TypeId type = body.b.typeOf(value);
  const bool option = body.isPreludeEnum(type, "Option");
  Diagnostic& d = c.sink.report(DiagId::QuestionContext, span, body.b.show(type),
                                option ? "an Option" : "a Result", back ? body.b.show(back) : "()");
  const DeclId own = c.instances.info(body.id).key.decl;
  const bool givesNothing = own && (!back || c.types.isUnit(back));
  const std::string name = givesNothing ? std::string(c.types.names.text(c.modules.decl(own).name)) : "";
  if (givesNothing && (!option || name == "main")) {
    const std::string params = c.declarations.function(own).params.empty() ? "()" : "(…)";
    d.hint = "`fn " + name + params + " -> Result[()]` ends in `Ok(())`, and may leave " +
             (option ? "by `x.or_error(\"…\")?`" : "by `?`");
  } else if (option && back && body.isPreludeEnum(back, "Result")) {
    d.hint = "`x.or_error(\"…\")?` makes a Result of it, the string being its error";
  } else {
    d.hint = body.takesOut(type);
  }
}

/// An error that `?` met as the one that is returned: any becomes an `Error` by its `message`.
NodeId Body::passedOn(NodeId error, TypeId wanted, Span span) {
  TypeId own = b.typeOf(error);
  if (unifyGiven(wanted, own).kind <= UnifyKind::NeedsCheck) return coerce(error, wanted, span);
  TypeId made = c.declarations.recordType(typeDecl(c, c.modules.prelude(), types.names.intern("Error")), {});
  if (infer.unify(wanted, made).kind != UnifyKind::Equal) {
    sink.report(DiagId::QuestionError, span, b.show(own), b.show(wanted));
    return b.error(span);
  }
  NameId message = types.names.intern(protocols::message);
  NodeId text = callNamed(message, functionLayers(c, module, message),
                          {{NameId::none(), SynId::none(), error, span}}, nullptr, types.str(), span, span);
  return callPrelude("error", {text}, span);
}

/// Where an index or a size is meant: any integer (rule 16); one that is no `int` panics.
NodeId Body::asInt(NodeId node, Span span) {
  if (b.lacks(b.typeOf(node), "Int", "an index or a size", span)) return b.error(span);
  return types.isInt(b.typeOf(node)) ? b.convert(node, types.int64(), span, true)
                                     : coerce(node, types.int64(), span);
}

/// Whether it is the prelude's `Range`.
bool Body::isRange(TypeId type) {
  DeclId range = typeDecl(c, c.modules.prelude(), types.names.intern("Range"));
  types::RecordId record = types[infer.shallow(type)].record;
  return record && range && types.recordInfo(record).declaration == range.index;
}

/// A range as a value: the prelude's `Range`.
NodeId Body::checkRangeValue(const syntax::Range& r, Span span) {
  DeclId decl = typeDecl(c, c.modules.prelude(), types.names.intern("Range"));
  if (!decl || !r.last) {
    sink.report(DiagId::NoRangeValue, span);
    return b.error(span);
  }
  std::vector<NodeId> parts, nodes;
  for (SynId written : {r.first, r.last}) parts.push_back(asInt(checkExpr(written), ast.span(written)));
  parts.push_back(r.step ? asInt(checkExpr(r.step), ast.span(r.step)) : b.integer(1, span));
  for (NodeId part : parts)
    if (b.kindOf(part) == TypeKind::Error) return part;
  if (isWrongStep(*this, parts[2], r.step)) return b.error(span);
  if (!b.literal(parts[2])) {
    for (NodeId& part : parts) part = b.local(b.bind("end", part, nodes), span);
    nodes.push_back(positiveStep(*this, parts[2], span));
  }
  std::vector<CallArg> args;
  for (NodeId part : parts) args.push_back({NameId::none(), SynId::none(), part, span});
  nodes.push_back(construct(decl, 0, args, nullptr, TypeId::none(), span));
  return nodes.size() == 1 ? nodes[0] : b.block(std::move(nodes), span);
}

} // namespace melix::check
