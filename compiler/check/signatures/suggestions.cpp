#include "check/signatures/suggestions.h"

#include "check/intrinsics/intrinsics.h"
#include "check/signatures/lookup.h"
#include "diagnostics/messages.h"
#include "support/near_names.h"

#include <algorithm>

namespace melix::check {

using names::DeclKind;

namespace {

std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

/// What other languages and libraries call so.
std::string_view habitOf(std::string_view name) {
  const std::string_view hint = habitHint(HabitKind::Name, name);
  return hint.empty() ? habitHint(HabitKind::Word, name) : hint;
}

/// The last name of `.linalg.det` at the beginning of a text; empty if it does not begin so.
std::string_view lastMember(std::string_view text) {
  std::string_view last;
  while (text.size() > 1 && text[0] == '.') {
    size_t end = 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    if (end == 1) break;
    last = text.substr(1, end - 1);
    text.remove_prefix(end);
  }
  return last;
}

/// Whether a module has a public item of that name.
bool hasPublic(const names::Modules& modules, ModuleId module, std::string_view name) {
  const std::span<const DeclId> decls = modules[module].named(modules.names.intern(name));
  return std::ranges::any_of(decls, [&](DeclId d) { return modules.decl(d).isPub; });
}

/// Of `np.clip`: what the library calls `clip` is here, where the prefix is a library's.
std::string_view librarysHint(std::string_view prefix, std::string_view member) {
  const bool isLibrary = !habitHint(HabitKind::Module, prefix).empty();
  return isLibrary && !member.empty() ? habitHint(HabitKind::Name, member) : std::string_view();
}

/// The `use` of a module that is not imported where its name stands before a point or is called as its
/// function.
std::string useOfModule(names::Modules& modules, ModuleId from, std::string_view name,
                        std::string_view rest) {
  const bool isCalled = rest.starts_with('(');
  if ((!isCalled && !rest.starts_with('.')) || name == modules[from].name) return {};
  const Unheard unheard(modules.sink);
  const ModuleId found = modules.load(std::string(name), Span());
  if (!found || !modules[found].statements.empty()) return {}; // a script is no module
  if (isCalled && !hasPublic(modules, found, name)) return {};
  return quoted("use " + std::string(name)) + " imports this module";
}

/// The `use` of a module at hand that has a public type of that name, the one with the shortest name; empty
/// if none has.
std::string useThatGives(const names::Modules& modules, std::string_view name) {
  std::string best;
  for (uint32_t k = 0; k < modules.size(); ++k) {
    const std::string dotted = modules.dottedOf(ModuleId(k));
    if (dotted.empty() || (!best.empty() && std::pair(dotted.size(), dotted) > std::pair(best.size(), best)))
      continue;
    const std::span<const DeclId> decls = modules[ModuleId(k)].named(modules.names.intern(name));
    if (std::ranges::any_of(decls, [&](DeclId d) {
          const DeclKind kind = modules.decl(d).kind;
          return modules.decl(d).isPub && kind != DeclKind::Function && kind != DeclKind::Macro &&
                 kind != DeclKind::Const;
        }))
      best = dotted;
  }
  return best.empty() ? best : "`use " + best + ".{" + std::string(name) + "}` gives this type";
}

/// Whether a name of the prelude has the letters of `wrong` and more: the prelude's own helpers are among
/// these.
bool isHelpersName(std::string_view wrong, std::string_view name) {
  auto sameLetter = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return name.size() > wrong.size() + 1 && !std::ranges::search(name, wrong, sameLetter).empty();
}

/// The names of the cases of the enums that a module declares.
void addCases(Checker& checker, ModuleId module, std::vector<std::string_view>& known) {
  for (const auto& [name, decls] : checker.modules[module].decls.all())
    for (DeclId d : *decls)
      if (checker.modules.decl(d).kind == DeclKind::Enum)
        for (const syntax::CaseDecl& each :
             checker.ast(d)[checker.modules.decl(d).node].as<syntax::EnumItem>().cases)
          known.push_back(checker.types.names.text(each.name));
}

std::string suggestType(Checker& c, ModuleId module, NameId name) {
  if (std::string_view hint = habitHint(HabitKind::Type, c.types.names.text(name)); !hint.empty())
    return std::string(hint);
  if (std::string hint = useThatGives(c.modules, c.types.names.text(name)); !hint.empty()) return hint;
  std::vector<std::string_view> known{"int", "str", "List", "Tangent"};
#define SCALAR(Kind, Text, Bits, Class) known.push_back(Text);
#include "types/types.def"
  for (const auto& [imported, from] : c.modules[module].imported.all())
    known.push_back(c.types.names.text(imported));
  for (ModuleId m : {module, c.modules.prelude()})
    for (const auto& [declName, decls] : c.modules[m].decls.all())
      if (c.modules.decl((*decls)[0]).kind != DeclKind::Function)
        known.push_back(c.types.names.text(declName));
  return suggest(c.types.names.text(name), known);
}

} // namespace

std::string suggest(std::string_view wrong, const std::vector<std::string_view>& known) {
  const std::string_view nearest = nearestName(wrong, known);
  return nearest.empty() ? "" : "did you mean " + quoted(nearest) + "?";
}

std::string nearOrListed(std::string_view wrong, const std::vector<std::string_view>& known) {
  constexpr size_t mostShown = 8;
  std::string hint = suggest(wrong, known);
  if (!hint.empty() || known.size() > mostShown) return hint;
  for (std::string_view name : known) hint += (hint.empty() ? "it has " : ", ") + quoted(name);
  return hint;
}

std::string_view argumentHabit(std::string_view label) {
  return habitHint(HabitKind::Name, std::string(label) + ":");
}

std::string typeHint(Checker& checker, ModuleId module, const syntax::Ast& ast, syntax::NodeId type) {
  if (ast.kind(type) == SynKind::Name) return suggestType(checker, module, ast[type].as<syntax::Name>().name);
  if (ast.kind(type) != SynKind::Member) return {};
  const auto& member = ast[type].as<syntax::Member>();
  if (ast.kind(member.base) != SynKind::Name) return {};
  const NameId prefix = ast[member.base].as<syntax::Name>().name;
  const ModuleId used = checker.modules.prefix(module, prefix);
  if (!used)
    if (std::string hint = useOfModule(checker.modules, module, checker.types.names.text(prefix), ".");
        !hint.empty())
      return hint;
  const std::string_view habit = habitHint(HabitKind::Type, checker.types.names.text(member.name));
  return used && habit.empty() ? suggestPublic(checker, used, member.name) : std::string(habit);
}

std::string nameHint(Checker& checker, ModuleId module, NameId name, Span use,
                     const std::vector<NameId>& near) {
  const std::string_view text = checker.types.names.text(name);
  const std::string_view rest = checker.modules.sources.text(use.file).substr(use.end);
  if (std::string_view hint = librarysHint(text, lastMember(rest)); !hint.empty()) return std::string(hint);
  if (habitOf(text).empty())
    if (std::string hint = useOfModule(checker.modules, module, text, rest); !hint.empty()) return hint;
  return suggestName(checker, module, name, near);
}

std::string suggestName(Checker& c, ModuleId module, NameId name, const std::vector<NameId>& locals) {
  const std::string_view text = c.types.names.text(name);
  if (std::string_view hint = habitOf(text); !hint.empty()) return std::string(hint);
  std::vector<std::string_view> known;
  for (NameId local : locals)
    if (local) known.push_back(c.types.names.text(local)); // parameters that are patterns have none
  for (const auto& [imported, from] : c.modules[module].imported.all())
    known.push_back(c.types.names.text(imported));
  for (const auto& [declName, decls] : c.modules[module].decls.all())
    known.push_back(c.types.names.text(declName));
  for (const auto& [declName, decls] : c.modules[c.modules.prelude()].decls.all())
    if (!isHelpersName(text, c.types.names.text(declName))) known.push_back(c.types.names.text(declName));
  for (ModuleId m : {module, c.modules.prelude()}) addCases(c, m, known);
  for (const auto& [prefix, used] : c.modules[module].prefixes.all())
    known.push_back(c.types.names.text(prefix));
#define INTRINSIC(Kind, Name, Signature, Doc) known.push_back(Name);
#include "check/intrinsics/intrinsics.def"
  return suggest(text, known);
}

std::string suggestPublic(Checker& c, ModuleId module, NameId name) {
  const std::string_view text = c.types.names.text(name);
  if (hasPublic(c.modules, c.modules.prelude(), text) || findIntrinsic(text))
    return quoted(text) + " is there without a module";
  if (std::string_view hint = habitOf(text); !hint.empty()) return std::string(hint);
  std::vector<std::string_view> known;
  for (const auto& [declared, decls] : c.modules[module].decls.all())
    if (c.modules.decl((*decls)[0]).isPub) known.push_back(c.types.names.text(declared));
  return suggest(text, known);
}

} // namespace melix::check
