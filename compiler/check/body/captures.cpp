// What functions see of the place where they stand: lambdas and functions inside of functions capture the
// variables they name (rule 13), functions of a script its `let`s above them (rule 9).
#include "check/body/body.h"
#include "check/instances/programs.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/free_names.h"
#include "check/signatures/lookup.h"
#include "check/signatures/pack_names.h"
#include "check/signatures/scripts.h"
#include "check/signatures/template_names.h"
#include "check/tree/quotients.h"

namespace melix::check {

using namespace syntax;

namespace {

/// A capture that no name of the program means: a `let` of the script for the functions that are called.
constexpr std::string_view scriptPrefix = "script.";

} // namespace

/// Makes `node` a capture of `known` under `name`, unless there is one.
void Body::capture(Known& known, NameId name, NodeId value, std::vector<NodeId>& values) {
  if (std::find(known.captures.names.begin(), known.captures.names.end(), name) != known.captures.names.end())
    return;
  known.captures.names.push_back(name);
  known.captures.types.push_back(b.typeOf(value));
  if (const auto quotient = quotientIn(b, value)) known.captures.quotients.emplace(name, *quotient);
  values.push_back(value);
}

/// Captures what `node` names: variables, dimensions, and what the functions of the script that it names
/// need.
void Body::captureNames(SynId node, Known& known, std::vector<NodeId>& values) {
  Span span = ast.span(node);
  forEachInside(ast, node, [&](SynId s, const IsBound& isBound) {
    bool isName = ast.kind(s) == SynKind::Name;
    if (isName || ast.kind(s) == SynKind::Member) {
      NameId name = isName ? ast[s].as<Name>().name : ast[s].as<Member>().name;
      if (isName && isBound(name)) return;
      LocalId l = isName ? lookupAny(name) : LocalId::none();
      if (l) {
        used.insert(l);
        if (instance.locals[l].isVar) captured.add(l, span);
        capture(known, name, readLocal(l, span), values);
      } else if (isName && env->dims.contains(name)) {
        capture(known, name, b.dimValue(env->dims.at(name), span), values);
      } else {
        captureLets(functionsIn(c, module, name, false), known, values, span);
      }
    }
    if (ast.kind(s) == SynKind::Binary || ast.kind(s) == SynKind::OpAssign) {
      BinaryOp op = ast.kind(s) == SynKind::Binary ? ast[s].as<Binary>().op : ast[s].as<OpAssign>().op;
      NameId name = types.names.intern(spelling(op));
      if (LocalId l = lookupAny(name); l && !isBound(name)) {
        used.insert(l);
        capture(known, name, readLocal(l, span), values);
      }
    }
    if (ast.kind(s) == SynKind::PackUse && env->packs.contains(ast[s].as<Name>().name)) {
      NameId pack = ast[s].as<Name>().name;
      for (uint32_t k = 0; k < env->packs.at(pack).size(); ++k)
        capture(known, packDimName(types.names, pack, k), b.dimValue(env->packs.at(pack)[k], span), values);
    }
  });
}

/// The dimension that a captured name means: a dimension variable, or `S#k`, axis k of a pack; null if none.
DimId* Body::capturedDim(TypeEnv& of, NameId name) {
  if (auto dim = of.dims.find(name); dim != of.dims.end()) return &dim->second;
  const auto axis = packAxisOf(types.names, name);
  if (!axis) return nullptr;
  auto pack = of.packs.find(axis->pack);
  return pack == of.packs.end() ? nullptr : &pack->second[axis->axis];
}

/// The captured dimensions that the types of the captures do not tell.
std::vector<NameId> Body::undeterminedDims(const Known& known) {
  types::DimSubst told;
  for (TypeId type : known.captures.types) matchSymbols(c, type, type, told);
  TypeEnv there = known.env;
  std::vector<NameId> out;
  for (NameId name : known.captures.names)
    if (DimId* dim = capturedDim(there, name)) {
      std::vector<DimSym> symbols;
      types.dims.collectSymbols(*dim, symbols);
      if (!std::all_of(symbols.begin(), symbols.end(), [&](DimSym s) { return told.contains(s); }))
        out.push_back(name);
    }
  return out;
}

/// The `let`s of the script that functions see, under names of their own.
void Body::captureLets(const std::vector<DeclId>& functions, Known& known, std::vector<NodeId>& values,
                       Span span) {
  for (DeclId decl : functions)
    for (NameId let : c.scripts.scriptLets(decl))
      if (NodeId value = scriptLet(decl, let, span); value.valid()) {
        std::string name = std::string(scriptPrefix) + std::string(types.names.text(let));
        capture(known, types.names.intern(name), value, values);
      }
}

/// The names of a statement of the script have values from here on.
void Body::noteLets(SynId statement) {
  if (ast.kind(statement) != SynKind::Let) return;
  const std::map<NameId, uint32_t>& lets = c.scripts.scriptNames(module).lets;
  std::vector<NameId> names;
  namesInPattern(*ast.at, ast[statement].as<Let>().pattern, names);
  for (NameId name : names)
    if (auto let = lets.find(name); let != lets.end() && let->second == ast.span(statement).begin)
      if (LocalId l = lookupAny(name)) {
        scriptLets.set(name, l);
        c.scripts.scriptQuotients.erase(name);
        if (const auto quotient = quotientIn(b, b.local(l, ast.span(statement))))
          c.scripts.scriptQuotients.emplace(name, *quotient);
      }
}

/// The value of a `let` of the script for a call of `function`; none if it has none here.
NodeId Body::scriptLet(DeclId function, NameId name, Span span) {
  for (size_t k = given.size(); k-- > 0;) {
    const Given& g = given[k];
    auto at = std::find(g.names.begin(), g.names.end(), name);
    bool meant = std::find(g.functions.begin(), g.functions.end(), function) != g.functions.end();
    if (meant && at != g.names.end()) return part(g.value, static_cast<uint32_t>(at - g.names.begin()), span);
  }
  auto found = scriptLets.find(name);
  if (found == scriptLets.end()) return NodeId::none();
  used.insert(found->second);
  return b.local(found->second, span);
}

/// Capture `k` of a known function value.
NodeId Body::part(NodeId known, uint32_t k, Span span) {
  if (instance.nodes[known].kind == NodeKind::Known) return instance.nodes[known].children[k];
  TypeId type = types[b.typeOf(known)].parts[k];
  Step step{StepKind::Field, k, {}, {}, {}, 1, span};
  return b.make(NodeKind::Get, type, span, {known}, Steps{{step}});
}

/// Names that mean nothing here are told whether or not the function is called.
void Body::checkNames(SynId function) {
  checkTemplateNames(c, module, *ast.at, function, [this](NameId name) {
    return lookupAny(name) || env->dims.contains(name) || (!isScript && c.scripts.isOfScript(module, name));
  });
}

/// A lambda captures the variables it names, at the moment it is made.
NodeId Body::checkLambda(SynId node, TypeId expected) {
  for (const Parameter& p : ast[node].as<Lambda>().params) {
    if (!p.isInout && !p.defaultValue) continue;
    Span at = p.isInout ? p.span : ast.span(p.defaultValue);
    sink.report(DiagId::NoFunctionValue, at).hint =
        p.isInout ? "a lambda has no `inout` parameters: it gives the new value back"
                  : "the parameters of a lambda have no defaults; those of a function that `fn` declares may";
    return b.error(ast.span(node));
  }
  Known known;
  known.kind = KnownKind::Lambda;
  known.module = module;
  known.lambda.node = node;
  known.lambda.tree = ast.at;
  known.name = instance.name + ".lambda";
  known.env = *env;
  std::vector<NodeId> values;
  captureNames(node, known, values);
  Span span = ast.span(node);
  checkNames(node);
  NodeId value = templateValue(std::move(known), std::move(values), span);
  inside.push_back(value);
  if (expected && types.kind(infer.shallow(expected)) == TypeKind::Function)
    return asFunction(value, infer.zonk(expected), span);
  return value;
}

/// A function inside of a function: a value from here on, with what it names around it.
NodeId Body::checkNested(SynId node) {
  const SynNode& n = ast[node];
  const auto& item = n.as<FnItem>();
  if (!item.body) { // said of the declaration
    used.insert(declareLocal(item.name, types.error(), item.nameSpan, false));
    return b.error(n.span);
  }
  Known known;
  known.kind = KnownKind::Overloads;
  known.module = module;
  known.candidates = {c.declarations.nested(module, ast, node)};
  known.nesting.isNested = true;
  known.name = instance.name + "." + std::string(types.names.text(item.name));
  known.env = *env;
  known.nesting.owner = id;
  LocalId before = scope.find(item.name, blockBegin);
  if (before && !nestedAt(before)) before = LocalId::none();
  known.nesting.joins = before.valid();
  if (!isCheckedWhereDeclared(c, known.candidates[0])) checkNames(node);
  std::vector<NodeId> values;
  captureNames(node, known, values);
  NodeId value = templateValue(std::move(known), std::move(values), n.span);
  inside.push_back(value);
  if (before) {
    used.insert(before);
    value = overloadSet(before, value, n.span);
    c.declarations.checkOverloadSet(c.program_.known(types[b.typeOf(value)].known).candidates);
  }
  LocalId local = declareLocal(item.name, b.typeOf(value), item.nameSpan, false);
  return b.let(local, value);
}

/// Whether a local is a function inside of a function, or several of one name.
bool Body::nestedAt(LocalId local) {
  TypeId type = infer.zonk(instance.locals[local].type);
  return types.kind(type) == TypeKind::Known && c.program_.known(types[type].known).nesting.isNested;
}

/// The functions of a name side by side in a block, with one more: overloads.
NodeId Body::overloadSet(LocalId before, NodeId added, Span span) {
  const TypeId type = infer.zonk(instance.locals[before].type);
  const Known& above = c.program_.known(types[type].known);
  Known set;
  set.kind = KnownKind::Overloads;
  set.module = module;
  set.nesting.isNested = set.nesting.isSet = true;
  set.candidates = above.candidates;
  set.candidates.push_back(c.program_.known(types[b.typeOf(added)].known).candidates[0]);
  std::vector<NodeId> members;
  for (uint32_t k = 0; k < above.candidates.size(); ++k)
    members.push_back(above.nesting.isSet ? part(b.local(before, span), k, span) : b.local(before, span));
  members.push_back(added);
  return templateValue(std::move(set), std::move(members), span);
}

/// While `function` is called by its value: what its candidates capture is in the value.
void Body::giveCaptures(const Known& known, NodeId function) {
  KnownId id = types[b.typeOf(function)].known;
  if (!known.nesting.isSet)
    return given.push_back(
        {known.candidates, known.captures.names, function, known.nesting.isNested ? id : KnownId::none()});
  for (uint32_t k = 0; k < known.candidates.size(); ++k) {
    NodeId member = part(function, k, b.spanOf(function));
    given.push_back({{known.candidates[k]}, {}, member, types[b.typeOf(member)].known});
  }
}

/// Functions by their name, as a value: with the `let`s of the script that they see.
NodeId Body::functionValue(std::vector<DeclId> candidates, Span span) {
  Known known;
  known.kind = KnownKind::Overloads;
  known.module = module;
  std::vector<NodeId> values;
  for (DeclId decl : candidates)
    for (NameId let : c.scripts.scriptLets(decl))
      if (NodeId value = scriptLet(decl, let, span); value.valid()) capture(known, let, value, values);
  known.candidates = std::move(candidates);
  return templateValue(std::move(known), std::move(values), span);
}

/// The captures of an instance: its first parameters. Sizes visible where the function stands are found
/// through their types; the others are captures themselves, in a lambda, and dimension parameters of a
/// function.
void Body::bindCaptures(const Known& known, const std::vector<TypeId>& captured, Span span) {
  env = known.env;
  types::DimSubst there;
  for (size_t k = 0; k < captured.size(); ++k) matchSymbols(c, known.captures.types[k], captured[k], there);
  for (auto& [name, dim] : env.edit().dims) dim = types.dims.substitute(dim, there);
  for (auto& [name, pack] : env.edit().packs)
    for (DimId& d : pack) d = types.dims.substitute(d, there);
  const std::vector<NameId> untold = undeterminedDims(known);
  for (size_t k = 0; k < captured.size(); ++k) {
    NameId name = known.captures.names[k];
    std::string_view text = types.names.text(name);
    LocalId l = b.newLocal(text, captured[k], span);
    instance.params.push_back(l);
    used.insert(l);
    if (auto quotient = known.captures.quotients.find(name); quotient != known.captures.quotients.end())
      b.quotientsOutside.add(l, quotient->second);
    if (text.starts_with(scriptPrefix)) {
      scriptLets.set(types.names.intern(text.substr(scriptPrefix.size())), l);
    } else if (DimId* dim = capturedDim(env.edit(), name)) {
      if (std::find(untold.begin(), untold.end(), name) == untold.end()) continue;
      auto kind = known.nesting.isNested ? types::DimSymKind::Parameter : types::DimSymKind::Value;
      DimSym s = types.dims.newSym({std::string(text), kind, known.nesting.isNested ? 0 : INT64_MIN, span});
      if (known.nesting.isNested)
        instance.dimParams.push_back(s);
      else
        instance.locals.note(l).asDim = s;
      *dim = types.dims.symbol(s);
    } else {
      scope.add({name, l});
    }
  }
  instance.captures = static_cast<uint32_t>(captured.size());
}

/// The captures of a function inside of a function, which may call itself: gives the `let` of its own name,
/// if it does.
NodeId Body::bindNested(KnownId nested, const std::vector<TypeId>& captured, const FunctionDecl& fn) {
  bindCaptures(c.program_.known(nested), captured, fn.span);
  bool itself = false;
  std::function<void(SynId)> look = [&](SynId s) {
    itself |= ast.kind(s) == SynKind::Name && ast[s].as<Name>().name == fn.name;
    forEachChild(ast, s, look);
  };
  look(fn.body);
  if (!itself) return NodeId::none();
  std::vector<NodeId> values;
  for (LocalId l : instance.params) values.push_back(b.local(l, fn.span));
  NodeId value =
      b.make(NodeKind::Known, types.known(nested, captured), fn.span, std::move(values), KnownRef{nested});
  LocalId others = lookupAny(fn.name); // captured, unless the body's own of that name hide them
  if (c.program_.known(nested).nesting.joins && others) value = overloadSet(others, value, fn.span);
  LocalId local = b.newLocal(types.names.text(fn.name), b.typeOf(value), fn.span);
  scope.add({fn.name, local});
  return b.let(local, value);
}

/// The `let`s of the script that a function sees are its first parameters; `()` is given for one that has no
/// value yet.
void Body::bindLets(const std::vector<NameId>& lets, const std::vector<TypeId>& captured, Span span) {
  for (size_t k = 0; k < lets.size(); ++k) {
    LocalId l = b.newLocal(types.names.text(lets[k]), captured[k], span);
    instance.params.push_back(l);
    used.insert(l);
    if (types.isUnit(captured[k])) continue;
    if (auto quotient = c.scripts.scriptQuotients.find(lets[k]); quotient != c.scripts.scriptQuotients.end())
      b.quotientsOutside.add(l, quotient->second);
    scope.add({lets[k], l});
    scriptLets.set(lets[k], l);
  }
  instance.captures = static_cast<uint32_t>(lets.size());
}

} // namespace melix::check
