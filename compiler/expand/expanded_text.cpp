#include "expand/expanded_text.h"

#include "expand/print.h"

#include <algorithm>
#include <map>
#include <set>

namespace melix::expand {

namespace {

using names::DeclId;
using names::ModuleId;

/// The names that a tree binds, and all that stand in it.
struct NamesIn : PartVisitor<NamesIn> {
  explicit NamesIn(const Ast& tree_) : ast(tree_) {}
  const Ast& ast;
  std::set<NameId> bound, all;
  std::set<NameId> called;     ///< all but labels, fields and methods
  std::set<NameId> parameters; ///< of functions: calls may say them
  std::set<NameId> variables;  ///< bound by patterns

  void tree(NodeId id, Role role) {
    if (!id) return;
    if (ast.kind(id) == NodeKind::Name && role == Role::Pattern) {
      bound.insert(ast[id].as<Name>().name);
      variables.insert(ast[id].as<Name>().name);
    }
    const bool wasFunction = std::exchange(isFunction, ast.kind(id) == NodeKind::Fn);
    const bool wasNested = std::exchange(isNested, isNested || ast.kind(id) == NodeKind::Block);
    if (ast.kind(id) == NodeKind::Fn && wasNested) bound.insert(ast[id].as<FnItem>().name);
    Payload payload = ast[id].payload;
    visitParts(*this, ast.kind(id), role, payload);
    isFunction = wasFunction;
    isNested = wasNested;
  }
  void node(NodeId& id, Role role) { tree(id, role); }
  void name(NameId& id, NameRole role) {
    if (!id) return;
    all.insert(id);
    if (role != NameRole::Label) called.insert(id);
  }
  using PartVisitor::elements;
  void elements(std::vector<Parameter>& list) {
    for (Parameter& p : list) {
      if (p.name) bound.insert(p.name);
      if (p.name && isFunction) parameters.insert(p.name);
      part(*this, p);
    }
  }
  void elements(std::vector<Generic>& list) {
    for (Generic& g : list) {
      bound.insert(g.name);
      part(*this, g);
    }
  }

  bool isFunction = false, isNested = false;
};

/// Chooses the spelling of every name of a module.
class Speller {
public:
  Speller(names::Modules& modules, ModuleId module)
      : modules_(modules), module_(module), ast_(modules[module].ast) {
    for (NodeId item : ast_[ast_.root].as<Many>().items) {
      NamesIn names(ast_);
      names.tree(item, Role::Stmt);
      for (NameId n : names.all)
        if (!modules.names.isMarked(n)) taken_.insert(std::string(modules.names.text(n)));
      for (NameId n : names.bound)
        if (!modules.names.isMarked(n) || names.parameters.contains(n)) // these keep their names
          bound_.insert(std::string(modules.names.text(n)));
    }
    for (const auto& [name, decls] : modules[module].decls.all()) {
      taken_.insert(std::string(modules.names.text(name)));
      bound_.insert(std::string(modules.names.text(name)));
    }
    for (const auto& [name, meant] : modules[module].prefixes.all()) {
      const ModuleId used = *meant;
      std::string prefix(modules.names.text(name));
      const auto known = prefixes_.find(used); // of several the first, so that the text is always the same
      if (!bound_.contains(prefix) && (known == prefixes_.end() || prefix < known->second))
        prefixes_[used] = prefix;
      taken_.insert(std::move(prefix));
    }
  }

  std::string print() {
    std::string body;
    for (NodeId item : ast_[ast_.root].as<Many>().items) {
      if (ast_.kind(item) == NodeKind::Macro) continue; // its uses are gone
      NamesIn names(ast_);
      names.tree(item, Role::Stmt);
      spell(names);
      if (ast_.kind(item) == NodeKind::Let) showVariables(item);
      body += printItems(ast_, {item}, [this](NameId n) { return spelling(n); }) + "\n";
    }
    std::string head;
    for (const auto& [dotted, prefix] : uses_) {
      const bool isLast = dotted.substr(dotted.find_last_of('.') + 1) == prefix;
      head += "use " + dotted + (isLast ? "" : " as " + prefix) + "\n";
    }
    return head.empty() ? body : head + "\n" + body;
  }

private:
  /// `text_2`, or the next that no name is.
  std::string fresh(std::string_view text) {
    int& last = lastNumber_.try_emplace(std::string(text), 1).first->second;
    for (;;)
      if (std::string made = std::string(text) + "_" + std::to_string(++last); taken_.insert(made).second)
        return made;
  }

  /// What a statement of the script binds is seen by those below it.
  void showVariables(NodeId let) {
    NamesIn names(ast_);
    NodeId pattern = ast_[let].as<Let>().pattern;
    names.tree(pattern, Role::Pattern);
    visible_.insert(names.variables.begin(), names.variables.end());
  }

  static bool isCapital(const std::string& name) { return name[0] >= 'A' && name[0] <= 'Z'; }

