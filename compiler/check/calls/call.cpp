// What the callee of a call means: a value, a type, an enum's case, a function by name, a module's function,
// a method.
#include "check/body/asked_through.h"
#include "check/body/attempt.h"
#include "check/body/dicts.h"
#include "check/instances/instances.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/lookup.h"
#include "check/signatures/suggestions.h"

namespace melix::check {

using namespace syntax;

NodeId Body::checkArg(const CallArg& arg, TypeId expected) {
  return arg.node.valid() ? arg.node : checkExpr(arg.syntax, expected);
}

/// Whether an expression can only name something declared: no variable in scope hides it.
bool Body::isDeclaredName(SynId s) {
  if (ast.kind(s) == SynKind::Name) return !lookupAny(ast[s].as<Name>().name);
  return ast.kind(s) == SynKind::Member && ast.kind(ast[s].as<Member>().base) == SynKind::Name &&
         !lookupAny(ast[ast[s].as<Member>().base].as<Name>().name);
}

/// Whether a name means a function inside of a function, or of a script by its value.
bool Body::isNestedName(SynId s) {
  if (ast.kind(s) != SynKind::Name) return false;
  LocalId l = lookupAny(ast[s].as<Name>().name);
  TypeId type = l ? infer.zonk(instance.locals[l].type) : types.error();
  return types.kind(type) == TypeKind::Known &&
         c.program_.known(types[type].known).kind == KnownKind::Overloads;
}

NodeId Body::checkCall(SynId node, TypeId expected) {
  const SynNode& n = ast[node];
  const auto& call = n.as<syntax::Call>();
  WrittenCall written{{}, std::nullopt, expected, n.span};
  bool named = false;
  for (const Argument& a : call.args) {
    named |= a.label.valid();
    if (named && !a.label) {
      sink.report(DiagId::PositionalAfterNamed, ast.span(a.value));
      return b.error(n.span);
    }
    written.args.push_back({a.label, a.value, NodeId::none(), ast.span(a.value)});
  }
  SynId callee = call.callee;
  if (ast.kind(callee) == SynKind::Brackets &&
      (isDeclaredName(ast[callee].as<Brackets>().base) || isNestedName(ast[callee].as<Brackets>().base))) {
    written.items = ast[callee].as<Brackets>().items;
    callee = ast[callee].as<Brackets>().base;
  }
  if (ast.kind(callee) == SynKind::Name) return callName(callee, written);
  if (ast.kind(callee) == SynKind::Member)
    return isDeclaredName(callee) ? callQualified(callee, written) : callMember(callee, written);
  return callValue(checkExpr(callee), written.args, expected, n.span);
}

/// Whether a variable that cannot be called leaves the name to functions (rule 8).
bool Body::isShadowedByFunction(LocalId local, NameId name) {
  TypeKind k = types.kind(infer.zonk(instance.locals[local].type));
  bool callable = k == TypeKind::Known || k == TypeKind::Function || k == TypeKind::Error;
  return !callable && (!functionLayers(c, module, name).empty() || findIntrinsic(types.names.text(name)));
}

NodeId Body::callName(SynId callee, WrittenCall& call) {
  NameId name = ast[callee].as<Name>().name;
  Span calleeSpan = ast.span(callee);
  if (LocalId l = lookup(name); l && !isShadowedByFunction(l, name))
    return call.items ? callOverloads(b.local(l, calleeSpan), call.args, call.explicitItems(), call.expected,
                                      call.span)
                      : callValue(readLocal(l, calleeSpan), call.args, call.expected, call.span);
  if (DeclId type = typeDecl(c, module, name)) {
    const bool isStruct = c.modules.decl(type).kind == names::DeclKind::Struct;
    if (isStruct && module != c.modules.prelude() &&
        formOf(c, c.declarations.record(type)) != types::RecordForm::Plain)
      return callDictType(*this, type, call);
    if (isStruct) return construct(type, 0, call.args, call.explicitItems(), call.expected, call.span);
    if (c.modules.decl(type).kind == names::DeclKind::TypeAlias) return constructAlias(callee, call);
  }
  if (auto found = caseNamed(name, call.expected, calleeSpan)) {
    if (!found->first) return b.error(call.span);
    return construct(found->first, found->second, call.args, call.explicitItems(), call.expected, call.span);
  }
  const std::vector<std::vector<DeclId>> layers = functionLayers(c, module, name);
  bool hidden = !functionsIn(c, module, name, false).empty(); // this module's own go first
  if (DeclId constant = hidden ? DeclId::none() : constDecl(c, module, name);
      constant && (isFunction(constant) || (layers.empty() && !findIntrinsic(types.names.text(name)))))
    return callValue(constantValue(constant, TypeId::none(), calleeSpan), call.args, call.expected,
                     call.span);
  return callNamed(name, layers, call.args, call.explicitItems(), call.expected, call.span, calleeSpan);
}

/// Whether a constant is a function value; one that is being checked is not known to be one.
bool Body::isFunction(DeclId constant) {
  InstanceKey itself;
  itself.decl = constant;
  const TypeId made = c.program_.instance(c.instances.instantiate(itself, Span())).result;
  if (!made) return false;
  TypeKind k = types.kind(made);
  return k == TypeKind::Known || k == TypeKind::Function;
}

/// An alias of a struct makes values as the struct does.
NodeId Body::constructAlias(SynId callee, WrittenCall& call) {
  TypeId type = resolveType(callee, false);
  if (types.kind(type) == TypeKind::Error) return b.error(call.span);
  if (types.kind(type) != TypeKind::Struct) {
    sink.report(DiagId::NotCallable, ast.span(callee), b.show(type));
    return b.error(call.span);
  }
  return construct(DeclId(types.recordInfo(types[type].record).declaration), 0, call.args, nullptr, type,
                   call.span);
}

/// The case a capitalised name stands for: of the enum expected, else of the enums in scope (rule 34). Of no
/// enum where a message has told that several have it.
std::optional<std::pair<DeclId, uint32_t>> Body::caseNamed(NameId name, TypeId expected, Span span) {
  if (!isCapital(types.names.text(name))) return std::nullopt;
  TypeId want = expected ? infer.shallow(expected) : TypeId::none();
  if (want && types.kind(want) == TypeKind::Enum && !types.recordInfo(types[want].record).tangentOf) {
    DeclId wanted(types.recordInfo(types[want].record).declaration);
    const auto& all = c.ast(wanted)[c.modules.decl(wanted).node].as<EnumItem>().cases;
    for (uint32_t k = 0; k < all.size(); ++k)
      if (all[k].name == types.names.spelling(name)) return std::pair(wanted, k);
  }
  std::vector<std::pair<DeclId, uint32_t>> cases = casesNamed(c, module, name);
  if (cases.empty()) return std::nullopt;
  if (cases.size() > 1) {
    std::string_view other = types.names.text(c.modules.decl(cases[1].first).name);
    std::string_view text = types.names.text(name);
    sink.report(DiagId::AmbiguousCase, span, text, types.names.text(c.modules.decl(cases[0].first).name),
                other);
    return std::pair(DeclId::none(), 0U);
  }
  return cases[0];
}

/// The enum that `E` or `module.E` names.
DeclId Body::enumNamed(SynId node) {
  if (!isDeclaredName(node)) return DeclId::none();
  DeclId decl = typeDecl(c, module, ast, node);
  return decl && c.modules.decl(decl).kind == names::DeclKind::Enum ? decl : DeclId::none();
}

/// The case of an enum that a member names; none after a message.
std::optional<uint32_t> Body::caseIn(DeclId decl, const Member& member) {
  const auto& cases = c.ast(decl)[c.modules.decl(decl).node].as<EnumItem>().cases;
  for (uint32_t k = 0; k < cases.size(); ++k)
    if (cases[k].name == member.name) return k;
  std::vector<std::string_view> known;
  for (const CaseDecl& each : cases) known.push_back(types.names.text(each.name));
  sink.report(DiagId::UnknownCase, member.nameSpan, types.names.text(c.modules.decl(decl).name),
              types.names.text(member.name))
      .hint = nearOrListed(types.names.text(member.name), known);
  return std::nullopt;
}

/// `module.f(…)`, `module.Type(…)`, `Enum.Case(…)`, or a method of something declared.
NodeId Body::callQualified(SynId callee, WrittenCall& call) {
  const auto& member = ast[callee].as<Member>();
  NameId base = ast[member.base].as<Name>().name;
  if (ModuleId used = c.modules.prefix(module, base)) return callInModule(used, member, call);
  return callMember(callee, call);
}

/// `m.f(…)` looks in the module, then in the home modules of the arguments' types (rule 8).
NodeId Body::callInModule(ModuleId in, const Member& member, WrittenCall& call) {
  const std::span<const DeclId> named = c.modules[in].named(member.name);
  const DeclId found = named.empty() ? DeclId::none() : named[0];
  if (found && c.modules.decl(found).kind == names::DeclKind::Const && c.modules.decl(found).isPub)
    return callValue(constantValue(found, TypeId::none(), member.nameSpan), call.args, call.expected,
                     call.span);
  if (found && c.modules.decl(found).kind == names::DeclKind::Struct)
    return construct(found, 0, call.args, call.explicitItems(), call.expected, call.span);
  if (auto of = publicCase(c, in, member.name))
    return construct(of->first, of->second, call.args, call.explicitItems(), call.expected, call.span);
  std::vector<std::vector<DeclId>> layers{functionsIn(c, in, member.name, true)};
  if (layers[0].empty()) {
    layers.clear();
    bool any = false;
    for (CallArg& arg : call.args) {
      arg.node = checkArg(arg);
      for (ModuleId home : homeModules(b.typeOf(arg.node)))
        any |= !functionsAtHome(c, home, member.name).empty();
    }
    if (!any) {
      sink.report(DiagId::UnknownInModule, member.nameSpan,
                  types.names.text(ast[member.base].as<Name>().name), types.names.text(member.name))
          .hint = suggestPublic(c, in, member.name);
      return b.error(call.span);
    }
  }
  return callNamed(member.name, layers, call.args, call.explicitItems(), call.expected, call.span,
                   member.nameSpan);
}

/// `x.f(…)`: the field `f` if there is one, else `f(x, …)` (rule 8).
NodeId Body::callMember(SynId callee, WrittenCall& call) {
  const auto& member = ast[callee].as<Member>();
  if (DeclId decl = enumNamed(member.base)) {
    std::optional<uint32_t> k = caseIn(decl, member);
    return k ? construct(decl, *k, call.args, call.explicitItems(), call.expected, call.span)
             : b.error(call.span);
  }
  Target place;
  Attempt attempt(*this);
  bool isPlace = partOf(member.base, place, false);
  isPlace ? attempt.keep() : attempt.drop();
  bool direct = isPlace && place.openings.empty() && place.before.empty();
  NodeId base = direct ? readPlace(place.place, ast.span(member.base))
                       : checkAsked(*this, member.base, askedOfReceiver(*this, member, call.expected));
  NodeId whole = unpacked(base, ast.span(member.base));
  TypeId type = b.typeOf(whole);
  if (types.kind(type) == TypeKind::Error) return base;
  if (types.kind(type) == TypeKind::Struct) {
    const types::Record& record = types.recordInfo(types[type].record);
    for (uint32_t k = 0; k < record.cases[0].fields.size(); ++k)
      if (record.cases[0].fields[k].name == member.name)
        return callValue(b.field(whole, k, ast.span(callee)), call.args, call.expected, call.span);
  }
  CallArg receiver{NameId::none(), isPlace ? member.base : SynId::none(), base, ast.span(member.base)};
  call.args.insert(call.args.begin(), receiver);
  if (LocalId l = lookup(member.name)) // a local function
    if (TypeKind k = types.kind(infer.zonk(instance.locals[l].type));
        k == TypeKind::Known || k == TypeKind::Function)
      return callValue(readLocal(l, ast.span(callee)), call.args, call.expected, call.span);
  if (DeclId constant = constDecl(c, module, member.name); constant && isFunction(constant))
    return callValue(constantValue(constant, TypeId::none(), member.nameSpan), call.args, call.expected,
                     call.span);
  return callNamed(member.name, functionLayers(c, module, member.name), call.args, call.explicitItems(),
                   call.expected, call.span, member.nameSpan);
}

} // namespace melix::check
