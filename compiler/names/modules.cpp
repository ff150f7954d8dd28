#include "names/modules.h"

#include "support/near_names.h"
#include "syntax/attributes.h"

#include <algorithm>

namespace melix::names {

using namespace syntax;

Modules::Modules(SourceStore& sources, Interner& names, DiagnosticSink& sink, ModuleReader& reader)
    : sources(sources), names(names), sink(sink), reader_(reader) {}

FileId Modules::addSource(ModuleReader::Text text) {
  FileId file = sources.add(std::move(text.path), std::move(text.text));
  if (text.isLibrary) libraryFiles_.insert(file);
  return file;
}

ModuleId Modules::add(std::string name, ModuleReader::Text text) {
  auto module = std::make_unique<Module>();
  module->name = std::move(name);
  module->path = text.path;
  module->ast = reader_.parse(addSource(std::move(text)));
  modules_.push_back(std::move(module));
  return ModuleId(static_cast<uint32_t>(modules_.size() - 1));
}

ModuleId Modules::addRoot(std::string path, std::string text) {
  std::string stem = path.substr(path.find_last_of('/') + 1);
  stem = stem.substr(0, stem.rfind('.'));
  ModuleId id = add(stem, {std::move(path), std::move(text)});
  modules_[id.index]->isRoot = true;
  if (options.beforeIndex) options.beforeIndex(id);
  loading_.push_back(stem); // what it uses cannot use it
  index(id, modules_[id.index]->ast);
  loading_.pop_back();
  return id;
}

/// The module that one edit of a path leads to; empty if there is none.
static std::string nearModule(ModuleReader& reader, const std::string& slashed) {
  for (const std::string& edited : editsOf(slashed))
    if (edited.size() >= shortestMisspelt && reader.read(edited)) {
      std::string dotted = edited;
      std::replace(dotted.begin(), dotted.end(), '/', '.');
      return dotted;
    }
  return {};
}

ModuleId Modules::load(const std::string& dotted, Span use) {
  if (auto open = std::find(loading_.begin(), loading_.end(), dotted); open != loading_.end()) {
    std::string path;
    for (; open != loading_.end(); ++open) path += *open + " → ";
    sink.report(DiagId::UseCycle, use, path + dotted);
    return ModuleId::none();
  }
  if (auto found = loaded_.find(dotted); found != loaded_.end()) return found->second;
  std::string slashed = dotted;
  std::replace(slashed.begin(), slashed.end(), '.', '/');
  std::optional<ModuleReader::Text> text = reader_.read(slashed);
  if (!text) {
    Diagnostic& d = sink.report(DiagId::UnknownModule, use, dotted);
    if (std::string_view hint = habitHint(HabitKind::Module, dotted); !hint.empty())
      d.hint = hint;
    else if (std::string near = use.valid() ? nearModule(reader_, slashed) : ""; !near.empty())
      d.hint = "did you mean `" + near + "`?";
    return ModuleId::none();
  }
  loading_.push_back(dotted);
  ModuleId id = add(dotted.substr(dotted.find_last_of('.') + 1), std::move(*text));
  loaded_.emplace(dotted, id);
  index(id, modules_[id.index]->ast);
  if (!modules_[id.index]->statements.empty()) sink.report(DiagId::ScriptUsed, use, dotted);
  loading_.pop_back();
  return id;
}

const std::vector<Example>& Modules::examples(ModuleId id) {
  Examples& examples = modules_[id.index]->examples;
  if (std::exchange(examples.areRead, true)) return examples.all;
  for (ModuleReader::ReadExample& e : reader_.examples(modules_[id.index]->ast))
    examples.all.push_back({std::move(e.name), addExample(id, std::move(e.ast))});
  return examples.all;
}

/// The names that the items of a module, as they are written, give a meaning.
static std::unordered_set<NameId> namesGivenIn(const Ast& ast) {
  std::unordered_set<NameId> out;
  for (NodeId item : ast[ast.root].as<Many>().items) {
    if (NameId name = declaredName(ast, item)) out.insert(name);
    if (ast.kind(item) != NodeKind::Use) continue;
    const auto& use = ast[item].as<UseItem>();
    for (const UseName& name : use.names) out.insert(name.name);
    if (!use.hasNames) out.insert(use.alias ? use.alias : use.path.back().name);
  }
  return out;
}

ModuleId Modules::addExample(ModuleId around, Ast ast) {
  modules_.push_back(std::make_unique<Module>());
  const ModuleId id(static_cast<uint32_t>(modules_.size() - 1));
  Module& module = *modules_.back();
  const Module& outer = *modules_[around.index];
  module.name = outer.name;
  module.path = outer.path;
  module.ast = std::move(ast);
  module.isRoot = true;
  module.examples.around = around;
  std::unordered_set<NameId> own = namesGivenIn(module.ast);
  own.insert(names.intern("main")); // the file's is run by the file
  module.decls.layIn(outer.decls, own);
  module.prefixes.layIn(outer.prefixes, own);
  module.imported.layIn(outer.imported, own);
  index(id, module.ast);
  return id;
}

void Modules::import(ModuleId into, NameId name, ModuleId from) {
  modules_[into.index]->imported[name] = {from};
  for (DeclId d : modules_[from.index]->named(name)) decls_[d].isPub = true;
}

void Modules::setNewestEntry(ModuleId id) {
  modules_[id.index]->isEntry = true;
  newestEntry_ = id;
}

ModuleId Modules::prelude() {
  if (prelude_) return prelude_;
  modules_.push_back(std::make_unique<Module>());
  prelude_ = ModuleId(static_cast<uint32_t>(modules_.size() - 1));
  modules_.back()->name = "prelude";
  modules_.back()->isPrelude = true;
  for (ModuleReader::Text& text : reader_.prelude()) {
    FileId file = addSource(std::move(text));
    preludeAsts_.push_back(std::make_unique<Ast>(reader_.parse(file)));
    index(prelude_, *preludeAsts_.back());
  }
  return prelude_;
}

void Modules::declare(ModuleId id, Ast& ast, DeclKind kind, NodeId node, NameId name, Span span, bool isPub) {
  if (!name) return;
  DeclId decl = decls_.add(
      {kind, id, node, name, isPub || options.opensPrivate || modules_[id.index]->isPrelude, span});
  declAsts_.push_back(&ast);
  addNamed(id, decl, span);
}

void Modules::addNamed(ModuleId id, DeclId decl, Span span) {
  const DeclKind kind = decls_[decl].kind;
  const NameId name = decls_[decl].name;
  std::vector<DeclId>& same = modules_[id.index]->decls[name];
  if (std::ranges::count(same, decl) > 0) return;
  // Only functions may share a name, and macros.
  for (DeclId other : same)
    if (kind != decls_[other].kind || (kind != DeclKind::Function && kind != DeclKind::Macro)) {
      sink.report(DiagId::Redeclared, span, names.text(name))
          .notes.push_back({decls_[other].span, "declared here before"});
      break;
    }
  same.push_back(decl);
}

DeclId Modules::declareInside(ModuleId id, const Ast& ast, NodeId node, NameId name, Span span) {
  readAttributes(ast, node);
  declAsts_.push_back(const_cast<Ast*>(&ast)); // every tree is one of these modules'
  return decls_.add({DeclKind::Function, id, node, name, false, span});
}

void Modules::index(ModuleId id, Ast& ast) {
  if (!ast.root) return;
  const NodeList written = ast[ast.root].as<Many>().items;
  if (!ast.hasMacros) {
    for (NodeId node : written) indexItem(id, ast, node);
    return;
  }
  auto declares = [&](NodeId node) {
    const NodeKind kind = ast.kind(node);
    return isItem(kind) && kind != NodeKind::Test && kind != NodeKind::Bench;
  };
  for (NodeId node : written)
    if (declares(node)) indexItem(id, ast, node);
  reader_.expand(id, ast);
  for (NodeId node : ast[ast.root].as<Many>().items)
    if (!declares(node)) indexItem(id, ast, node);
}

/// Names of attributes are taken. What is no name was reported where it was read.
static void refuseAttributeName(const MacroItem& macro, const Interner& names, DiagnosticSink& sink) {
  if (!macro.name.valid() || isSpliced(macro.name)) return;
  if (const std::string name(names.text(macro.name)); isAttributeName(name))
    sink.report(DiagId::MacroFailed, macro.nameSpan, "`@" + name + "` is an attribute").hint =
        "give the macro another name";
}

void Modules::indexItem(ModuleId id, Ast& ast, NodeId node) {
  const Node& n = ast[node];
  auto add = [&](DeclKind kind, const auto& item) {
    declare(id, ast, kind, node, item.name, item.nameSpan, item.isPub);
  };
  switch (n.kind) {
  case NodeKind::Fn: {
    const auto& fn = n.as<FnItem>();
    readAttributes(ast, node);
    if (fn.isExtern || fn.isExport)
      sink.report(fn.isExtern ? DiagId::NoForeignFunctions : DiagId::NoExports, fn.nameSpan);
    add(DeclKind::Function, fn);
    break;
  }
  case NodeKind::Struct:
    refuseAttributes(n.as<StructItem>().attributes, false);
    add(DeclKind::Struct, n.as<StructItem>());
    break;
  case NodeKind::Enum:
    refuseAttributes(n.as<EnumItem>().attributes, false);
    add(DeclKind::Enum, n.as<EnumItem>());
    break;
  case NodeKind::Const: add(DeclKind::Const, n.as<ConstItem>()); break;
  case NodeKind::TypeAlias: add(DeclKind::TypeAlias, n.as<TypeItem>()); break;
  case NodeKind::Concept: add(DeclKind::Concept, n.as<ConceptItem>()); break;
  case NodeKind::Macro:
    refuseAttributeName(n.as<MacroItem>(), names, sink);
    add(DeclKind::Macro, n.as<MacroItem>());
    break;
  case NodeKind::Use: indexUse(id, ast, node); break;
  case NodeKind::Test: modules_[id.index]->tests.push_back(node); break;
  case NodeKind::Bench: modules_[id.index]->benches.push_back(node); break;
  case NodeKind::CheckItem: sink.report(DiagId::NoConcepts, n.span); break;
  case NodeKind::Error: break;
  default: modules_[id.index]->statements.push_back(node); break;
  }
}

uint32_t Modules::newMark(ModuleId home) {
  ofMacros_.marks.push_back(home);
  return static_cast<uint32_t>(ofMacros_.marks.size() - 1);
}

std::pair<ModuleId, NameId> Modules::meant(ModuleId seenFrom, NameId name) const {
  const auto isSeen = [seenFrom](const auto& side) { return side.second == seenFrom; };
  const bool inMacro = names.isMarked(name) && std::ranges::any_of(ofMacros_.sides, isSeen);
  while (names.isMarked(name)) {
    if (auto made = ofMacros_.made.find(name); made != ofMacros_.made.end())
      return {made->second, names.spelling(name)};
    seenFrom = ofMacros_.marks[names.markOf(name)];
    name = names.unmarkedOnce(name);
  }
  // What a quote says in a macro that it makes is seen from there as from any macro.
  const auto side = inMacro ? ofMacros_.sides.find(seenFrom) : ofMacros_.sides.end();
  return {side == ofMacros_.sides.end() ? seenFrom : side->second, name};
}

std::string Modules::dottedOf(ModuleId id) const {
  for (const auto& [dotted, loaded] : loaded_)
    if (loaded == id) return dotted;
  return "";
}

ModuleId Modules::prefix(ModuleId seenFrom, NameId name) const {
  auto [module, plain] = meant(seenFrom, name);
  const Module& in = *modules_[module.index];
  if (const ModuleId* used = in.prefixes.find(plain)) return *used;
  const auto earlier = in.earlier.prefixes.find(plain);
  return earlier == in.earlier.prefixes.end() ? ModuleId::none() : earlier->second;
}

ModuleId Modules::ast() { return load("ast", Span()); }

ModuleId Modules::macroSide(ModuleId from) {
  auto [side, isNew] = ofMacros_.sides.try_emplace(from, ModuleId(static_cast<uint32_t>(modules_.size())));
  if (isNew) modules_.push_back(std::make_unique<Module>());
  Module& module = *modules_[side->second.index];
  const Module& outer = *modules_[from.index];
  module.name = outer.name;
  module.path = outer.path;
  module.isRoot = outer.isRoot;
  module.decls.layIn(outer.decls);
  module.prefixes.layIn(outer.prefixes);
  module.imported.layIn(outer.imported);
  const ModuleId opened = ast();
  if (opened)
    for (const auto& [name, decls] : modules_[opened.index]->decls.own())
      if (decls_[decls[0]].isPub) {
        std::vector<ModuleId>& all = module.imported[name];
        if (std::ranges::count(all, opened) == 0) all.push_back(opened);
      }
  return side->second;
}

/// Attributes change what code means, so those that are not known yet are not passed over.
void Modules::refuseAttributes(const std::vector<syntax::Attribute>& attributes, bool ofFunction) {
  for (const syntax::Attribute& a : attributes) {
    const std::string_view name = names.text(a.name);
    if (name == "builtin") continue;
    if (name == "unchecked") {
      if (!ofFunction)
        sink.report(DiagId::MacroArguments, a.span, name, "a function is wanted").hint =
            "`@unchecked` is of functions";
      else if (!a.args.empty())
        sink.report(DiagId::MacroArguments, a.span, name, "there are none").hint =
            "`@unchecked` takes no arguments";
      continue;
    }
    sink.report(DiagId::NoAttribute, a.span, name).hint =
        name == "derivative"   ? "it will give a function its derivative"
        : name == "checkpoint" ? "it will say what is computed again where a derivative needs it"
                               : "it will say that nothing is copied";
  }
}

void Modules::readAttributes(const Ast& ast, NodeId function) {
  const auto& fn = ast[function].as<FnItem>();
  refuseAttributes(fn.attributes);
  for (const syntax::Attribute& a : fn.attributes)
    if (names.text(a.name) == "unchecked")
      for (Span span : {ast.span(function), fn.body ? ast.span(fn.body) : Span()})
        ofMacros_.unchecked.push_back(span);
}

bool Modules::isUnchecked(Span place) const {
  for (const Span& fn : ofMacros_.unchecked)
    if (place.file == fn.file && fn.begin <= place.begin && place.end <= fn.end) return true;
  return false;
}

void Modules::indexUse(ModuleId id, const Ast& ast, NodeId node) {
  const auto& use = ast[node].as<UseItem>();
  std::string dotted;
  for (const UseName& part : use.path)
    dotted += (dotted.empty() ? "" : ".") + std::string(names.text(part.name));
  if (dotted.empty()) return;
  const ModuleId around = modules_[id.index]->examples.around;
  const bool isOwnFile = around && dotted == modules_[around.index]->name;
  ModuleId used = isOwnFile ? around : load(dotted, ast.span(node));
  if (!used) return;
  Module& module = *modules_[id.index];
  const bool passesOn = use.isPub && !module.isRoot;
  if (use.hasNames) {
    for (const UseName& name : use.names)
      passesOn ? passOn(id, used, dotted, name) : importName(module, used, dotted, name);
    return;
  }
  if (use.isPub) sink.report(DiagId::PubPrefix, ast.span(node), dotted);
  NameId prefix = use.alias ? use.alias : use.path.back().name;
  module.prefixes[prefix] = used;
}

bool Modules::isPublicIn(ModuleId from, const std::string& dotted, const UseName& name) {
  const std::span<const DeclId> decls = modules_[from.index]->named(name.name);
  if (std::any_of(decls.begin(), decls.end(), [&](DeclId d) { return decls_[d].isPub; })) return true;
  std::vector<std::string_view> known;
  for (const auto& [declared, all] : modules_[from.index]->decls.all())
    if (std::ranges::any_of(*all, [&](DeclId d) { return decls_[d].isPub; }))
      known.push_back(names.text(declared));
  const std::string_view near = nearestName(names.text(name.name), known);
  sink.report(DiagId::UnknownInModule, name.span, dotted, names.text(name.name)).hint =
      near.empty() ? "" : "did you mean `" + std::string(near) + "`?";
  return false;
}

/// `pub use from.{name}`: the declarations are those of this module too.
void Modules::passOn(ModuleId into, ModuleId from, const std::string& dotted, const UseName& name) {
  if (!isPublicIn(from, dotted, name)) return;
  const std::span<const DeclId> named = modules_[from.index]->named(name.name);
  for (DeclId d : std::vector<DeclId>(named.begin(), named.end()))
    if (decls_[d].isPub) addNamed(into, d, name.span);
}

/// `use from.{name}`. Functions of one name may come from several modules: they are overloads.
void Modules::importName(Module& into, ModuleId from, const std::string& dotted, const UseName& name) {
  isPublicIn(from, dotted, name);
  std::vector<ModuleId>& all = into.imported[name.name];
  if (std::find(all.begin(), all.end(), from) != all.end()) return;
  all.push_back(from);
  auto onlyFunctions = [&](ModuleId module) {
    const std::span<const DeclId> named = modules_[module.index]->named(name.name);
    return std::all_of(named.begin(), named.end(),
                       [&](DeclId d) { return decls_[d].kind == DeclKind::Function; });
  };
  const std::span<const DeclId> first = modules_[all[0].index]->named(name.name);
  if (all.size() > 1 && !first.empty() && !(onlyFunctions(all[0]) && onlyFunctions(from)))
    sink.report(DiagId::ImportedTwice, name.span, names.text(name.name))
        .notes.push_back({decls_[first[0]].span, "the other one"});
}

} // namespace melix::names
