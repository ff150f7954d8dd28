#include "repl/prompt.h"

#include "check/instances/programs.h"
#include "parse/parse.h"
#include "repl/awaited_item.h"
#include "repl/function_text.h"

#include <algorithm>
#include <set>
#include <utility>

namespace melix::repl {

using types::TypeId;
using types::TypeKind;

bool Prompt::isIncomplete(const std::string& text) const {
  if (isCommand(text)) return false;
  if (endsInDocumentation(text)) return true;
  SourceStore sources;
  Interner names;
  DiagnosticSink sink;
  const parse::ParseResult entry = parse::parseReplEntry(sources.add("<prompt>", text), sources, names, sink);
  if (entry.incomplete || sink.errorCount() > 0) return entry.incomplete;
  return awaitsItem(session_.modules(), definitions_, entry.ast, names);
}

/// Whether the last line that is not blank documents what comes next.
bool Prompt::endsInDocumentation(const std::string& text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string::npos) return false;
  const size_t newline = text.rfind('\n', last);
  const size_t first = text.find_first_not_of(" \t", newline == std::string::npos ? 0 : newline + 1);
  return text.compare(first, 3, "///") == 0;
}

void Prompt::connect(names::ModuleId module, const Definitions& known) {
  repl::connect(session_.modules(), module, known);
}

/// Macros are used before anything else of an entry is looked at.
void Prompt::giveMacros(names::ModuleId entry) {
  names::Modules& modules = session_.modules();
  for (const auto& [name, from] : definitions_.names) {
    const std::span<const names::DeclId> found = modules[from].named(name);
    if (!found.empty() && modules.decl(found[0]).kind == names::DeclKind::Macro)
      modules[entry].earlier.macros.emplace(name, from);
  }
  for (const auto& [name, used] : definitions_.prefixes) modules[entry].earlier.prefixes.emplace(name, used);
}

/// The variables that a module sees: what it declares hides those of the same names.
Prompt::Variables Prompt::variablesBeside(names::ModuleId module) const {
  const std::set<NameId> given = namesGivenBy(session_.modules()[module], definitions_);
  Variables out;
  for (size_t k = 0; k < variables_.known.size(); ++k) {
    if (given.contains(variables_.known[k].name)) continue;
    out.known.push_back(variables_.known[k]);
    out.values.push_back(variables_.values[k]);
  }
  return out;
}

/// The names to which a module gives another meaning than they had for what is kept.
std::set<NameId> Prompt::replacedBy(names::ModuleId module) const {
  std::set<NameId> out = namesGivenBy(session_.modules()[module], definitions_);
  std::erase_if(out, [this](NameId name) { return !definitions_.has(name) && !definitions_.mention(name); });
  return out;
}

/// Declares what may use the replaced names again, in a module of its own; `now` has the new meanings.
Prompt::Renewal Prompt::renew(std::set<NameId> replaced, const Definitions& before, Definitions& now) {
  Renewal renewal{std::move(replaced), {}, {}};
  if (renewal.replaced.empty()) return renewal;
  session_.checker().forgetInstances();
  const std::set<NameId> users = before.usersOf(renewal.replaced);
  const std::string source = before.sourceOf(users);
  for (const auto& [name, kept] : before.kept)
    if (kept.isRecord && (users.contains(name) || renewal.replaced.contains(name)))
      renewal.outdated.push_back(kept.decls[0]);
  if (users.empty()) return renewal;
  renewal.module = session_.modules().addRoot("<earlier entries>", source);
  now.add(session_.modules(), renewal.module);
  return renewal;
}

/// Checks what a module declares, at the variables there are.
bool Prompt::checkDefinitions(names::ModuleId module, const std::vector<check::PromptVariable>& variables) {
  std::map<NameId, TypeId> lets;
  for (const check::PromptVariable& v : variables)
    if (!v.isVar && !v.isSize) lets.emplace(v.name, v.type);
  session_.checker().checkModule(module);
  checkCapturingLets(session_.checker(), module, lets);
  return session_.sink.errorCount() == 0;
}

/// Checks what is declared again; warnings about it were given when it was entered.
bool Prompt::checkRenewal(const Renewal& renewal, const std::vector<check::PromptVariable>& variables) {
  if (!renewal.module) return true;
  Messages told(session_.sink);
  if (checkDefinitions(renewal.module, variables)) {
    told.drop();
    return true;
  }
  host_.writeDiagnostics();
  session_.sink.clear();
  std::string names;
  for (NameId name : renewal.replaced)
    names += (names.empty() ? "`" : ", `") + std::string(session_.names.text(name)) + "`";
  host_.writeError(names + " stays as it was: what uses it would no longer check\n");
  return false;
}

/// Whether a variable of earlier entries is one of another type after `entry`, or is a `var` now.
bool Prompt::isOtherThanBefore(NameId name, const check::PromptEntry& entry) const {
  auto named = [name](const std::vector<check::PromptVariable>& variables) {
    return std::find_if(variables.begin(), variables.end(),
                        [name](const check::PromptVariable& v) { return v.name == name; });
  };
  const auto was = named(variables_.known), is = named(entry.variables);
  return was != variables_.known.end() && is != entry.variables.end() &&
         (was->type != is->type || was->isVar != is->isVar);
}

