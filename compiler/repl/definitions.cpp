#include "repl/definitions.h"

#include <algorithm>

namespace melix::repl {

namespace {

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

/// Whether macros wrote some of what a module declares.
bool hasMade(const names::Modules& modules, names::ModuleId module) {
  for (const auto& [name, decls] : modules[module].decls.own())
    for (names::DeclId d : decls)
      if (isMade(modules, d)) return true;
  return false;
}

/// The text of an entry in which macros wrote declarations; empty if it cannot be entered again: statements
/// are not run twice, and what earlier entries have beside it is not in it.
std::string textOfEntry(const names::Modules& modules, names::ModuleId module) {
  bool isWhole = modules[module].statements.empty();
  for (const auto& [name, decls] : modules[module].decls.own())
    for (names::DeclId d : decls) isWhole = isWhole && modules.decl(d).module == module;
  return isWhole ? std::string(modules.sources.text(modules[module].ast.file)) : std::string();
}

bool isKnown(const std::map<NameId, names::ModuleId>& known, NameId name, names::ModuleId from) {
  const auto at = known.find(name);
  return at != known.end() && at->second == from;
}

bool meet(const std::set<NameId>& a, const std::set<NameId>& b) {
  return std::any_of(a.begin(), a.end(), [&b](NameId name) { return b.contains(name); });
}

} // namespace

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

bool isMade(const names::Modules& modules, names::DeclId decl) {
  return SourceStore::isExpansion(modules.astOf(decl).span(modules.decl(decl).node).file);
}

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
  for (const auto& [name, from] : modules[module].imported.own()) {
    if (isKnown(names, name, from.back())) continue; // by `connect`
    kept.erase(name);
    names[name] = from.back();
  }
  for (const auto& [name, used] : modules[module].prefixes.own()) prefixes[name] = used;
  const bool isMade = hasMade(modules, module);
  for (const auto& [name, decls] : modules[module].decls.own()) {
    names[name] = module;
    Kept& item = kept[name] = keptOf(modules, decls);
    if (!isMade) continue;
    item.entry = module;
    item.source = textOfEntry(modules, module);
  }
}

/// Leaves out entries with declarations that macros wrote unless all of what they declare can be declared
/// anew.
static void keepWholeEntries(const std::map<NameId, Kept>& kept, const std::set<NameId>& given,
                             const std::set<NameId>& replaced, std::set<NameId>& users) {
  std::set<names::ModuleId> wanted, refused;
  for (NameId name : users)
    if (names::ModuleId entry = kept.at(name).entry) wanted.insert(entry);
  for (const auto& [name, item] : kept)
    if (given.contains(name) || item.source.empty() || (item.isRecord && !replaced.contains(name)))
      refused.insert(item.entry);
  for (const auto& [name, item] : kept)
    if (item.entry && wanted.contains(item.entry)) {
      if (refused.contains(item.entry))
        users.erase(name);
      else
        users.insert(name);
    }
}

std::string Definitions::sourceOf(const std::set<NameId>& names) const {
  std::string out;
  std::set<names::ModuleId> entries;
  for (NameId name : names) {
    const Kept& item = kept.at(name);
    if (!item.entry || entries.insert(item.entry).second) out += item.source + "\n";
  }
  return out;
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
  keepWholeEntries(kept, given, replaced, out);
  return out;
}

void connect(names::Modules& modules, names::ModuleId module, const Definitions& known) {
  for (const auto& [name, from] : known.names)
    if (from != module && !modules[module].decls.contains(name) && !modules[module].imported.contains(name))
      modules.import(module, name, from);
  for (const auto& [name, used] : known.prefixes)
    if (!modules[module].prefixes.contains(name)) modules[module].prefixes[name] = used;
}

std::set<NameId> namesGivenBy(const names::Module& module, const Definitions& known) {
  std::set<NameId> out;
  for (const auto& [name, decls] : module.decls.own()) out.insert(name);
  for (const auto& [name, from] : module.imported.own())
    if (!isKnown(known.names, name, from.back())) out.insert(name);
  for (const auto& [name, used] : module.prefixes.own())
    if (!isKnown(known.prefixes, name, used)) out.insert(name);
  return out;
}

} // namespace melix::repl