  /// A macro may call a variable as nobody can: with a capital in front, which is a case in a pattern.
  std::string plainName(NameId n, bool isVariable) const {
    std::string plain(modules_.names.text(n));
    if (isVariable && isCapital(plain)) plain[0] = static_cast<char>(plain[0] - 'A' + 'a');
    return plain;
  }

  void spell(const NamesIn& names) {
    std::set<std::string> free;
    for (NameId n : names.all) {
      if (!modules_.names.isMarked(n) || names.bound.contains(n)) continue;
      if (!visible_.contains(n)) spelled_[n] = freeName(n);
      free.insert(spelled_[n]);
    }
    // Calls say parameters of functions, so that only what stands in the function is in their way.
    std::set<std::string> inside = free;
    for (NameId n : names.called)
      if (!modules_.names.isMarked(n)) inside.insert(std::string(modules_.names.text(n)));
    for (bool ofParameters : {true, false})
      for (NameId n : names.bound) {
        if (!modules_.names.isMarked(n) || names.parameters.contains(n) != ofParameters) continue;
        const std::string plain = plainName(n, names.variables.contains(n));
        const bool isTaken =
            ofParameters ? !inside.insert(plain).second : free.contains(plain) || taken_.contains(plain);
        spelled_[n] = isTaken ? fresh(plain) : plain;
        taken_.insert(spelled_[n]);
        bound_.insert(spelled_[n]);
      }
    // A local name in the way of what a quote means from outside makes room.
    for (NameId n : names.bound) {
      if (modules_.names.isMarked(n) || names.parameters.contains(n)) continue;
      if (free.contains(std::string(modules_.names.text(n))))
        spelled_[n] = fresh(modules_.names.text(n));
      else
        spelled_.erase(n);
    }
  }

  std::string freeName(NameId n) {
    std::string plain(modules_.names.text(n));
    auto [home, name] = modules_.meant(module_, n);
    if (home == module_) return plain;
    ModuleId declaring = ModuleId::none();
    if (modules_[home].decls.contains(name))
      declaring = home;
    else if (const std::vector<ModuleId>* imported = modules_[home].imported.find(name))
      declaring = (*imported)[0];
    else if (ModuleId used = modules_.prefix(home, name))
      return prefixOf(used);
    else if (isCapital(plain))
      declaring = homeOfCase(home, name);
    if (!declaring || declaring == modules_.prelude() || declaring == module_) return plain;
    const std::string prefix = prefixOf(declaring);
    return prefix.empty() ? plain : prefix + "." + plain;
  }

  /// The module of the enum with a case that a module sees; none if it sees none.
  ModuleId homeOfCase(ModuleId seenFrom, NameId name) const {
    auto has = [&](const std::vector<names::DeclId>& decls) {
      return std::ranges::any_of(decls, [&](names::DeclId d) {
        if (modules_.decl(d).kind != names::DeclKind::Enum) return false;
        const auto& cases = modules_.astOf(d)[modules_.decl(d).node].as<EnumItem>().cases;
        return std::ranges::any_of(cases, [&](const auto& c) { return c.name == name; });
      });
    };
    for (const auto& [declared, decls] : modules_[seenFrom].decls.all())
      if (has(*decls)) return seenFrom;
    for (const auto& [imported, from] : modules_[seenFrom].imported.all())
      if (const std::vector<names::DeclId>* decls = modules_[(*from)[0]].decls.find(imported);
          decls && has(*decls))
        return (*from)[0];
    return ModuleId::none();
  }

  /// What the module calls another one: a name that nothing else has, as a variable would hide it.
  std::string prefixOf(ModuleId other) {
    if (auto known = prefixes_.find(other); known != prefixes_.end()) return known->second;
    const std::string dotted = modules_.dottedOf(other);
    if (dotted.empty()) return "";
    const std::string last = dotted.substr(dotted.find_last_of('.') + 1);
    const bool isFree = !bound_.contains(last) && std::ranges::none_of(prefixes_, [&](const auto& known) {
      return known.second == last;
    });
    const std::string& prefix = prefixes_[other] = isFree ? last : fresh(last);
    taken_.insert(prefix);
    uses_[dotted] = prefix;
    return prefix;
  }

  std::string spelling(NameId n) {
    if (auto found = spelled_.find(n); found != spelled_.end()) return found->second;
    return std::string(modules_.names.text(n));
  }

  names::Modules& modules_;
  ModuleId module_;
  const Ast& ast_;
  std::set<std::string> taken_, bound_; ///< all names of the program, and those of declarations and variables
  std::map<std::string, int> lastNumber_; ///< behind each text that was made fresh: those below are taken
  std::map<ModuleId, std::string> prefixes_;
  std::map<NameId, std::string> spelled_;
  std::set<NameId> visible_;                ///< variables of the statements above
  std::map<std::string, std::string> uses_; ///< modules that the program does not name, and their prefixes
};

} // namespace

std::string expandedText(names::Modules& modules, ModuleId module) {
  return Speller(modules, module).print();
}

} // namespace melix::expand
