#include "repl/definitions.h"

#include <algorithm>

namespace melix::repl {

namespace {

/// Every name in a declaration, whatever it means there; operators too.
void collectMentions(const syntax::Ast& ast, syntax::NodeId node, Interner& names, std::set<NameId>& out) {
  const syntax::Node& n = ast[node];
  if (auto* name = std::get_if<syntax::Name>(&n.payload)) out.insert(name->name);
  if (auto* member = std::get_if<syntax::Member>(&n.payload)) out.insert(member->name);
  if (auto* unary = std::get_if<syntax::Unary>(&n.payload)) out.insert(names.intern(spelling(unary->op)));
  if (auto* binary = std::get_if<syntax::Binary>(&n.payload)) out.insert(names.intern(spelling(binary->op)));
  if (auto* assign = std::get_if<syntax::OpAssign>(&n.payload))
    out.insert(names.intern(spelling(assign->op)));
  forEachChild(ast, node, [&](syntax::NodeId child) { collectMentions(ast, child, names, out); });
}

Kept keptOf(names::Modules& modules, const std::vector<names::DeclId>& decls) {
  Kept out;
  out.decls = decls;
  for (names::DeclId d : decls) {
    const names::Decl& decl = modules.decl(d);
    const syntax::Ast& ast = modules.astOf(d);
    out.source += textOf(modules, d) + "\n\n";
    out.isRecord |= decl.kind == names::DeclKind::Struct || decl.kind == names::DeclKind::Enum;
    collectMentions(ast, decl.node, modules.names, out.mentions);
  }
  return out;
}

bool meet(const std::set<NameId>& a, const std::set<NameId>& b) {
  return std::any_of(a.begin(), a.end(), [&b](NameId name) { return b.contains(name); });
}

} // namespace

std::string textOf(names::Modules& modules, names::DeclId decl) {
  return std::string(modules.sources.text(modules.astOf(decl).span(modules.decl(decl).node)));
}

bool Definitions::mention(NameId name) const {
  return std::any_of(kept.begin(), kept.end(),
                     [name](const auto& item) { return item.second.mentions.contains(name); });
}

void Definitions::remove(NameId name) {
  names.erase(name);
  prefixes.erase(name);
  kept.erase(name);
}

void Definitions::add(names::Modules& modules, names::ModuleId module) {
  for (const auto& [name, from] : modules[module].imported) {
    kept.erase(name);
    names[name] = from.back();
  }
  for (const auto& [name, used] : modules[module].prefixes) prefixes[name] = used;
  for (const auto& [name, decls] : modules[module].decls) {
    names[name] = module;
    kept[name] = keptOf(modules, decls);
  }
}

std::set<NameId> Definitions::usersOf(std::set<NameId> replaced) const {
  const std::set<NameId> given = replaced;
  for (size_t before = 0; before != replaced.size();) {
    before = replaced.size();
    for (const auto& [name, item] : kept)
      if (meet(item.mentions, replaced)) replaced.insert(name);
  }
  std::set<NameId> out;
  for (const auto& [name, item] : kept)
    if (!given.contains(name) && (!item.isRecord || replaced.contains(name))) out.insert(name);
  return out;
}

std::set<NameId> namesGivenBy(const names::Module& module) {
  std::set<NameId> out;
  for (const auto& [name, decls] : module.decls) out.insert(name);
  for (const auto& [name, from] : module.imported) out.insert(name);
  for (const auto& [name, used] : module.prefixes) out.insert(name);
  return out;
}

} // namespace melix::repl
