// What functions see of the place where they stand: lambdas and functions inside of functions capture the
// variables they name (rule 13), functions of a script its `let`s above them (rule 9).
#include "check/body.h"

namespace melix::check {

using namespace syntax;

namespace {

/// A capture that no name of the program means: a `let` of the script for the functions that are called.
constexpr std::string_view scriptPrefix = "script.";

} // namespace

/// Makes `node` a capture of `known` under `name`, unless there is one.
void Body::capture(Known& known, NameId name, NodeId value, std::vector<NodeId>& values) {
  if (std::find(known.captureNames.begin(), known.captureNames.end(), name) != known.captureNames.end())
    return;
  known.captureNames.push_back(name);
  known.captureTypes.push_back(b.typeOf(value));
  values.push_back(value);
}

/// Captures what `node` names: variables, dimensions, and what the functions of the script that it names
/// need.
void Body::captureNames(SynId node, Known& known, std::vector<NodeId>& values) {
  Span span = ast.span(node);
  std::function<void(SynId)> look = [&](SynId s) {
    bool isName = ast.kind(s) == SynKind::Name;
    if (isName || ast.kind(s) == SynKind::Member) {
      NameId name = isName ? ast[s].as<Name>().name : ast[s].as<Member>().name;
      LocalId l = isName ? lookupAny(name) : LocalId::none();
      if (l) {
        used.insert(l);
        capture(known, name, readLocal(l, span), values);
      } else if (isName && env.dims.contains(name)) {
        capture(known, name, b.dimValue(env.dims[name], span), values);
      } else {
        captureLets(c.functionsIn(module, name, false), known, values, span);
      }
    }
    forEachChild(ast, s, look);
  };
  forEachChild(ast, node, look);
}

/// The `let`s of the script that functions see, under names of their own.
void Body::captureLets(const std::vector<DeclId>& functions, Known& known, std::vector<NodeId>& values,
                       Span span) {
  for (DeclId decl : functions)
    for (NameId let : c.scriptLets(decl))
      if (NodeId value = scriptLet(decl, let, span); value.valid()) {
        std::string name = std::string(scriptPrefix) + std::string(types.names.text(let));
        capture(known, types.names.intern(name), value, values);
      }
}

/// The names of a statement of the script have values from here on.
void Body::noteLets(SynId statement) {
  if (ast.kind(statement) != SynKind::Let) return;
  for (const auto& [name, begin] : c.scriptNames(module).lets)
    if (LocalId l = lookupAny(name); l && begin == ast.span(statement).begin) scriptLets[name] = l;
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
  return found == scriptLets.end() ? NodeId::none() : b.local(found->second, span);
}

/// Capture `k` of a known function value.
NodeId Body::part(NodeId known, uint32_t k, Span span) {
  if (instance.nodes[known].kind == NodeKind::Known) return instance.nodes[known].children[k];
  TypeId type = types[b.typeOf(known)].parts[k];
  Step step{StepKind::Field, k, {}, {}, {}, 1, span};
  return b.make(NodeKind::Get, type, span, {known}, Steps{{step}});
}

/// A lambda captures the variables it names, at the moment it is made.
NodeId Body::checkLambda(SynId node, TypeId expected) {
  Known known;
  known.kind = KnownKind::Lambda;
  known.module = module;
  known.lambda = node;
  known.tree = ast.at;
  known.name = instance.name + ".lambda";
  known.env = env;
  std::vector<NodeId> values;
  captureNames(node, known, values);
  Span span = ast.span(node);
  NodeId value = templateValue(std::move(known), std::move(values), span);
  if (expected && types.kind(infer.shallow(expected)) == TypeKind::Function)
    return asFunction(value, infer.zonk(expected), span);
  return value;
}

/// A function inside of a function: a value from here on, with what it names around it.
NodeId Body::checkNested(SynId node) {
  const SynNode n = ast[node];
  const auto item = n.as<FnItem>();
  Known known;
  known.kind = KnownKind::Overloads;
  known.module = module;
  known.candidates = {c.nested(module, ast, node)};
  known.isNested = true;
  known.name = instance.name + "." + std::string(types.names.text(item.name));
  known.env = env;
  known.owner = id;
  std::vector<NodeId> values;
  captureNames(node, known, values);
  NodeId value = templateValue(std::move(known), std::move(values), n.span);
  LocalId local = declareLocal(item.name, b.typeOf(value), item.nameSpan, false);
  return b.let(local, value);
}

/// Functions by their name, as a value: with the `let`s of the script that they see.
NodeId Body::functionValue(std::vector<DeclId> candidates, Span span) {
  Known known;
  known.kind = KnownKind::Overloads;
  known.module = module;
  std::vector<NodeId> values;
  for (DeclId decl : candidates)
    for (NameId let : c.scriptLets(decl))
      if (NodeId value = scriptLet(decl, let, span); value.valid()) capture(known, let, value, values);
  known.candidates = std::move(candidates);
  return templateValue(std::move(known), std::move(values), span);
}

/// The captures of an instance: its first parameters. Sizes visible where the function stands are found
/// through their types, or are captures themselves.
void Body::bindCaptures(const Known& known, const std::vector<TypeId>& captured, Span span) {
  env = known.env;
  types::DimSubst there;
  for (size_t k = 0; k < captured.size(); ++k) c.matchSymbols(known.captureTypes[k], captured[k], there);
  for (auto& [name, dim] : env.dims) dim = types.dims.substitute(dim, there);
  for (auto& [name, pack] : env.packs)
    for (DimId& d : pack) d = types.dims.substitute(d, there);
  std::set<DimSym> mine;
  std::vector<DimSym> symbols;
  for (TypeId t : captured) types.collectSymbols(t, symbols);
  mine.insert(symbols.begin(), symbols.end());
  for (size_t k = 0; k < captured.size(); ++k) {
    NameId name = known.captureNames[k];
    std::string_view text = types.names.text(name);
    LocalId l = b.newLocal(text, captured[k], span);
    instance.params.push_back(l);
    used.insert(l);
    if (text.starts_with(scriptPrefix)) {
      scriptLets[types.names.intern(text.substr(scriptPrefix.size()))] = l;
    } else if (auto dim = env.dims.find(name); dim != env.dims.end()) { // a captured dimension
      std::vector<DimSym> left;
      types.dims.collectSymbols(dim->second, left);
      if (std::all_of(left.begin(), left.end(), [&](DimSym s) { return mine.contains(s); })) continue;
      DimSym s = types.dims.newSym({std::string(text), types::DimSymKind::Value, INT64_MIN, span});
      instance.locals[l].asDim = s;
      dim->second = types.dims.symbol(s);
    } else {
      scope.push_back({name, l});
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
  LocalId local = b.newLocal(types.names.text(fn.name), b.typeOf(value), fn.span);
  scope.push_back({fn.name, local});
  return b.let(local, value);
}

/// The `let`s of the script that a function sees are its first parameters.
void Body::bindLets(const std::vector<NameId>& lets, const std::vector<TypeId>& captured, Span span) {
  for (size_t k = 0; k < lets.size(); ++k) {
    LocalId l = b.newLocal(types.names.text(lets[k]), captured[k], span);
    instance.params.push_back(l);
    used.insert(l);
    scope.push_back({lets[k], l});
    scriptLets[lets[k]] = l;
  }
  instance.captures = static_cast<uint32_t>(lets.size());
}

} // namespace melix::check