/// Checks the statements of an entry. What they bind takes names from declarations.
bool Prompt::checkStatements(names::ModuleId module, const Variables& before, Definitions& now,
                             check::PromptEntry& entry) {
  entry = session_.checker().prompt(module, before.known);
  if (!entry.instance.valid()) return false;
  std::set<NameId> bound = session_.checker().scripts.namesBoundIn(module);
  std::erase_if(bound, [&](NameId name) {
    return !now.has(name) && !(now.mention(name) && isOtherThanBefore(name, entry));
  });
  const Definitions declared = now;
  for (NameId name : bound) now.remove(name);
  Renewal renewal = renew(std::move(bound), declared, now);
  if (!renewal.module) return true;
  connect(renewal.module, now);
  session_.modules().setNewestEntry(renewal.module);
  session_.checker().scripts.seePrompt(renewal.module, entry.variables);
  return checkRenewal(renewal, entry.variables);
}

bool Prompt::take(names::ModuleId module) {
  const Variables before = variablesBeside(module);
  Definitions now = definitions_;
  now.add(session_.modules(), module);
  Renewal renewal = renew(replacedBy(module), definitions_, now);
  setOutdated(renewal, true);
  for (names::ModuleId each : {renewal.module, module}) {
    if (!each) continue;
    connect(each, now);
    session_.checker().scripts.seePrompt(each, before.known);
  }
  session_.modules().setNewestEntry(module);
  if (!checkDefinitions(module, before.known) || !checkRenewal(renewal, before.known) ||
      !takeIn(module, before, now)) {
    setOutdated(renewal, false);
    return false;
  }
  definitions_ = std::move(now);
  return true;
}

/// Runs the statements of an entry, if it has some; then the variables are those after it.
bool Prompt::takeIn(names::ModuleId module, const Variables& before, Definitions& now) {
  check::PromptEntry entry;
  if (!session_.modules()[module].statements.empty())
    return checkStatements(module, before, now, entry) && run(entry, module, before) &&
           transcript_.ran(session_, entry.instance);
  variables_ = before;
  return true;
}

void Prompt::setOutdated(const Renewal& renewal, bool isOutdated) {
  for (names::DeclId record : renewal.outdated)
    session_.checker().declarations.setReplaced(record, isOutdated);
}

/// The functions of earlier entries whose names the module declares as functions, too.
std::vector<names::DeclId> Prompt::functionsBeside(names::ModuleId module) const {
  names::Modules& modules = session_.modules();
  auto areFunctions = [&](const std::vector<names::DeclId>& decls) {
    return std::all_of(decls.begin(), decls.end(),
                       [&](names::DeclId d) { return modules.decl(d).kind == names::DeclKind::Function; });
  };
  std::vector<names::DeclId> out;
  for (const auto& [name, kept] : definitions_.kept) {
    const std::vector<names::DeclId>* declared = modules[module].decls.find(name);
    if (!declared || !areFunctions(*declared) || !areFunctions(kept.decls)) continue;
    out.insert(out.end(), kept.decls.begin(), kept.decls.end());
  }
  return out;
}

/// Those that macros wrote stay as they are; the others are declared again, in the new module.
void Prompt::showMade(const std::vector<names::DeclId>& made, names::ModuleId module) {
  names::Modules& modules = session_.modules();
  if (!made.empty()) connect(module, definitions_);
  for (names::DeclId d : made) {
    std::vector<names::DeclId>& all = modules[module].decls[modules.decl(d).name];
    std::vector<names::DeclId> set = all;
    set.push_back(d);
    const std::vector<names::DeclId> redefined = check::redefined(session_.checker(), set);
    if (std::ranges::count(redefined, d) == 0) all.push_back(d);
  }
}

/// The module of an entry, with the functions of earlier ones that stay as overloads beside its own: those
/// that take arguments of other types (rule 10).
names::ModuleId Prompt::withOverloads(names::ModuleId entry, const std::string& text) {
  names::Modules& modules = session_.modules();
  std::vector<std::string> beside;
  std::vector<names::DeclId> made;
  for (names::DeclId d : functionsBeside(entry)) {
    if (isMade(modules, d))
      made.push_back(d);
    else
      beside.push_back(textOf(modules, d));
  }
  auto together = [&] {
    std::string all = text;
    for (const std::string& function : beside) all += "\n\n" + function;
    const Unheard unheard(session_.sink); // that of the entry has been told
    return modules.addRoot("<prompt>", all);
  };
  if (beside.empty()) {
    showMade(made, entry);
    return entry;
  }
  names::ModuleId all = together();
  connect(all, definitions_);
  bool isRedefined = false;
  for (const auto& [name, decls] : modules[all].decls.own()) {
    if (!definitions_.kept.contains(name) || modules.decl(decls[0]).kind != names::DeclKind::Function)
      continue;
    for (names::DeclId d : check::redefined(session_.checker(), decls))
      isRedefined |= std::erase(beside, textOf(modules, d)) > 0;
  }
  if (isRedefined) all = together();
  showMade(made, all);
  return all;
}

