// Expressions.
#include "check/body/attempt.h"
#include "check/body/dicts.h"
#include "check/body/function_values.h"
#include "check/body/hints.h"
#include "check/body/interpolation.h"
#include "check/body/loops.h"
#include "check/body/other_tree.h"
#include "check/calls/nested_reduction.h"
#include "check/signatures/lookup.h"
#include "check/signatures/scripts.h"
#include "check/statements/on_device.h"
#include "check/tree/bool_hint.h"
#include "check/tree/literal_sign.h"
#include "syntax/attributes.h"
#include "types/tangent.h"

namespace melix::check {

using namespace syntax;
using types::VarClass;

/// Values that hide their sizes are opened where they are read.
NodeId Body::checkExpr(SynId node, TypeId expected) {
  return unpacked(checkExprAsIs(node, expected), ast.span(node));
}

NodeId Body::checkExprAsIs(SynId node, TypeId expected) {
  const SynNode& n = ast[node];
  switch (n.kind) {
  case SynKind::Error: return b.error(n.span);
  case SynKind::IntLit:
  case SynKind::FloatLit: return checkNumber(n);
  case SynKind::BoolLit: return b.boolean(n.as<Text>().text == "true", n.span);
  case SynKind::CharLit: {
    const std::string& text = n.as<Text>().text;
    auto byte = [&](size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
    unsigned lead = byte(0);
    uint64_t code = lead < 0x80   ? lead
                    : lead < 0xe0 ? ((lead & 0x1f) << 6) | (byte(1) & 0x3f)
                    : lead < 0xf0 ? ((lead & 0x0f) << 12) | ((byte(1) & 0x3f) << 6) | (byte(2) & 0x3f)
                                  : ((lead & 7) << 18) | ((byte(1) & 0x3f) << 12) | ((byte(2) & 0x3f) << 6) |
                                        (byte(3) & 0x3f);
    return b.integer(static_cast<int64_t>(code), n.span, types.scalar(TypeKind::Char));
  }
  case SynKind::String: return checkString(*this, n.as<StringLit>(), n.span);
  case SynKind::Name: return checkName(node, expected);
  case SynKind::Paren: return checkExpr(n.as<One>().inner, expected);
  case SynKind::Unary: return checkUnary(n.as<Unary>(), n.span, expected);
  case SynKind::Binary: return checkBinary(n.as<Binary>(), n.span);
  case SynKind::As: return checkAs(n.as<Two>(), n.span);
  case SynKind::Try: return checkTry(n.as<One>(), n.span, expected);
  case SynKind::Range: return checkRangeValue(n.as<syntax::Range>(), n.span);
  case SynKind::Tuple: return checkTuple(n.as<Many>(), n.span, expected);
  case SynKind::Array: return checkArray(n.as<Many>(), n.span, expected);
  case SynKind::Generator:
    if (isNested(ast, n.as<Builder>())) return arrayOfNested(*this, n.as<Builder>(), n.span);
    [[fallthrough]];
  case SynKind::Builder: return checkBuilder(n.as<Builder>(), n.span, expected, BuilderUse::Array);
  case SynKind::Member: return checkMember(node, expected);
  case SynKind::TupleIndex: return checkTupleIndex(n.as<TupleIndex>(), n.span);
  case SynKind::Call: return checkCall(node, expected);
  case SynKind::Brackets: return checkIndexing(node);
  case SynKind::Lambda: return checkLambda(node, expected);
  case SynKind::Block: return checkBlockItems(n.as<Many>().items, expected, n.span);
  case SynKind::If: return checkIf(n.as<syntax::If>(), n.span, expected);
  case SynKind::Match: return checkMatch(n.as<syntax::Match>(), n.span, expected);
  case SynKind::Loop: return checkLoop(*this, n.as<One>(), n.span);
  case SynKind::Break: return checkBreak(*this, n.as<One>(), n.span);
  case SynKind::Return: return checkReturn(n.as<One>(), n.span);
  case SynKind::Continue: {
    if (loops.empty() || loops.back().builderDepth != builderDepth) {
      sink.report(builderDepth > 0 ? DiagId::BuilderControl : DiagId::NoLoop, n.span, "continue");
      return b.error(n.span);
    }
    return b.make(NodeKind::Continue, types.never(), n.span, {}, check::Loop{loops.back().id});
  }
  case SynKind::Ref: sink.report(DiagId::RefHere, n.span); return b.error(n.span);
  case SynKind::Let:
  case SynKind::Assign:
  case SynKind::OpAssign:
  case SynKind::For:
  case SynKind::While:
  case SynKind::Assert: return checkStatement(node, false, expected);
  case SynKind::Dict: return checkDict(*this, n.as<DictEntries>(), n.span, expected);
  case SynKind::MacroUse: // expansion leaves `@checkpoint { … }`, and what it has reported
    if (SynId path = n.as<MacroUse>().path; ast.kind(path) == SynKind::Name) {
      if (std::string_view name = types.names.text(ast[path].as<Name>().name); name == "unchecked")
        sink.report(DiagId::MacroArguments, n.span, name, "a function is wanted").hint =
            "`@unchecked` is of functions";
      else if (syntax::isAttributeName(name))
        sink.report(DiagId::NoAttribute, n.span, name);
    }
    return b.error(n.span);
  case SynKind::Scope: sink.report(DiagId::NoTasks, n.span); return b.error(n.span);
  case SynKind::On: return checkOn(*this, n.as<syntax::On>(), n.span, expected);
  case SynKind::Sample: sink.report(DiagId::NoSampling, n.span); return b.error(n.span);
  case SynKind::Underscore: sink.report(DiagId::UnderscoreValue, n.span); return b.error(n.span);
  default: sink.report(DiagId::NoConstruct, n.span); return b.error(n.span);
  }
}

NodeId Body::checkNumber(const SynNode& n) {
  bool isFloat = n.kind == SynKind::FloatLit;
  std::string text;
  for (char ch : n.as<Text>().text)
    if (ch != '_') text += ch;
  uint64_t bits;
  if (!isFloat && !Checker::literalFits(text, bits)) {
    sink.report(DiagId::LiteralRange, n.span, text, "u64");
    return b.error(n.span);
  }
  if (!isFloat && text.size() > 1 && (text[1] == 'x' || text[1] == 'b' || text[1] == 'o'))
    text = std::to_string(bits);
  return b.number(text, infer.freshVar(isFloat ? VarClass::OpenFloat : VarClass::OpenInt, n.span), n.span);
}

LocalId Body::lookupAny(NameId name) {
  size_t floor = scopeFloor > 0 && c.scripts.isOfScript(module, name) ? 0 : scopeFloor;
  LocalId found = scope.find(name, floor);
  if (found || !types.names.isMarked(name)) return found;
  // What a quote does not bind may be a variable of the script it stands in.
  auto [home, plain] = c.modules.meant(module, name);
  return home == module && c.scripts.isOfScript(module, plain) ? lookupAny(plain) : LocalId::none();
}

LocalId Body::lookup(NameId name) {
  LocalId found = lookupAny(name);
  if (found) used.insert(found);
  return found;
}

std::vector<NameId> Body::visibleNames() const {
  std::vector<NameId> out;
  for (size_t k = scopeFloor; k < scope.size(); ++k) out.push_back(scope[k].name);
  for (const auto& [name, dim] : env->dims) out.push_back(name);
  return out;
}

NodeId Body::checkName(SynId node, TypeId expected) {
  Span span = ast.span(node);
  NameId name = ast[node].as<Name>().name;
  std::string_view text = types.names.text(name);
  if (LocalId l = lookup(name)) return readLocal(l, span);
  if (auto dim = env->dims.find(name); dim != env->dims.end()) return b.dimValue(dim->second, span);
  if (text == "inf" || text == "nan" || text == "pi")
    return b.number(std::string(text), infer.freshVar(VarClass::OpenFloat, span), span);
  if (DeclId constant = constDecl(c, module, name)) return constantValue(constant, expected, span);
  if (auto found = caseNamed(name, expected, span))
    return !found->first ? b.error(span) : caseValue(found->first, found->second, expected, span);
  std::vector<std::vector<DeclId>> layers = functionLayers(c, module, name);
  if (!layers.empty()) {
    std::vector<DeclId> candidates;
    for (const auto& layer : layers) candidates.insert(candidates.end(), layer.begin(), layer.end());
    return functionValue(std::move(candidates), span);
  }
  if (auto intrinsic = findIntrinsic(text)) {
    TypeId asked = expected ? infer.zonk(expected) : expected;
    if (*intrinsic == IntrinsicKind::ZeroOf && asked && types::tangentType(types, asked) == asked)
      return leaves.zero(asked, span); // `zero` alone, where a tangent is asked for
    return intrinsicValue(*intrinsic, span);
  }
  return unknownName(name, span);
}

/// A case by its name alone: a value, or the function that makes it from its payload.
NodeId Body::caseValue(DeclId decl, uint32_t k, TypeId expected, Span span) {
  if (c.ast(decl)[c.modules.decl(decl).node].as<EnumItem>().cases[k].fields.empty())
    return construct(decl, k, {}, nullptr, expected, span);
  Known known;
  known.kind = KnownKind::Constructor;
  known.module = module;
  known.name =
      std::string(types.names.text(c.ast(decl)[c.modules.decl(decl).node].as<EnumItem>().cases[k].name));
  known.constructor = decl;
  known.number = k;
  return templateValue(std::move(known), {}, span);
}

NodeId Body::checkUnary(const Unary& u, Span span, TypeId expected) {
  if (u.op == UnaryOp::Not) {
    NodeId value = checkExpr(u.operand);
    return b.kindOf(value) == TypeKind::Never ? value : b.logicalNot(value, span);
  }
  NodeId value = checkExpr(u.operand, expected);
  const SynKind operand = ast.kind(u.operand);
  if (operand == SynKind::IntLit || operand == SynKind::FloatLit)
    return b.kindOf(value) == TypeKind::Error
               ? value
               : b.op(OpKind::Neg, b.typeOf(value), {value}, span, signOfLiteral);
  if (b.kindOf(value) == TypeKind::Never) return value;
  if (NodeId user = ownOperator("-", {value}, span)) return user;
  return b.negate(value, span);
}

NodeId Body::checkBoolean(SynId node, std::string_view what) {
  return boolean(checkExpr(node), what, ast.span(node));
}

NodeId Body::boolean(NodeId value, std::string_view what, Span span) {
  TypeKind k = b.kindOf(value);
  if (k == TypeKind::Bool || k == TypeKind::Error || k == TypeKind::Never) return value;
  sink.report(DiagId::WantsBool, span, what, b.show(b.typeOf(value)), boolHint(types, b.typeOf(value)));
  return b.error(span);
}

/// A user's own operator on a struct or enum goes before the built-in meaning (rule 40); on arrays of them it
/// is element-wise, but for `@` (rule 10).
NodeId Body::ownOperator(std::string_view name, std::vector<NodeId> args, Span span) {
  bool composite = false, arrays = false;
  for (NodeId arg : args) {
    TypeKind element = types.kind(types.element(b.typeOf(arg)));
    composite |= element == TypeKind::Struct || element == TypeKind::Enum;
    arrays |= b.kindOf(arg) == TypeKind::Array;
  }
  if (!composite) return NodeId::none();
  auto declared = [&](const std::vector<NodeId>& operands) {
    std::vector<CallArg> call;
    for (NodeId arg : operands) call.push_back({NameId::none(), SynId::none(), arg, b.spanOf(arg)});
    return declaredOperator(types.names.intern(name), call, span);
  };
  NodeId whole = declared(args);
  if (whole.valid() || !arrays || name == spelling(BinaryOp::MatMul)) return whole;
  std::vector<NodeId> some;
  for (NodeId arg : args)
    some.push_back(b.local(b.newLocal("element", types.element(b.typeOf(arg)), span), span));
  Attempt attempt(*this);
  bool isDeclared = declared(some).valid();
  attempt.drop();
  return isDeclared ? b.elementwise(std::move(args), span, declared) : NodeId::none();
}

/// The call of an operator that is declared for these operands; none if none is.
NodeId Body::declaredOperator(NameId op, std::vector<CallArg> call, Span span) {
  if (LocalId l = lookupAny(op); l && nestedAt(l)) { // declared in this function
    const Known& known = c.program_.known(types[infer.zonk(instance.locals[l].type)].known);
    if (choose(op, known.candidates, call, span, false)) {
      used.insert(l);
      return callValue(readLocal(l, span), call, TypeId::none(), span);
    }
  }
  std::vector<std::vector<DeclId>> layers = functionLayers(c, module, op);
  for (const CallArg& arg : call)
    for (ModuleId home : homeModules(b.typeOf(arg.node))) layers.push_back(functionsAtHome(c, home, op));
  for (const auto& layer : layers) {
    if (layer.empty()) continue;
    if (auto chosen = choose(op, layer, call, span, false))
      return callDecl(*chosen, call, nullptr, TypeId::none(), span);
  }
  return NodeId::none();
}

BinaryKind binaryKind(BinaryOp op) {
  static constexpr BinaryKind kinds[] = {
      BinaryKind::Add,    BinaryKind::Sub, BinaryKind::Mul, BinaryKind::Div, BinaryKind::Rem,
      BinaryKind::MatMul, BinaryKind::Pow, BinaryKind::Shl, BinaryKind::Shr, BinaryKind::BitAnd,
      BinaryKind::BitOr,  BinaryKind::Eq,  BinaryKind::Ne,  BinaryKind::Lt,  BinaryKind::Le,
      BinaryKind::Gt,     BinaryKind::Ge};
  return kinds[static_cast<size_t>(op)];
}

NodeId Body::checkBinary(const Binary& bin, Span span) {
  if (bin.op == BinaryOp::And || bin.op == BinaryOp::Or) {
    std::string what = "`" + std::string(spelling(bin.op)) + "`";
    NodeId left = checkBoolean(bin.left, what);
    ++conditions;
    NodeId right = checkBoolean(bin.right, what);
    --conditions;
    return b.make(bin.op == BinaryOp::And ? NodeKind::ShortAnd : NodeKind::ShortOr, types.boolean(), span,
                  {left, right});
  }
  auto [left, right] = checkOperands(bin);
  return combined(bin.op, left, right, span);
}

std::pair<NodeId, NodeId> Body::checkOperands(const Binary& bin) {
  NodeId left = checkExpr(bin.left);
  // The case of an enum on the right is found by the type on the left.
  TypeId leftType = b.typeOf(left);
  bool asks =
      types.kind(leftType) == TypeKind::Enum || (isRagged(leftType) && ast.kind(bin.right) == SynKind::Array);
  return {left, checkExpr(bin.right, asks ? leftType : TypeId::none())};
}

/// An operator of operands that are checked; the user's own come first.
NodeId Body::combined(BinaryOp op, NodeId left, NodeId right, Span span) {
  if (b.kindOf(left) == TypeKind::Never) return left;
  if (b.kindOf(right) == TypeKind::Never) return b.block({left, right}, span);
  if (NodeId user = ownOperator(spelling(op), {left, right}, span)) return user;
  bool guessed = isProvisional && (b.kindOf(left) == TypeKind::Error || b.kindOf(right) == TypeKind::Error);
  if (guessed && op >= BinaryOp::Eq && op <= BinaryOp::Ge)
    return b.boolean(false, span); // whatever is compared
  return b.binary(binaryKind(op), left, right, span);
}

NodeId Body::checkTuple(const Many& m, Span span, TypeId expected) {
  std::vector<TypeId> wanted;
  if (expected && types.kind(infer.shallow(expected)) == TypeKind::Pack)
    expected = openedPack(infer.zonk(expected));
  if (expected && types.kind(infer.shallow(expected)) == TypeKind::Tuple)
    wanted = types[infer.shallow(expected)].parts;
  std::vector<NodeId> parts;
  std::vector<TypeId> kinds;
  for (size_t k = 0; k < m.items.size(); ++k) {
    TypeId want = k < wanted.size() ? wanted[k] : TypeId::none();
    NodeId part = checkExpr(m.items[k], want);
    if (want) part = coerce(part, want, b.spanOf(part));
    parts.push_back(part);
    kinds.push_back(b.typeOf(part));
  }
  return b.composite(NodeKind::Tuple, types.tuple(std::move(kinds)), span, std::move(parts));
}

NodeId Body::checkArray(const Many& m, Span span, TypeId expected) {
  TypeId want = expected ? infer.shallow(expected) : TypeId::none();
  if (want && types.kind(want) == TypeKind::Pack) want = openedPack(want); // the literal tells its sizes
  if (want && (types.isDict(want) || types.isSet(want))) return checkArrayAsked(*this, m, span, want);
  bool asList = want && types.kind(want) == TypeKind::List;
  TypeId element;
  if (asList)
    element = types[want].parts[0];
  else if (want && types.kind(want) == TypeKind::Array) {
    std::vector<DimId> rest(types[want].dims.begin() + 1, types[want].dims.end());
    element = types.array(types.element(want), std::move(rest));
  }
  if (element && !asList && !m.items.empty() && ast.kind(m.items[0]) == SynKind::Array &&
      types.isScalar(infer.shallow(element)))
    element = TypeId::none();                        // more axes than are asked for: told of the whole
  if (want && types.kind(want) == TypeKind::Error) { // told already
    for (SynId item : m.items) checkExpr(item, want);
    return b.error(span);
  }
  if (m.items.empty()) {
    if (asList) return b.make(NodeKind::ListOf, want, span);
    if (element)
      return b.collect({types.dims.constant(0)}, span,
                       [&](const std::vector<LocalId>&) { return b.op(OpKind::Undef, element, {}, span); });
    sink.report(DiagId::NothingSettles, span, "the element type of `[]`").hint =
        "give the type of the whole: `var xs: List[f32] = []`, `let x: f32[0] = []`";
    return b.error(span);
  }
  std::vector<NodeId> items;
  bool numberFailed = false;
  for (SynId item : m.items) {
    if (numberFailed && isNumberLiteral(item)) { // what is wrong with one is told once
      items.push_back(b.error(ast.span(item)));
      continue;
    }
    NodeId value = checkExpr(item, element);
    if (b.kindOf(value) == TypeKind::Never) {
      items.push_back(value); // there is no array then
      continue;
    }
    if (!element) {
      value = withFunctionTypes(*this, value);
      element = b.typeOf(value);
    } else {
      // Whole literals beside floats become floats.
      TypeId mine = b.typeOf(value);
      if (infer.isOpen(element) || b.isNumber(element)) infer.unify(element, mine);
      Span first = items.empty() ? Span() : b.spanOf(items[0]);
      Messages told(sink);
      value = coerce(value, element, b.spanOf(value), DiagId::TypeMismatch, {}, first);
      if (told.anyErrors()) adviseLast(told, *this, span, b.spanOf(value));
      bool differs =
          b.kindOf(value) == TypeKind::Error && types.kind(mine) == TypeKind::Array && first.valid();
      if (differs && types.rank(mine) == types.rank(infer.zonk(element)))
        told.hintLast("rows with sizes of their own stand where a type like `f32[_][N]` or `List[f32[_]]` is "
                      "expected");
    }
    numberFailed |= b.kindOf(value) == TypeKind::Error && isNumberLiteral(item);
    items.push_back(value);
  }
  if (asList) return b.composite(NodeKind::ListOf, want, span, std::move(items));
  if (!element) return b.block(std::move(items), span); // nothing that has a type
  element = infer.zonk(element);
  TypeId type = types.array(types.element(element), [&] {
    std::vector<DimId> dims{types.dims.constant(static_cast<int64_t>(items.size()))};
    for (DimId d : b.dimsOf(element)) dims.push_back(d);
    return dims;
  }());
  return b.composite(NodeKind::ArrayOf, type, span, std::move(items));
}

NodeId Body::checkTupleIndex(const TupleIndex& t, Span span) {
  NodeId base = checkExpr(t.base);
  TypeId type = b.typeOf(base);
  if (types.kind(type) == TypeKind::Error) return b.error(span);
  if (types.kind(type) == TypeKind::Never) return base;
  if (types.kind(type) != TypeKind::Tuple || t.index >= types[type].parts.size()) {
    sink.report(DiagId::UnknownField, span, b.show(type), std::to_string(t.index));
    return b.error(span);
  }
  return b.field(base, t.index, span);
}

NodeId Body::checkMember(SynId node, TypeId expected) {
  Span span = ast.span(node);
  const auto& member = ast[node].as<Member>();
  if (ast.kind(member.base) == SynKind::Name && !lookupAny(ast[member.base].as<Name>().name)) {
    NameId base = ast[member.base].as<Name>().name;
    if (auto owned = env->dims.find(TypeResolver::ownedName(types.names, base, member.name));
        owned != env->dims.end())
      return b.dimValue(owned->second, span);
    if (ModuleId used = c.modules.prefix(module, base)) {
      if (const auto found = c.modules[used].named(member.name); !found.empty())
        if (const names::Decl& decl = c.modules.decl(found[0]);
            decl.kind == names::DeclKind::Const && decl.isPub)
          return constantValue(found[0], expected, span);
      Known known;
      known.kind = KnownKind::Overloads;
      known.module = module;
      known.candidates = functionsIn(c, used, member.name, true);
      if (!known.candidates.empty()) return templateValue(std::move(known), {}, span);
      if (auto found = publicCase(c, used, member.name))
        return caseValue(found->first, found->second, expected, span);
      sink.report(DiagId::UnknownInModule, member.nameSpan, types.names.text(base),
                  types.names.text(member.name))
          .hint = suggestPublic(c, used, member.name);
      return b.error(span);
    }
  }
  if (DeclId decl = enumNamed(member.base)) {
    std::optional<uint32_t> k = caseIn(decl, member);
    return k ? caseValue(decl, *k, expected, span) : b.error(span);
  }
  NodeId base = checkExpr(member.base);
  TypeId type = b.typeOf(base);
  if (types.kind(type) == TypeKind::Error) return b.error(span);
  if (types.kind(type) == TypeKind::Never) return base;
  if (types.kind(type) == TypeKind::Struct && !isSealed(*this, type)) {
    const types::Record& record = types.recordInfo(types[type].record);
    for (uint32_t k = 0; k < record.cases[0].fields.size(); ++k)
      if (record.cases[0].fields[k].name == member.name) return b.field(base, k, span);
    for (size_t k = 0; k < record.ownDims(); ++k)
      if (types.dims.info(record.dimParams[k]).name == types.names.text(member.name))
        return b.after(base, b.dimValue(types[type].dims[k], span), span);
  }
  if (types.kind(type) == TypeKind::Str && types.names.text(member.name) == "bytes") {
    NodeId bytes = b.make(NodeKind::Builtin, TypeId(), span, {base}, BuiltinRef{ops::BuiltinKind::StrBytes});
    DimSym size = types.dims.newSym({"bytes", types::DimSymKind::Unknown, 0, span});
    instance.nodes.edit(bytes).resultDims = {size};
    instance.nodes.edit(bytes).type = types.array(types.scalar(TypeKind::U8), {types.dims.symbol(size)});
    return bytes;
  }
  unknownField(member, type);
  return b.error(span);
}

} // namespace melix::check
