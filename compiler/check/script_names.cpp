// The variables of a script, and which of them its functions see (rule 9).
#include "check/checker.h"

#include <algorithm>
#include <functional>

namespace melix::check {

using namespace syntax;

namespace {

/// The names that a pattern binds.
void boundNames(const Ast& ast, SynId pattern, std::vector<NameId>& out) {
  const SynNode& n = ast[pattern];
  if (n.kind == SynKind::Name) out.push_back(n.as<Name>().name);
  if (n.kind == SynKind::CasePattern) {
    for (const PatternField& f : n.as<CasePattern>().fields)
      if (f.pattern) boundNames(ast, f.pattern, out);
  } else {
    forEachChild(ast, pattern, [&](SynId part) { boundNames(ast, part, out); });
  }
}

} // namespace

const Checker::ScriptNames& Checker::scriptNames(ModuleId module) {
  if (auto found = scripts_.find(module); found != scripts_.end()) return found->second;
  ScriptNames& out = scripts_[module];
  const Ast& tree = modules[module].ast;
  for (SynId statement : modules[module].statements) {
    if (tree.kind(statement) != SynKind::Let) continue;
    const auto& let = tree[statement].as<Let>();
    std::vector<NameId> names;
    boundNames(tree, let.pattern, names);
    for (NameId name : names)
      if (let.isVar)
        out.vars.insert(name);
      else if (!out.lets.emplace(name, tree.span(statement).begin).second)
        out.again.insert(name);
  }
  for (NameId name : out.again) out.lets.erase(name);
  if (out.lets.empty()) return out;
  // What each function names itself, then what those that it calls see.
  std::map<DeclId, std::set<DeclId>> calls;
  for (const auto& [name, same] : modules[module].decls)
    for (DeclId decl : same)
      if (modules.decl(decl).kind == names::DeclKind::Function) namedBy(decl, out, calls[decl]);
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [decl, callees] : calls)
      for (DeclId callee : callees)
        for (NameId let : std::set<NameId>(out.seen[callee])) changed |= out.seen[decl].insert(let).second;
  }
  return out;
}

/// The `let`s above a function that it names, and the functions of its module that it names.
void Checker::namedBy(DeclId decl, ScriptNames& script, std::set<DeclId>& functions) {
  const Ast& tree = ast(decl);
  const auto& item = tree[modules.decl(decl).node].as<FnItem>();
  std::set<NameId> params;
  for (const Parameter& p : item.params) params.insert(p.name);
  std::function<void(SynId)> look = [&](SynId s) {
    bool isName = tree.kind(s) == SynKind::Name;
    if (isName || tree.kind(s) == SynKind::Member) {
      NameId name = isName ? tree[s].as<Name>().name : tree[s].as<Member>().name;
      auto let = script.lets.find(name);
      if (isName && let != script.lets.end() && !params.contains(name) &&
          let->second < modules.decl(decl).span.begin)
        script.seen[decl].insert(name);
      for (DeclId other : functionsIn(modules.decl(decl).module, name, false))
        if (!isName || !params.contains(name)) functions.insert(other);
    }
    forEachChild(tree, s, look);
  };
  forEachChild(tree, modules.decl(decl).node, look);
}

std::vector<NameId> Checker::scriptLets(DeclId decl) {
  ModuleId module = modules.decl(decl).module;
  if (modules[module].statements.empty()) return {};
  const ScriptNames& script = scriptNames(module);
  auto found = script.seen.find(decl);
  if (found == script.seen.end()) return {};
  return {found->second.begin(), found->second.end()};
}

DeclId Checker::nested(ModuleId module, const Ast& tree, SynId node) {
  DeclId& decl = nested_[{&tree, node}];
  if (!decl) {
    const auto& item = tree[node].as<FnItem>();
    decl = modules.declareInside(module, tree, node, item.name, item.nameSpan);
  }
  return decl;
}

} // namespace melix::check
