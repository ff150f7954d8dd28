#pragma once
// Modules and their declarations: tables from names to declarations, `use` resolved to modules. Knows no
// types.

#include "diagnostics/diagnostic.h"
#include "names/name_table.h"
#include "syntax/ast.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace melix::names {

struct ModuleTag;
struct DeclTag;
using ModuleId = Id<ModuleTag>;
using DeclId = Id<DeclTag>;

enum class DeclKind : uint8_t { Function, Struct, Enum, Const, TypeAlias, Concept, Macro };

/// A declared item. Overloads of one name are several declarations.
struct Decl {
  DeclKind kind;
  ModuleId module;
  syntax::NodeId node;
  NameId name;
  bool isPub = false;
  Span span;               ///< of the name
  bool isReplaced = false; ///< a later entry at the prompt has declared it anew
};

/// The names that macro uses in an entry may take from the entries at the prompt before it.
struct EarlierEntries {
  std::unordered_map<NameId, ModuleId> macros, prefixes;
};

/// An example in a documentation comment: a script that sees the declarations and imports of its file.
struct Example {
  std::string name;
  ModuleId module;
};

/// The examples of a module, and the module of which it is an example itself.
struct Examples {
  std::vector<Example> all; ///< once they are read
  bool areRead = false;
  ModuleId around; ///< the module of the file; none of other modules
};

struct Module {
  std::string name; ///< the last part of its path: its prefix and, for a function so named, its call
  std::string path; ///< `a.b`, or the file's path for the root
  syntax::Ast ast;
  NameTable<std::vector<DeclId>> decls; ///< its own, and names that `pub use` passes on
  /// The declarations of a name; none if it has none.
  std::span<const DeclId> named(NameId name) const {
    const std::vector<DeclId>* found = decls.find(name);
    return found ? std::span<const DeclId>(*found) : std::span<const DeclId>();
  }
  NameTable<ModuleId> prefixes;              ///< `use a.b`, `use a.b as c`
  NameTable<std::vector<ModuleId>> imported; ///< `use a.{f}`; of several, all functions
  EarlierEntries earlier;                    ///< at the prompt
  std::vector<syntax::NodeId> statements;    ///< of a script, in order
  std::vector<syntax::NodeId> tests;         ///< `test` blocks
  std::vector<syntax::NodeId> benches;       ///< `bench` blocks
  Examples examples;
  bool isPrelude = false;
  bool isRoot = false;  ///< of a program, a test file or an entry at the prompt: nothing imports it
  bool isEntry = false; ///< at the prompt
  std::vector<DeclId> macroFunctions; ///< its macros as functions of syntax
};

/// Reads modules: files beside the root file, then the library; and makes trees of texts, so that this layer
/// stays below parsing.
class ModuleReader {
public:
  virtual ~ModuleReader() = default;
  struct Text {
    std::string path; ///< shown in diagnostics
    std::string text;
    bool isLibrary = false;
  };
  /// `a/b` for `use a.b`; none if there is no such module.
  virtual std::optional<Text> read(const std::string& slashed) = 0;
  /// The prelude's files.
  virtual std::vector<Text> prelude() = 0;
  virtual syntax::Ast parse(FileId file) = 0;
  struct ReadExample {
    std::string name;
    syntax::Ast ast;
  };
  /// The examples of documentation comments, as scripts.
  virtual std::vector<ReadExample> examples(const syntax::Ast& ast) = 0;
  /// Expands the uses of macros in a module whose written declarations are indexed, and declares the items
  /// that uses declare. Its items are then the items of the expansion.
  virtual void expand(ModuleId module, syntax::Ast& ast) = 0;
};

/// Owns the modules of a session; parses and indexes each once.
class Modules {
public:
  Modules(SourceStore& sources, Interner& names, DiagnosticSink& sink, ModuleReader& reader);

  /// The root module of a program, from its text.
  ModuleId addRoot(std::string path, std::string text);
  /// Makes a root module the newest entry at the prompt. All entries share one home of types, and names in it
  /// are looked up as the newest entry sees them.
  void setNewestEntry(ModuleId id);
  ModuleId newestEntry() const { return newestEntry_; }
  void setReplaced(DeclId id, bool isReplaced) { decls_[id].isReplaced = isReplaced; }
  /// The module of `use a.b`; none after reporting that it does not exist or that modules use each other.
  ModuleId load(const std::string& dotted, Span use);
  /// Makes the declarations of `name` in one module visible in another, as `use from.{name}` does but whether
  /// or not they are `pub`: entries at the prompt see those before them.
  void import(ModuleId into, NameId name, ModuleId from);
  /// A function inside of a function: no name of the module means it.
  DeclId declareInside(ModuleId id, const syntax::Ast& ast, syntax::NodeId node, NameId name, Span span);
  /// All prelude files as one module.
  ModuleId prelude();

