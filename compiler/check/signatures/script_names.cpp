// The variables of a script, and which of them its functions see (rule 9).
#include "check/instances/instances.h"
#include "check/instances/programs.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/generic_bodies.h"
#include "check/signatures/lookup.h"
#include "check/signatures/scripts.h"
#include "check/signatures/signature.h"

#include <algorithm>
#include <functional>

namespace melix::check {

using namespace syntax;

void namesInPattern(const Ast& ast, SynId pattern, std::vector<NameId>& out) {
  const SynNode& n = ast[pattern];
  if (n.kind == SynKind::Name) out.push_back(n.as<Name>().name);
  if (n.kind == SynKind::CasePattern) {
    for (const PatternField& f : n.as<CasePattern>().fields)
      if (f.pattern) namesInPattern(ast, f.pattern, out);
  } else {
    forEachChild(ast, pattern, [&](SynId part) { namesInPattern(ast, part, out); });
  }
}

void Scripts::seePrompt(ModuleId module, const std::vector<PromptVariable>& known) {
  promptNames_[module] = known;
}

std::set<NameId> Scripts::namesBoundIn(ModuleId module) {
  std::vector<NameId> names;
  const Ast& tree = c_.modules[module].ast;
  for (SynId statement : c_.modules[module].statements)
    if (tree.kind(statement) == SynKind::Let) namesInPattern(tree, tree[statement].as<Let>().pattern, names);
  return {names.begin(), names.end()};
}

const ScriptNames& Scripts::scriptNames(ModuleId module) {
  if (auto found = scripts_.find(module); found != scripts_.end()) return found->second;
  ScriptNames& out = scripts_[module];
  const Ast& tree = c_.modules[module].ast;
  for (SynId statement : c_.modules[module].statements) {
    if (tree.kind(statement) != SynKind::Let) continue;
    const auto& let = tree[statement].as<Let>();
    std::vector<NameId> names;
    namesInPattern(tree, let.pattern, names);
    for (NameId name : names)
      if (let.isVar || !out.lets.emplace(name, tree.span(statement).begin).second)
        (let.isVar ? out.vars : out.again).insert(name);
  }
  for (NameId name : out.again) out.lets.erase(name);
  if (auto known = promptNames_.find(module); known != promptNames_.end())
    for (const PromptVariable& v : known->second) {
      if (v.isSize || out.vars.contains(v.name) || out.again.contains(v.name) || out.lets.contains(v.name))
        continue;
      if (v.isVar) out.vars.insert(v.name);
      if (!v.isVar) out.lets.emplace(v.name, 0);
    }
  for (NameId name : out.vars) out.lets.erase(name);
  return out;
}

/// The `let`s above a function that it names, and the functions of scripts that it names.
const Scripts::NamedBy& Scripts::namedBy(DeclId decl) {
  if (auto found = namedBy_.find(decl); found != namedBy_.end()) return found->second;
  NamedBy out;
  const names::Decl declared = c_.modules.decl(decl);
  const ScriptNames& script = scriptNames(declared.module);
  const Ast& tree = c_.ast(decl);
  std::set<NameId> params;
  for (const Parameter& p : tree[declared.node].as<FnItem>().params) params.insert(p.name);
  std::function<void(SynId)> look = [&](SynId s) {
    bool isName = tree.kind(s) == SynKind::Name;
    if (isName || tree.kind(s) == SynKind::Member) {
      NameId name = isName ? tree[s].as<Name>().name : tree[s].as<Member>().name;
      auto let = script.lets.find(name);
      if (isName && params.contains(name)) return;
      if (isName && let != script.lets.end() && let->second < declared.span.begin) out.lets.insert(name);
      for (const auto& layer : functionLayers(c_, declared.module, name))
        for (DeclId other : layer)
          if (isScript(c_.modules.decl(other).module)) out.functions.push_back(other);
    }
    forEachChild(tree, s, look);
  };
  forEachChild(tree, declared.node, look);
  return namedBy_[decl] = std::move(out);
}

void Checker::forgetInstances(ModuleId changed) {
  instances.forget();
  if (!changed) return;
  signatures.forget();
  scripts.forget(changed);
}

void Scripts::forget(ModuleId changed) {
  scripts_.erase(changed);
  namedBy_.clear();
  seenLets_.clear();
}

bool Scripts::isOfScript(ModuleId module, NameId name) {
  const ScriptNames& script = scriptNames(module);
  return script.lets.contains(name) || script.vars.contains(name) || script.again.contains(name);
}

/// Whether functions of a module may see variables.
bool Scripts::isScript(ModuleId module) { return !scriptNames(module).lets.empty(); }

std::vector<NameId> Scripts::scriptLets(DeclId decl) {
  if (c_.modules.decl(decl).kind != names::DeclKind::Function || !isScript(c_.modules.decl(decl).module))
    return {};
  if (auto found = seenLets_.find(decl); found != seenLets_.end()) return found->second;
  std::set<NameId> lets;
  std::set<DeclId> reached{decl};
  std::vector<DeclId> open{decl};
  while (!open.empty()) {
    const NamedBy& named = namedBy(open.back());
    open.pop_back();
    lets.insert(named.lets.begin(), named.lets.end());
    for (DeclId other : named.functions)
      if (reached.insert(other).second) open.push_back(other);
  }
  return seenLets_[decl] = {lets.begin(), lets.end()};
}

void checkCapturingLets(Checker& c, ModuleId module, const std::map<NameId, TypeId>& lets) {
  for (DeclId decl : declsOf(c, module)) {
    if (c.scripts.scriptLets(decl).empty()) continue;
    std::vector<TypeId> captured;
    for (NameId let : c.scripts.scriptLets(decl))
      if (auto found = lets.find(let); found != lets.end()) captured.push_back(found->second);
    if (captured.size() < c.scripts.scriptLets(decl).size() ||
        !c.generics.satisfiesBounds(decl, KnownId::none(), captured))
      continue;
    instantiateDefinition(c, decl, KnownId::none(), captured);
  }
}

DeclId DeclarationTable::nested(ModuleId module, const Ast& tree, SynId node) {
  DeclId& decl = nested_[{&tree, node}];
  if (!decl) {
    const auto& item = tree[node].as<FnItem>();
    decl = c_.modules.declareInside(module, tree, node, item.name, item.nameSpan);
  }
  return decl;
}

} // namespace melix::check
