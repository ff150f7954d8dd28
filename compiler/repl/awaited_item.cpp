#include "repl/awaited_item.h"

#include <algorithm>

namespace melix::repl {

using namespace syntax;

namespace {

/// The innermost use at the end of an entry, if nothing stands behind it.
NodeId lastUse(const Ast& entry) {
  const NodeList& all = entry[entry.root].as<Many>().items;
  NodeId last = all.empty() ? NodeId::none() : all.back();
  while (last && entry.kind(last) == NodeKind::MacroUse && entry[last].as<MacroUse>().target)
    last = entry[last].as<MacroUse>().target;
  return last && entry.kind(last) == NodeKind::MacroUse ? last : NodeId::none();
}

/// The macros that a path means.
std::vector<names::DeclId> macrosOf(names::Modules& modules, const Definitions& known, const Ast& entry,
                                    NodeId path, const Interner& written) {
  auto named = [&](NameId name) { return modules.names.intern(std::string(written.text(name))); };
  names::ModuleId from;
  NameId name;
  if (entry.kind(path) == NodeKind::Member) {
    const auto& member = entry[path].as<Member>();
    if (entry.kind(member.base) != NodeKind::Name) return {};
    name = named(member.name);
    if (auto at = known.prefixes.find(named(entry[member.base].as<Name>().name)); at != known.prefixes.end())
      from = at->second;
  } else if (entry.kind(path) == NodeKind::Name) {
    name = named(entry[path].as<Name>().name);
    if (auto at = known.names.find(name); at != known.names.end()) from = at->second;
  }
  std::vector<names::DeclId> out;
  if (!from.valid()) return out;
  for (names::DeclId decl : modules[from].named(name))
    if (modules.decl(decl).kind == names::DeclKind::Macro) out.push_back(decl);
  return out;
}

/// Whether a macro takes so many arguments, and behind them a declaration or nothing.
bool takes(const names::Modules& modules, names::DeclId decl, size_t arguments, bool withItem) {
  const Ast& tree = modules.astOf(decl);
  std::span<const Parameter> params = tree[modules.decl(decl).node].as<MacroItem>().params;
  if (withItem) {
    if (params.empty()) return false;
    const NodeId type = params.back().type;
    if (!type || tree.kind(type) != NodeKind::Name ||
        modules.names.text(tree[type].as<Name>().name) != "Item")
      return false;
    params = params.first(params.size() - 1);
  }
  // What stands behind a pack is given by name alone, or by what follows the use.
  const auto pack = std::ranges::find_if(params, &Parameter::isPack);
  auto isNeeded = [](const Parameter& p) { return !p.isPack && !p.defaultValue; };
  if (pack != params.end() && std::any_of(pack, params.end(), isNeeded)) return false;
  const auto needed = std::ranges::count_if(params, isNeeded);
  return arguments >= static_cast<size_t>(needed) && (pack != params.end() || arguments <= params.size());
}

} // namespace

bool awaitsItem(names::Modules& modules, const Definitions& known, const Ast& entry,
                const Interner& written) {
  const NodeId last = lastUse(entry);
  if (!last) return false;
  const auto& use = entry[last].as<MacroUse>();
  const std::vector<names::DeclId> macros = macrosOf(modules, known, entry, use.path, written);
  auto anyTakes = [&](bool withItem) {
    return std::ranges::any_of(
        macros, [&](names::DeclId decl) { return takes(modules, decl, use.args.size(), withItem); });
  };
  return anyTakes(true) && !anyTakes(false);
}

} // namespace melix::repl
