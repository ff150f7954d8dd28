// Types asked for: coercion, `as`, `?`, annotations; overloads.
#include "check/attempt.h"

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
  if (hidesOtherSizes(type, actual)) return coerceParts(node, infer.zonk(type), span, id, what, asker);
  UnifyResult match = infer.unify(type, actual);
  if (match.kind == UnifyKind::Equal) return node;
  if (match.kind == UnifyKind::NeedsCheck) {
    std::vector<DimCheckItem> checks = b.worded(std::move(match.checks), DiagId::ShapeExpected, type, actual);
    return b.checked(node, infer.zonk(type), std::move(checks), span);
  }
  if (id != DiagId::PatternType && infer.isOpen(actual) && infer.varClass(actual) != types::VarClass::Any) {
    bool whole = infer.varClass(actual) == types::VarClass::OpenInt;
    if (b.lacks(type, whole ? "Num" : "Float", whole ? "a whole number" : "a fraction", span))
      return b.error(span);
  }
  std::string expected = b.show(type), got = b.show(actual);
  if (match.kind == UnifyKind::DimsDiffer) {
    b.reportAsked(match, type, actual, node, span, {what, asker});
  } else if (id == DiagId::ArgumentType) {
    bool scalarWanted = types.isScalar(infer.shallow(type)) && k == TypeKind::Array;
    if (scalarWanted)
      sink.report(DiagId::ArrayToScalarFunction, span, what, expected, got);
    else
      sink.report(id, span, what, expected, got).hint = conversionHint(type, actual, span);
  } else if (id == DiagId::PatternType) {
    sink.report(id, span, expected);
  } else {
    Diagnostic& d = sink.report(id, span, expected, got);
    if (id == DiagId::TypeMismatch) d.hint = conversionHint(type, actual, span);
    bool fails = isPreludeEnum(actual, "Result") || isPreludeEnum(actual, "Option");
    uint32_t good = fails ? caseNumber(actual, isPreludeEnum(actual, "Result") ? "Ok" : "Some") : 0;
    if (fails && unifyGiven(type, types.fieldType(actual, good, 0)).kind <= UnifyKind::NeedsCheck)
      d.hint = "`?` takes the value out, or returns what stands in its place";
  }
  return b.error(span);
}

