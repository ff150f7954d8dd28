// Whole modules: what a program runs, its tests, and functions of the library by name.
#include "check/instances/programs.h"

#include "check/body/body.h"
#include "check/body/statements.h"
#include "check/instances/instances.h"
#include "check/signatures/bounds.h"
#include "check/signatures/call_order.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/generic_bodies.h"
#include "check/signatures/lookup.h"
#include "check/signatures/repeated_names.h"
#include "check/signatures/scripts.h"

#include <cstdio>

namespace melix::check {

using namespace syntax;

namespace {

/// Structs and enums, their type parameters as types of their own.
void checkRecords(Checker& c, const std::vector<DeclId>& decls) {
  for (DeclId decl : decls) {
    names::DeclKind kind = c.modules.decl(decl).kind;
    if (kind != names::DeclKind::Struct && kind != names::DeclKind::Enum) continue;
    c.declarations.recordAt(decl, c.generics.paramTypes(decl, c.declarations.record(decl).generics), 0);
  }
}

/// A `main` with parameters in `[…]`, which nothing gives.
bool isGenericMain(Checker& c, ModuleId module, DeclId decl) {
  if (!c.modules[module].isRoot || c.modules[module].isEntry ||
      c.types.names.text(c.modules.decl(decl).name) != "main")
    return false;
  const auto& generics = c.declarations.function(decl).generics;
  return std::any_of(generics.begin(), generics.end(), [](const GenericParam& g) { return g.declared; });
}

bool hasDefaults(const RecordDecl& record) {
  return std::any_of(record.defaults.begin(), record.defaults.end(), [](const std::vector<SynId>& fields) {
    return std::any_of(fields.begin(), fields.end(), [](SynId value) { return value.valid(); });
  });
}

/// The statements of a script, one after another.
void addStatements(Body& body, const std::vector<SynId>& statements, std::vector<NodeId>& nodes) {
  bool isReached = true;
  for (size_t k = 0; k < statements.size(); ++k) {
    nodes.push_back(body.checkStatement(statements[k], false, TypeId::none()));
    body.noteLets(statements[k]);
    isReached = isReached && (k + 1 == statements.size() || reaches(body, nodes.back(), statements[k + 1]));
  }
}

/// The functions that see variables of a script whose body is checked; what they see is used.
void checkSeeing(Checker& checker, Body& body, ModuleId module) {
  std::map<NameId, TypeId> lets;
  for (const auto& [name, local] : body.scriptLets) lets.emplace(name, body.instance.locals[local].type);
  checkCapturingLets(checker, module, lets);
  std::set<NameId> seen;
  for (const auto& [name, same] : checker.modules[module].decls.own())
    for (DeclId decl : same)
      if (checker.modules.decl(decl).module == module)
        for (NameId let : checker.scripts.scriptLets(decl)) seen.insert(let);
  for (const auto& [name, local] : body.scriptLets)
    if (seen.contains(name)) body.used.insert(local);
}

/// The program as the runtime calls it: an `Err` is printed and ends with status 1, else the status is 0.
InstanceId entryOf(Checker& c, InstanceId inner, ModuleId root) {
  const Span span; // nothing of it is in the source
  InstanceId id = c.instances.addInstance({});
  c.instances.info(id).inProgress = true;
  Instance& instance = c.program_.instance(id);
  instance.name = "entry";
  instance.key = "entry";
  Body body(c, id, root, c.modules[root].ast);
  CallTarget target;
  target.instance = inner;
  NodeId call = body.b.make(NodeKind::Call, c.program_.instance(inner).result, span, {}, std::move(target));
  std::vector<NodeId> nodes;
  if (c.types.kind(c.program_.instance(inner).result) == TypeKind::Enum)
    nodes.push_back(body.callPrelude("command_status", {call}, span));
  else
    nodes.push_back(call);
  nodes.push_back(body.b.integer(0, span));
  c.instances.finish(id, body, body.b.block(std::move(nodes), span), c.types.int64());
  instance.failed |= c.program_.instance(inner).failed;
  return id;
}

/// A name as it is shown, in one line: controls are the escapes that a literal may hold.
std::string shownName(std::string_view name) {
  std::string out;
  for (char c : name) {
    char escape[16] = {c};
    const bool isControl = (c >= 0 && c < ' ') || c == 0x7f;
    if (isControl) std::snprintf(escape, sizeof escape, "\\u{%x}", static_cast<unsigned>(c));
    out += escape;
  }
  return out;
}

/// Adds an instance without parameters that a test or a bench runs; `fill` gives the value of its body.
void addBlock(Checker& checker, ModuleId module, std::string_view word, std::string_view name, Span span,
              Checker::NamedInstances& out, FunctionRef<NodeId(Body&)> fill) {
  InstanceId id = checker.instances.addInstance({});
  checker.instances.info(id).inProgress = true;
  Instance& instance = checker.program_.instance(id);
  const std::string shown = shownName(name);
  instance.name = std::string(word) + " \"" + shown + "\"";
  instance.key = std::string(word) + " " + std::to_string(out.size());
  Body body(checker, id, module, checker.modules[module].ast);
  body.mayReturn = false;
  NodeId value = body.b.block({fill(body), body.b.unit(span)}, span);
  checker.instances.finish(id, body, value, checker.types.unit());
  if (body.isScript) checkSeeing(checker, body, module);
  body.warnUnused();
  out.push_back({shown, id});
}

/// The `test` blocks of a module.
void addTests(Checker& checker, ModuleId module, std::string_view filter, Checker::NamedInstances& out) {
  const Ast& tree = checker.modules[module].ast;
  for (SynId node : checker.modules[module].tests) {
    const auto& item = tree[node].as<TestItem>();
    if (item.name.find(filter) == std::string::npos) continue;
    addBlock(checker, module, "test", item.name, tree.span(node), out,
             [&](Body& body) { return body.dropped(body.checkExpr(item.body), item.body); });
  }
}

/// An example: its declarations, its tests, and its statements as one; without any of these it is a test too.
void addExample(Checker& checker, const names::Example& example, std::string_view filter,
                Checker::NamedInstances& out) {
  checker.checkModule(example.module);
  addTests(checker, example.module, filter, out);
  const names::Module& module = checker.modules[example.module];
  const bool isOnlyTests = module.statements.empty() && !module.tests.empty();
  if (isOnlyTests || example.name.find(filter) == std::string::npos) return;
  addBlock(checker, example.module, "test", example.name, Span(), out, [&](Body& body) {
    body.isScript = true;
    std::vector<NodeId> nodes;
    addStatements(body, module.statements, nodes);
    nodes.push_back(body.b.unit(Span()));
    return body.b.block(std::move(nodes), Span());
  });
}

} // namespace

/// The declarations of a module in the order in which they stand there.
std::vector<DeclId> declsOf(Checker& c, ModuleId module) {
  std::vector<DeclId> decls;
  for (const auto& [name, same] : c.modules[module].decls.own())
    decls.insert(decls.end(), same.begin(), same.end());
  std::erase_if(decls,
                [&](DeclId d) { return c.modules.decl(d).module != module; }); // passed on by `pub use`
  std::sort(decls.begin(), decls.end());
  return decls;
}

/// The instance of a function that is made where it is declared; none for templates, which are checked where
/// they are used, and where nothing says which types it is for.
std::optional<InstanceKey> keyOfDefinition(Checker& c, const FunctionDecl& fn) {
  if (fn.hasUntyped() || !fn.builtin.empty()) return std::nullopt;
  InstanceKey key;
  key.decl = fn.decl;
  for (const GenericParam& g : fn.generics) {
    if (g.kind == GenericKind::Pack || (g.kind == GenericKind::Type && !g.bound)) return std::nullopt;
    if (g.kind != GenericKind::Type) continue;
    // Derivatives are looked at on Core, which needs a type: one that meets the bound. A body for any
    // structure may well not be one for a single float.
    std::string_view bound = c.types.names.text(g.bound);
    if (!paramBoundBy(bound) || bound == "Differentiable") return std::nullopt;
    key.typeArgs.push_back(bound == "Int" || bound == "Hash" ? c.types.int64()
                                                             : c.types.scalar(TypeKind::F32));
  }
  const Signature& signature = c.signatures.of(fn.decl);
  return signature.packs.empty() && !signature.impliesTypes() ? std::optional(key) : std::nullopt;
}

InstanceId instantiateDefinition(Checker& c, DeclId decl, KnownId known,
                                 const std::vector<TypeId>& captured) {
  std::optional<InstanceKey> key = keyOfDefinition(c, FunctionDecl(c.declarations.function(decl)));
  if (!key) return InstanceId::none();
  key->known = known;
  key->typeArgs.insert(key->typeArgs.end(), captured.begin(), captured.end());
  key->typeArgs = c.instances.canonical(key->typeArgs).types;
  return c.instances.instantiate(*key, Span());
}

/// Checks types and functions; functions that see variables of the script are checked when these have types.
std::vector<InstanceId> Checker::checkModule(ModuleId module) {
  std::vector<InstanceId> checked;
  const std::vector<DeclId> decls = declsOf(*this, module);
  checkRecords(*this, decls); // before overloads are tried: what is wrong with a type is said here
  checkOverloads(*this, module);
  checkRepeatedNames(sink, types.names, modules[module].ast);
  checkInside(*this, module);
  for (DeclId decl : calleesFirst(modules, module, decls)) {
    checkDeclaration(*this, decl);
    names::DeclKind kind = modules.decl(decl).kind;
    if (kind == names::DeclKind::Concept) sink.report(DiagId::NoConcepts, modules.decl(decl).span);
    if (kind == names::DeclKind::Concept || kind == names::DeclKind::Macro) continue;
    if ((kind == names::DeclKind::Struct || kind == names::DeclKind::Enum) &&
        hasDefaults(declarations.record(decl))) {
      InstanceKey key;
      key.decl = decl;
      key.typeArgs = generics.paramTypes(decl, declarations.record(decl).generics);
      instances.instantiate(key, Span());
    }
    if (kind != names::DeclKind::Function) continue;
    if (isGenericMain(*this, module, decl)) {
      sink.report(DiagId::MainGeneric, declarations.function(decl).span);
      continue;
    }
    if (!scripts.scriptLets(decl).empty() || !generics.satisfiesBounds(decl, KnownId::none(), {})) continue;
    if (InstanceId made = instantiateDefinition(*this, decl, KnownId::none(), {})) checked.push_back(made);
  }
  if (!modules[module].macroFunctions.empty()) modules.macroSide(module); // with all that there is now
  for (DeclId macro : modules[module].macroFunctions)
    instantiateDefinition(*this, macro, KnownId::none(), {});
  return checked;
}

InstanceId Checker::libraryFunction(std::string_view moduleName, std::string_view name) {
  ModuleId module = moduleName.empty() ? modules.prelude() : modules.load(std::string(moduleName), Span());
  if (!module) return InstanceId::none();
  std::vector<DeclId> found = functionsIn(*this, module, types.names.intern(name), false);
  if (found.empty()) return InstanceId::none();
  InstanceKey key;
  key.decl = found[0];
  return instances.instantiate(key, Span());
}

InstanceId Checker::program(ModuleId root) {
  const Ast& tree = modules[root].ast;
  InstanceId id = instances.addInstance({});
  Instance& instance = program_.instance(id);
  instance.name = "script";
  instance.key = "program";
  instances.info(id).inProgress = true;
  Body body(*this, id, root, tree);
  body.mayReturn = true;
  body.isScript = true;
  const Span span; // what no statement says has no place
  // A script may end early with an error: `?` returns a Result.
  DeclId resultDecl = typeDecl(*this, modules.prelude(), types.names.intern("Result"));
  DeclId errorDecl = typeDecl(*this, modules.prelude(), types.names.intern("Error"));
  TypeId resultType =
      resultDecl && errorDecl
          ? declarations.recordType(resultDecl, {types.unit(), declarations.recordType(errorDecl, {})})
          : types.unit();
  body.returnType = resultType;
  std::vector<NodeId> nodes;
  std::vector<DeclId> mains = functionsIn(*this, root, types.names.intern("main"), false);
  std::vector<TypeId> params;
  for (size_t k = 1; k < mains.size(); ++k)
    sink.report(DiagId::MainTwice, modules.decl(mains[k]).span)
        .notes.push_back({modules.decl(mains[0]).span, "the other is declared here"});
  if (!mains.empty() && isGenericMain(*this, root, mains[0])) mains.clear(); // told of where it is declared
  if (!mains.empty())
    params = body.declareCommandLine(declarations.function(mains[0]),
                                     tree.docOf(modules.decl(mains[0]).node, modules.sources), nodes);
  addStatements(body, modules[root].statements, nodes);
  if (!mains.empty())
    nodes.push_back(body.callMain(mains[0], FunctionDecl(declarations.function(mains[0])), params));
  if (types.kind(resultType) == TypeKind::Enum) {
    NodeId fine = body.b.make(NodeKind::Variant, resultType, span, {body.b.unit(span)},
                              Index{body.caseNumber(resultType, "Ok")});
    nodes.push_back(fine);
  } else {
    nodes.push_back(body.b.unit(span));
  }
  NodeId value = body.b.block(std::move(nodes), span);
  instance.nodes.edit(value).type = resultType;
  instances.finish(id, body, value, resultType);
  checkSeeing(*this, body, root);
  body.warnUnused();
  return entryOf(*this, id, root);
}

Checker::NamedInstances Checker::tests(ModuleId root, std::string_view filter) {
  NamedInstances out;
  inTest = true;
  addTests(*this, root, filter, out);
  for (const names::Example& example : modules.examples(root)) addExample(*this, example, filter, out);
  inTest = false;
  return out;
}

Checker::NamedInstances Checker::benches(ModuleId root, std::string_view filter) {
  NamedInstances out;
  const Ast& tree = modules[root].ast;
  inTest = true;
  for (SynId node : modules[root].benches) {
    const auto& item = tree[node].as<TestItem>();
    if (item.name.find(filter) == std::string::npos) continue;
    addBlock(*this, root, "bench", item.name, tree.span(node), out, [&](Body& body) {
      NodeId value = body.checkExpr(item.body);
      const TypeId type = body.b.typeOf(value);
      const bool isKept = body.determinesType(type) && !body.types.isUnit(type);
      if (!isKept) return value;
      std::vector<NodeId> nodes;
      const NodeId made = body.b.local(body.b.bind("value", value, nodes), body.b.spanOf(value));
      nodes.push_back(body.b.make(NodeKind::BlackBox, type, body.b.spanOf(value), {made}));
      return body.b.block(std::move(nodes), body.b.spanOf(value));
    });
  }
  inTest = false;
  return out;
}

uint32_t Body::caseNumber(TypeId type, std::string_view name) {
  const types::Record& r = types.recordInfo(types[infer.shallow(type)].record);
  for (uint32_t k = 0; k < r.cases.size(); ++k)
    if (types.names.text(r.cases[k].name) == name) return k;
  return 0;
}

} // namespace melix::check
