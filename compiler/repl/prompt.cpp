#include "repl/prompt.h"

#include "parse/parse.h"

#include <set>

namespace melix::repl {

using types::TypeId;
using types::TypeKind;

namespace {

/// Whether a value of the type holds function values of unknown identity: these are numbered within one Core
/// module.
bool holdsFunctions(types::TypeStore& types, TypeId type, std::set<TypeId>& seen) {
  if (!seen.insert(type).second) return false;
  TypeKind kind = types.kind(type);
  if (kind == TypeKind::Function) return true;
  if (kind == TypeKind::Struct || kind == TypeKind::Enum) {
    const types::Record record = types.recordInfo(types[type].record);
    for (uint32_t c = 0; c < record.cases.size(); ++c)
      for (uint32_t k = 0; k < record.cases[c].fields.size(); ++k)
        if (holdsFunctions(types, record.cases[c].fields[k].type, seen)) return true;
    return false;
  }
  const std::vector<TypeId> parts = types[type].parts;
  for (TypeId part : parts)
    if (holdsFunctions(types, part, seen)) return true;
  return false;
}

} // namespace

bool Prompt::isIncomplete(const std::string& text) {
  SourceStore sources;
  Interner names;
  DiagnosticSink sink;
  return parse::parseReplEntry(sources.add("<prompt>", text), sources, names, sink).incomplete;
}

/// Makes everything known visible in a module, except what the module says itself.
void Prompt::connect(names::ModuleId module, const Definitions& known) {
  names::Modules& modules = session_.modules();
  for (const auto& [name, from] : known.names)
    if (from != module && !modules[module].decls.contains(name) && !modules[module].imported.contains(name))
      modules.import(module, name, from);
  for (const auto& [name, used] : known.prefixes) modules[module].prefixes.emplace(name, used);
}

/// `known` with what a module adds.
Prompt::Definitions Prompt::collect(names::ModuleId module, Definitions known) {
  names::Modules& modules = session_.modules();
  for (const auto& [name, from] : modules[module].imported) known.names[name] = from.back();
  for (const auto& [name, used] : modules[module].prefixes) known.prefixes[name] = used;
  for (const auto& [name, decls] : modules[module].decls) {
    known.names[name] = module;
    known.functions.erase(name);
    for (names::DeclId d : decls)
      if (modules.decl(d).kind == names::DeclKind::Function)
        known.functions[name] +=
            std::string(session_.sources.text(modules.astOf(d).span(modules.decl(d).node))) + "\n\n";
  }
  return known;
}

/// Declares the functions of earlier entries anew if the module replaces one of them, so that they call the
/// new one; none if there is nothing to declare.
names::ModuleId Prompt::renewFunctions(names::ModuleId module, Definitions& now) {
  names::Modules& modules = session_.modules();
  bool replaces = false;
  std::string others;
  std::vector<NameId> moved;
  for (const auto& [name, source] : definitions_.functions) {
    bool replaced = modules[module].decls.contains(name);
    replaces |= replaced;
    if (replaced) continue;
    others += source;
    moved.push_back(name);
  }
  if (!replaces || moved.empty()) return names::ModuleId::none();
  names::ModuleId again = modules.addRoot("<prompt>", others);
  for (NameId name : moved) now.names[name] = again;
  connect(again, now);
  return again;
}

/// Checks what a module declares, at the variables there are.
bool Prompt::checkDefinitions(names::ModuleId module) {
  std::map<NameId, types::TypeId> lets;
  for (const check::PromptVariable& v : variables_)
    if (!v.isVar && !v.isSize) lets.emplace(v.name, v.type);
  session_.checker().checkModule(module);
  session_.checker().checkSeeing(module, lets);
  return session_.sink.errorCount() == 0;
}

bool Prompt::enter(const std::string& text) {
  session_.sink.clear();
  names::ModuleId module = session_.modules().addRoot("<prompt>", text);
  bool ok = session_.sink.errorCount() == 0;
  if (ok) {
    Definitions now = collect(module, definitions_);
    names::ModuleId again = renewFunctions(module, now);
    connect(module, now);
    for (names::ModuleId each : {again, module})
      if (each) session_.checker().seePrompt(each, variables_);
    ok = (!again || checkDefinitions(again)) && checkDefinitions(module);
    check::PromptEntry entry;
    if (ok && !session_.modules()[module].statements.empty()) {
      entry = session_.checker().prompt(module, variables_);
      ok = entry.instance.valid() && run(entry);
    }
    if (ok) definitions_ = std::move(now);
  }
  host_.writeDiagnostics();
  return ok;
}

bool Prompt::run(const check::PromptEntry& entry) {
  session_.renewModule();
  if (!session_.lowerEntry(entry.instance) || !session_.advance(session::CoreStage::Optimised)) {
    if (!session_.bug().empty()) host_.writeError("a bug of the compiler: " + session_.bug() + "\n");
    return false;
  }
  interp::Program program(session_.module(), host_.hooks);
  interp::RunResult result = program.run(session_.module().entry, values_);
  if (result.panicked) {
    host_.reportPanic(result.panic);
    return false;
  }
  return keep(entry, std::move(result));
}

/// Shows the value and takes the new values of the variables over; their sizes become part of their types.
bool Prompt::keep(const check::PromptEntry& entry, interp::RunResult result) {
  const check::Instance& instance = session_.checker().program_.instance(entry.instance);
  types::DimSubst sizes;
  for (size_t k = 0; k < instance.resultDims.size() && k < result.dims.size(); ++k)
    sizes.emplace(instance.resultDims[k], session_.types.dims.constant(result.dims[k]));
  const std::vector<TypeId> parts = session_.types[instance.result].parts;
  const interp::Value& all = result.values[0];
  variables_.clear();
  values_.clear();
  for (size_t k = 0; k < entry.variables.size(); ++k) {
    check::PromptVariable variable = entry.variables[k];
    variable.type = session_.types.substitute(variable.type, sizes);
    std::set<TypeId> seen;
    if (holdsFunctions(session_.types, variable.type, seen)) {
      host_.writeError("`" + std::string(session_.names.text(variable.name)) +
                       "` is not kept: it holds a function value\n");
      continue;
    }
    if (variable.isSize) variable.size = all.part(k + 1).asInteger();
    variables_.push_back(variable);
    values_.push_back(all.part(k + 1));
  }
  TypeId shown = session_.types.substitute(parts[0], sizes);
  if (!session_.types.isUnit(shown)) host_.write(host_.show(shown, all.part(0)) + "\n");
  return true;
}

} // namespace melix::repl