std::string Body::writtenOperand(Span span) {
  constexpr size_t longest = 30;
  std::string text(span.valid() ? c.modules.sources.text(span) : "");
  if (text.empty() || text.size() > longest || text.find_first_of("{\n") != std::string::npos) return "x";
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

/// What helps where one kind of number is asked for and another is there; nothing else.
std::string Body::conversionHint(TypeId want, TypeId got, Span span) {
  TypeId to = infer.zonk(types.element(infer.zonk(want))), from = infer.zonk(types.element(infer.zonk(got)));
  const TypeKind wanted = types.kind(infer.shallow(want)), given = types.kind(infer.shallow(got));
  if (wanted == TypeKind::Array && given == TypeKind::List)
    return "`array(" + writtenOperand(span) + ")` is the array of its elements";
  if (wanted == TypeKind::List && given == TypeKind::Array)
    return "`list(" + writtenOperand(span) + ")` is the List of its elements";
  bool differ = types.isNumber(to) && types.isNumber(from) && to != from;
  if (!differ || types.rank(infer.zonk(want)) != types.rank(infer.zonk(got))) return {};
  return "`" + writtenOperand(span) + " as " + b.show(to) + "` converts it";
}

/// Whether the parts of a tuple that keep their sizes beside them are not those asked for.
bool Body::hidesOtherSizes(TypeId want, TypeId got) {
  const types::Type wanted = types[infer.shallow(want)], given = types[infer.shallow(got)];
  if (wanted.kind == TypeKind::Var || given.kind == TypeKind::Var) return false;
  if ((wanted.kind == TypeKind::Pack) != (given.kind == TypeKind::Pack)) return true;
  bool tuples = wanted.kind == TypeKind::Tuple && given.kind == TypeKind::Tuple;
  if (!tuples || wanted.parts.size() != given.parts.size()) return false;
  for (size_t k = 0; k < given.parts.size(); ++k) {
    const TypeId asked = infer.zonk(wanted.parts[k]), part = infer.zonk(given.parts[k]);
    const bool arrays = types.kind(asked) == TypeKind::Array && types.kind(part) == TypeKind::Array;
    if (arrays ? types.keepsSizes(asked) != types.keepsSizes(part) : hidesOtherSizes(asked, part))
      return true;
  }
  return false;
}

/// A tuple with each part as it is asked for.
NodeId Body::coerceParts(NodeId node, TypeId tuple, Span span, DiagId id, std::string_view what, Span asker) {
  const std::vector<TypeId> wanted = types[tuple].parts;
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
  instance.nodes[made].resultDims = fresh;
  return made;
}

bool Body::endsInBranches(SynId node) const {
  switch (ast.kind(node)) {
  case SynKind::If:
  case SynKind::Match: return true;
  case SynKind::Paren: return endsInBranches(ast[node].as<One>().inner);
  case SynKind::Block: {
    const NodeList& items = ast[node].as<Many>().items;
    return !items.empty() && endsInBranches(items.back());
  }
  default: return false;
  }
}

/// A value of type `want`, whose sizes may still be to be found: branches may then differ in them (rule 24).
/// Those that are known to agree keep what is known of their sizes; the others have them beside the value.
NodeId Body::checkSized(SynId node, TypeId want) {
  std::vector<DimSym> symbols, open;
  if (want) types.collectSymbols(infer.zonk(want), symbols);
  for (DimSym s : symbols)
    if (types.dims.info(s).kind == types::DimSymKind::Inference) open.push_back(s);
  if (open.empty() || !endsInBranches(node)) return checkExpr(node, want);
  Attempt attempt(*this);
  NodeId value = checkExpr(node, want);
  if (!attempt.hasErrors() && !attempt.comparesAtRun()) return value;
  attempt.drop();
  TypeId sized = types.pack(infer.zonk(want), open);
  return unpacked(coerce(checkExpr(node, sized), sized, ast.span(node)), ast.span(node));
}

TypeId Body::resolveType(SynId node, bool binds, bool keepsSizes) {
  TypeResolver resolver(c, module, ast, env);
  if (binds)
    resolver.freshDim = [&](NameId name, Span at) {
      return types.dims.symbol(infer.freshDim(name ? std::string(types.names.text(name)) : "_", at));
    };
  askBody(resolver);
  return keepsSizes ? resolver.nested(node) : resolver.type(node);
}

TypeId Body::resolveParameter(SynId node, std::map<NameId, Span>& inside) {
  TypeResolver resolver(c, module, ast, env);
  resolver.freshDim = resolver.bindDim = [this](NameId name, Span at) {
    return types.dims.symbol(infer.freshDim(name ? std::string(types.names.text(name)) : "_", at));
  };
  askBody(resolver);
  TypeId type = resolver.type(node);
  inside.insert(resolver.unsettled.begin(), resolver.unsettled.end());
  return type;
}

/// What the names in a type written here mean.
void Body::askBody(TypeResolver& resolver) {
  resolver.valueDim = [&](SynId s) { return dimOfSyntax(s); };
  resolver.whyNoSize = [&](NameId name) { return whyNoSize(name); };
  resolver.sizesInScope = [&] { return visibleNames(); };
  resolver.readDim = [&](NameId name) { lookup(name); };
  resolver.valueType = [&](NameId name) {
    LocalId l = lookup(name);
    return l ? infer.zonk(instance.locals[l].type) : TypeId::none();
  };
}

/// Why a variable in scope is no dimension; nothing if there is none of that name.
std::string Body::whyNoSize(NameId name) {
  LocalId local = lookupAny(name);
  if (!local) return "";
  std::string shown = "`" + std::string(types.names.text(name)) + "`";
  if (instance.locals[local].isVar)
    return shown + " is a `var`; `let n = " + std::string(types.names.text(name)) +
           "` names the value it has";
  return shown + " is `" + b.show(instance.locals[local].type) + "`, and a dimension is an `int`";
}

/// The dimension that an expression in a type stands for; none without a report if it is none.
DimId Body::dimOfSyntax(SynId node) {
  Attempt attempt(*this);
  NodeId value = checkExpr(node);
  if (!attempt.hasMessages())
    if (DimId size = b.dimOf(value)) return size;
  attempt.drop();
  bool hidden = ast.kind(node) == SynKind::Name && lookupAny(ast[node].as<Name>().name);
  DeclId constant = hidden ? DeclId::none() : c.constDecl(module, ast, node);
  if (!constant) return DimId::none();
  return c.constantSize(constant).dim;
}

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
  if (ast.kind(inner) == SynKind::Call || ast.kind(inner) == SynKind::Array ||
      ast.kind(inner) == SynKind::Builder) {
    if (ast.kind(inner) == SynKind::Call && !callNeedsType(inner)) {
      value = checkExpr(as.first);
    } else {
      value = asOperand(as.first, type);
    }
  } else {
    value = checkExpr(as.first);
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
  const auto before = static_cast<ptrdiff_t>(sink.all().size());
  Attempt asked(*this);
  NodeId value = checkExpr(operand, type);
  if (!asked.hasMessages() && infer.unify(type, b.typeOf(value)).kind != UnifyKind::Mismatch) return value;
  const bool failed = asked.hasErrors();
  const std::vector<Diagnostic> told(sink.all().begin() + before, sink.all().end());
  asked.drop();
  unaskedOperands.insert({ast.at, operand});
  Attempt unasked(*this);
  value = checkExpr(operand);
  if (!failed || !unasked.hasErrors()) return value;
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

/// Whether a call's result has a parameter that its arguments do not settle.
bool Body::callNeedsType(SynId node) {
  const auto call = ast[node].as<Call>();
  SynId callee = call.callee;
  if (ast.kind(callee) != SynKind::Name && ast.kind(callee) != SynKind::Member) return false;
  NameId name =
      ast.kind(callee) == SynKind::Name ? ast[callee].as<Name>().name : ast[callee].as<Member>().name;
  if (lookupAny(name)) return false;
  std::vector<std::vector<DeclId>> layers = c.functionLayers(module, name);
  if (ast.kind(callee) == SynKind::Member && ast.kind(ast[callee].as<Member>().base) == SynKind::Name)
    if (auto prefix = c.modules[module].prefixes.find(ast[ast[callee].as<Member>().base].as<Name>().name);
        prefix != c.modules[module].prefixes.end())
      layers = {c.functionsIn(prefix->second, name, true)};
  for (const auto& layer : layers)
    for (DeclId decl : layer) {
      const FunctionDecl& fn = c.function(decl);
      const Ast& tree = c.ast(decl);
      for (const GenericParam& g : fn.generics) {
        bool inParams = false;
        std::function<void(SynId)> look = [&](SynId s) {
          if (tree.kind(s) == SynKind::Name || tree.kind(s) == SynKind::PackUse)
            inParams |= tree[s].as<Name>().name == g.name;
          forEachChild(tree, s, look);
        };
        for (const ParamDecl& p : fn.params)
          if (p.type) look(p.type);
        if (!inParams) return true;
      }
    }
  std::optional<IntrinsicKind> intrinsic = findIntrinsic(types.names.text(name));
  return layers.empty() && intrinsic && takesTypeAsked(*intrinsic);
}

NodeId Body::convertTo(NodeId value, TypeId type, Span span) {
  TypeId from = b.typeOf(value), to = infer.zonk(type);
  auto fail = [&] {
    if (b.lacks(to, "Num", "`as`", span) || b.lacks(from, "Num", "`as`", span)) return b.error(span);
    sink.report(DiagId::CannotConvert, span, b.show(from), b.show(to));
    return b.error(span);
  };
  TypeId element = types.element(to), fromElement = infer.shallow(types.element(from));
  if (types.kind(from) == TypeKind::Pack) return convertTo(unpacked(value, span), type, span);
  bool numbers =
      b.isNumber(element) && (b.isNumber(fromElement) || types.kind(fromElement) == TypeKind::Bool ||
                              types.kind(fromElement) == TypeKind::Char);
  bool chars = types.kind(element) == TypeKind::Char && types.isInt(fromElement);
  if (types.kind(to) == TypeKind::Array) { // an array type also checks the shape
    if (types.kind(from) != TypeKind::Array || types.rank(from) != types.rank(to)) return fail();
    std::vector<DimCheckItem> checks;
    std::vector<DimId> want = b.dimsOf(to), have = b.dimsOf(from);
    for (size_t k = 0; k < want.size(); ++k) {
      if (infer.zonk(want[k]) == infer.zonk(have[k]) || infer.unifyDim(want[k], have[k]) == UnifyKind::Equal)
        continue;
      auto x = types.dims.asConstant(infer.zonk(want[k])), y = types.dims.asConstant(infer.zonk(have[k]));
      if (x && y) {
        b.reportAsked({UnifyKind::DimsDiffer, {}, want[k], have[k], want[k], static_cast<uint32_t>(k)}, to,
                      from, value, span);
        return b.error(span);
      }
      checks.push_back({infer.zonk(want[k]), infer.zonk(have[k]), "", {}, static_cast<uint32_t>(k)});
    }
    to = infer.zonk(to);
    checks = b.worded(std::move(checks), DiagId::ShapeExpected, to, from);
    if (!checks.empty())
      value = b.checked(value, types.array(types.element(from), b.dimsOf(to)), std::move(checks), span, true);
  }
  if (types.kind(from) != TypeKind::Array && types.kind(to) != TypeKind::Array && !numbers && !chars) {
    if (infer.unify(to, from).kind == UnifyKind::Equal) return value;
    return fail();
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
  DeclId decl = c.typeDecl(c.modules.prelude(), types.names.intern("Option"));
  return c.recordType(decl, {payload});
}

/// `e?`: the payload, or an early return (rule 35).
NodeId Body::checkTry(const One& t, Span span, TypeId expected) {
  TypeId asked, error;
  if (expected) { // the payload is asked for; sizes that are still to be found are hidden in it
    TypeId payload = infer.zonk(expected);
    std::vector<DimSym> symbols, open;
    types.collectSymbols(payload, symbols);
    for (DimSym s : symbols)
      if (types.dims.info(s).kind == types::DimSymKind::Inference) open.push_back(s);
    payload = types.pack(payload, open);
    bool option = returnType && isPreludeEnum(returnType, "Option");
    DeclId result = c.typeDecl(c.modules.prelude(), types.names.intern("Result"));
    if (!option && result) error = fresh(span);
    asked = error ? c.recordType(result, {payload, error}) : optionOf(payload);
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
    sink.report(DiagId::NoTryHere, span);
    return b.error(span);
  }
  if (!returnType && option) returnType = optionOf(fresh(span)); // the first to tell what is returned
  if (DeclId either = c.typeDecl(c.modules.prelude(), types.names.intern("Result")); !returnType && either)
    returnType = c.recordType(either, {fresh(span), types.fieldType(type, caseNumber(type, "Err"), 0)});
  TypeId back = returnType ? infer.zonk(returnHere(span)) : TypeId::none();
  bool fits = back && (option ? isPreludeEnum(back, "Option") : isPreludeEnum(back, "Result"));
  if (!fits) {
    Diagnostic& d = sink.report(DiagId::QuestionContext, span, b.show(type),
                                option ? "an Option" : "a Result", back ? b.show(back) : "()");
    bool returnsResult = back && isPreludeEnum(back, "Result");
    d.hint = option && returnsResult ? "`x.or_error(\"…\")?` makes a Result of it, the text being its error"
             : option ? "`x.or_else(value)` gives another value instead, `x.or_panic(\"…\")` ends the program"
                      : "`x.or_else(value)` gives another value instead; `match` sees the error";
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
  instance.nodes[match].resultDims = opened;
  return match;
}

/// An error that `?` met as the one that is returned: any becomes an `Error` by its `message`.
NodeId Body::passedOn(NodeId error, TypeId wanted, Span span) {
  TypeId own = b.typeOf(error);
  if (unifyGiven(wanted, own).kind <= UnifyKind::NeedsCheck) return coerce(error, wanted, span);
  TypeId made = c.recordType(c.typeDecl(c.modules.prelude(), types.names.intern("Error")), {});
  if (infer.unify(wanted, made).kind != UnifyKind::Equal) {
    sink.report(DiagId::QuestionError, span, b.show(own), b.show(wanted));
    return b.error(span);
  }
  NameId message = types.names.intern("message");
  NodeId text = callNamed(message, c.functionLayers(module, message),
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
  DeclId range = c.typeDecl(c.modules.prelude(), types.names.intern("Range"));
  types::RecordId record = types[infer.shallow(type)].record;
  return record && range && types.recordInfo(record).declaration == range.index;
}

/// A range as a value: the prelude's `Range`.
NodeId Body::checkRangeValue(const syntax::Range& r, Span span) {
  DeclId decl = c.typeDecl(c.modules.prelude(), types.names.intern("Range"));
  if (!decl || !r.last) {
    sink.report(DiagId::NoRangeValue, span);
    return b.error(span);
  }
  NodeId first = asInt(checkExpr(r.first), ast.span(r.first));
  NodeId last = asInt(checkExpr(r.last), ast.span(r.last));
  std::vector<CallArg> args{{NameId::none(), SynId::none(), first, span},
                            {NameId::none(), SynId::none(), last, span}};
  TypeId type = c.recordType(decl, {});
  if (types.recordInfo(types[type].record).cases[0].fields.size() > 2)
    args.push_back(
        {NameId::none(), SynId::none(), r.step ? asInt(checkExpr(r.step), span) : b.integer(1, span), span});
  return construct(decl, 0, args, nullptr, TypeId::none(), span);
}

} // namespace melix::check
