#include "check/signatures/call_order.h"

#include <functional>
#include <set>

namespace melix::check {

using namespace syntax;

namespace {

/// The functions of the module that a declaration names, a method too. Not overloads: which of them is meant
/// is known later, and all of one name would wait for each other.
std::vector<DeclId> functionsNamed(const names::Modules& modules, ModuleId module, DeclId decl) {
  std::vector<DeclId> found;
  const Ast& tree = modules.astOf(decl);
  std::function<void(SynId)> look = [&](SynId s) {
    const bool isName = tree.kind(s) == SynKind::Name;
    if (isName || tree.kind(s) == SynKind::Member) {
      const NameId name = isName ? tree[s].as<Name>().name : tree[s].as<Member>().name;
      const std::span<const DeclId> same = modules[module].named(name);
      if (same.size() == 1 && modules.decl(same[0]).kind == names::DeclKind::Function)
        found.push_back(same[0]);
    }
    forEachChild(tree, s, look);
  };
  look(modules.decl(decl).node);
  return found;
}

/// A function whose callees are being put in order.
struct Open {
  DeclId decl;
  std::vector<DeclId> callees;
  size_t next = 0;
};

} // namespace

std::vector<DeclId> calleesFirst(const names::Modules& modules, ModuleId module,
                                 const std::vector<DeclId>& decls) {
  std::vector<DeclId> order;
  std::set<DeclId> reached;
  std::vector<Open> open; // no recursion: a chain of calls may be as long as the program
  auto enter = [&](DeclId decl) {
    if (!reached.insert(decl).second) return;
    const bool isFunction = modules.decl(decl).kind == names::DeclKind::Function;
    open.push_back({decl, isFunction ? functionsNamed(modules, module, decl) : std::vector<DeclId>()});
  };
  for (DeclId root : decls) {
    enter(root);
    while (!open.empty()) {
      Open& last = open.back();
      if (last.next < last.callees.size()) {
        enter(last.callees[last.next++]);
        continue;
      }
      order.push_back(last.decl);
      open.pop_back();
    }
  }
  return order;
}

} // namespace melix::check