  /// The examples in the documentation comments of a module, each a module too.
  const std::vector<Example>& examples(ModuleId id);

  Module& operator[](ModuleId id) { return *modules_[id.index]; }
  const Module& operator[](ModuleId id) const { return *modules_[id.index]; }
  const Decl& decl(DeclId id) const { return decls_[id]; }
  size_t size() const { return modules_.size(); }
  /// Whether a file is the library's, not the user's.
  bool isLibraryFile(FileId file) const { return libraryFiles_.contains(sources.written(file)); }

  // --- names with marks: written in a quote of a macro
  /// A mark for names written in quotes of this module.
  uint32_t newMark(ModuleId home);
  ModuleId homeOfMark(uint32_t mark) const { return ofMacros_.marks[mark]; }
  /// A name as it is looked up among declarations: the module, and the name there without marks. A name that
  /// a quote did not declare keeps its meaning in the module of the quote.
  std::pair<ModuleId, NameId> meant(ModuleId seenFrom, NameId name) const;
  /// The module that a prefix means, `a` of `a.f`; none if it is none.
  ModuleId prefix(ModuleId seenFrom, NameId name) const;
  /// Records that a module declares the name that a quote calls `marked`.
  void setMade(NameId marked, ModuleId in) { ofMacros_.made[marked] = in; }
  /// `from` with the names of `ast` beside its imports: the names that a macro of it sees.
  ModuleId macroSide(ModuleId from);
  /// `a.b` of a module that was loaded so; empty if it was not.
  std::string dottedOf(ModuleId id) const;
  bool isLoaded(const std::string& dotted) const { return loaded_.contains(dotted); }
  /// The module `ast` of the library; none if it cannot be read.
  ModuleId ast();
  /// Whether code stands in an `@unchecked` function.
  bool isUnchecked(Span place) const;
  bool hasUnchecked() const { return !ofMacros_.unchecked.empty(); }
  /// Declares an item of a module.
  void indexItem(ModuleId id, syntax::Ast& ast, syntax::NodeId node);

  struct Options {
    /// Other modules see private items: the text of `show --stage expand` names these.
    bool opensPrivate = false;
    /// Called for a root module before its items are indexed: gives it the declarations of earlier entries.
    std::function<void(ModuleId)> beforeIndex;
  } options;

  SourceStore& sources;
  Interner& names;
  DiagnosticSink& sink;
  /// The tree that holds a declaration's node: the prelude is several files.
  const syntax::Ast& astOf(DeclId id) const { return *declAsts_[id.index]; }
  syntax::Ast& treeOf(DeclId id) { return *declAsts_[id.index]; }

private:
  FileId addSource(ModuleReader::Text text);
  ModuleId add(std::string name, ModuleReader::Text text);
  void index(ModuleId id, syntax::Ast& ast);
  ModuleId addExample(ModuleId around, syntax::Ast ast);
  /// Adds a declaration to the meanings of a name in the module; an error is reported at `span` if it cannot.
  void addNamed(ModuleId id, DeclId decl, Span span);
  void indexUse(ModuleId id, const syntax::Ast& ast, syntax::NodeId node);
  bool isPublicIn(ModuleId from, const std::string& dotted, const syntax::UseName& name);
  void passOn(ModuleId into, ModuleId from, const std::string& dotted, const syntax::UseName& name);
  void importName(Module& into, ModuleId from, const std::string& dotted, const syntax::UseName& name);
  void refuseAttributes(const std::vector<syntax::Attribute>& attributes, bool ofFunction = true);
  void readAttributes(const syntax::Ast& ast, syntax::NodeId function);
  void declare(ModuleId id, syntax::Ast& ast, DeclKind kind, syntax::NodeId node, NameId name, Span span,
               bool isPub);

  ModuleReader& reader_;
  std::vector<std::unique_ptr<Module>> modules_;
  Store<DeclId, Decl> decls_;
  std::vector<syntax::Ast*> declAsts_;
  std::vector<std::unique_ptr<syntax::Ast>> preludeAsts_;
  std::unordered_set<FileId> libraryFiles_;
  struct OfMacros {
    std::vector<ModuleId> marks;                  ///< the home of each
    std::unordered_map<NameId, ModuleId> made;    ///< where a quote's name was declared
    std::unordered_map<ModuleId, ModuleId> sides; ///< the names that the macros of a module see
    std::vector<Span> unchecked;                  ///< functions that are, and bodies that macros gave to such
  } ofMacros_;
  std::map<std::string, ModuleId> loaded_;
  std::vector<std::string> loading_;
  ModuleId prelude_;
  ModuleId newestEntry_;
};

} // namespace melix::names