/// Warnings about functions of earlier entries were given when these were entered.
void Prompt::dropWarningsBehind(Messages& told, names::ModuleId module, size_t end) {
  told.dropIf([&](const Diagnostic& d) {
    const bool isBehind = d.span.file == session_.modules()[module].ast.file && d.span.begin >= end;
    return isBehind && diagSeverity(d.id) != SeverityKind::Error;
  });
}

bool Prompt::enter(const std::string& text, const std::string& name) {
  if (showType(text)) return true;
  session_.sink.clear();
  Messages told(session_.sink);
  names::ModuleId module = session_.modules().addRoot(name, text);
  if (session_.sink.errorCount() == 0) module = withOverloads(module, text);
  bool ok = session_.sink.errorCount() == 0 && take(module);
  if (ok) transcript_.add(text, session_, module, variables_.known);
  dropWarningsBehind(told, module, text.size());
  host_.writeDiagnostics();
  if (const auto shown = std::exchange(pictured_, {})) showPictures(shown->first, shown->second);
  return ok;
}

/// Says once that the interpreter runs blocks on a device.
void Prompt::tellOfDevices() {
  const bool uses = std::ranges::any_of(session_.module().functions, [](const core::Function& f) {
    return f.device == Device::Gpu && f.body.valid();
  });
  if (uses && !std::exchange(toldOfDevices_, true))
    host_.writeError("melix: at the prompt `on gpu` runs on this processor\n");
}

bool Prompt::run(const check::PromptEntry& entry, names::ModuleId module, const Variables& before) {
  const std::string text(session_.sources.text(session_.modules()[module].ast.file));
  EntryOutcome end = runner_.run(entry.instance, text, before.values, time_);
  tellOfDevices();
  switch (end.kind) {
  case EntryOutcomeKind::Done: keep(entry, std::move(end), before); return true;
  case EntryOutcomeKind::Refused:
    if (!end.problem.empty()) host_.writeError("a bug of the compiler: " + end.problem + "\n");
    return false;
  case EntryOutcomeKind::Exited: host_.noteExit(); return false;
  case EntryOutcomeKind::Panicked:
  case EntryOutcomeKind::Interrupted:
    host_.reportPanic(end.panic, end.compiledTrace);
    forgetLost(end.lost, before);
    return false;
  }
  return false;
}

/// Drops variables that an entry updated in place before it failed.
void Prompt::forgetLost(const std::vector<uint32_t>& lost, const Variables& before) {
  for (const uint32_t k : lost) {
    const NameId name = before.known[k].name;
    const auto at = std::ranges::find(variables_.known, name, &check::PromptVariable::name);
    if (at == variables_.known.end()) continue;
    variables_.values.erase(variables_.values.begin() + (at - variables_.known.begin()));
    variables_.known.erase(at);
    host_.writeError("`" + std::string(session_.names.text(name)) +
                     "` is lost: the entry failed while it changed it, and `:rollback` is off\n");
  }
}

/// Shows the value and takes the new values of the variables over; their sizes become part of their types.
void Prompt::keep(const check::PromptEntry& entry, EntryOutcome end, const Variables& before) {
  const check::Instance& instance = session_.checker().program_.instance(entry.instance);
  types::DimSubst sizes;
  for (size_t k = 0; k < instance.resultDims.size() && k < end.dims.size(); ++k)
    sizes.emplace(instance.resultDims[k], session_.types.dims.constant(end.dims[k]));
  const std::vector<TypeId>& parts = session_.types[instance.result].parts;
  Variables after;
  for (size_t k = 0; k < entry.variables.size(); ++k) {
    check::PromptVariable variable = entry.variables[k];
    variable.type = session_.types.substitute(variable.type, sizes);
    if (!isStorable(session_.types, variable.type)) {
      session_.sink.report(DiagId::NoPromptFunction, variable.span, session_.names.text(variable.name));
      continue;
    }
    const HeldValue value = end.parts[k + 1].held(variable.type, before.values);
    if (variable.isSize) variable.size = value.plain(runner_.forms()).asInteger();
    after.known.push_back(variable);
    after.values.push_back(value);
  }
  variables_ = std::move(after);
  const TypeId shown = session_.types.substitute(parts[0], sizes);
  show(shown, end.parts[0].held(shown, before.values));
}

/// Writes the value of an entry, if it is one to be seen.
void Prompt::show(TypeId type, const HeldValue& value) {
  if (session_.types.kind(type) == TypeKind::Known)
    host_.write(functionText(session_, type) + "\n");
  else if (!session_.types.isUnit(type))
    host_.write(display(session_.types, type, value.plain(runner_.forms()), host_.show, displayOptions()) +
                "\n");
  const TypeKind kind = session_.types.kind(type);
  const bool isRecord = kind == TypeKind::Struct || kind == TypeKind::Enum;
  if (isRecord && host_.writePicture) pictured_ = {type, value};
}

} // namespace melix::repl
