#pragma once
// Checks items on demand: one instance at a time, memoised by InstanceKey. Declarations, records and lookup
// of names stand here; signatures of types are read by resolve.h, bodies are checked by body.h.

#include "check/intrinsics/intrinsics.h"
#include "check/tree/build.h"
#include "check/tree/program.h"
#include "diagnostics/messages.h"

#include <deque>
#include <functional>
#include <map>
#include <set>

namespace melix::check {

class Body;
class SignatureTable;

/// A parameter as the declaration gives it.
struct ParamDecl {
  NameId name;
  syntax::NodeId type;         ///< none: untyped, the function is a template
  syntax::NodeId defaultValue; ///< none: must be given
  bool isInout = false;
  Span span;
};

/// A function's declaration, read once.
struct FunctionDecl {
  DeclId decl;
  ModuleId module;
  NameId name;
  std::vector<GenericParam> generics; ///< the declared ones
  std::vector<ParamDecl> params;
  syntax::NodeId result; ///< none: inferred
  syntax::NodeId body;   ///< none: a builtin
  std::string builtin;   ///< of `@builtin("name")`
  Span span;
  bool isPure = false;  ///< `pure fn`: does no I/O
  bool isApart = false; ///< `@builtin("apart")`: never inlined
  /// The library's `reduce`: of a generator it combines the terms, whatever their indices (rule 29).
  bool combinesTerms = false;
  bool hasUntyped() const;
};

/// A struct's or enum's declaration.
struct RecordDecl {
  DeclId decl;
  ModuleId module;
  NameId name;
  bool isEnum = false;
  std::vector<GenericParam> generics;
  std::vector<std::vector<syntax::NodeId>> defaults; ///< by case and field; none: must be given
  Span span;
};

/// How much is known of the result of an instance in progress. Guessed: a type with open numbers, which the
/// second round over a recursive body may resolve. (InstanceInfo is the checked signature: the facts that a
/// call needs beyond the instance itself.)
enum class ResultState : uint8_t { Unknown, Guessed, Known };

struct InstanceInfo {
  InstanceKey key;
  std::vector<NameId>
      dimNames; ///< of the first dimParams; the others are the key's canonical symbols in order
  /// The dimension that each of these others is at the first request of the instance, for messages.
  /// None: not known.
  std::vector<DimId> stoodFor;
  bool inProgress = false;
  ResultState state = ResultState::Unknown;
  bool recursed = false;                ///< called while its result was not known
  TypeId guess;                         ///< the result of the round before
  std::vector<types::DimSym> guessDims; ///< the dimension parameters of that round
  TypeId openGuess;                     ///< with the open numbers it was resolved from; none: it had none
  std::vector<std::pair<TypeId, types::VarClass>> literalVariables; ///< these
  size_t guessedFor =
      SIZE_MAX; ///< finished on a guess: where on the stack the instance stands that it waits for
  std::vector<bool> usesUpKeys; ///< by parameter: a random key that it consumes (rule 39)
  // Of an instance at open numbers, which only finds the types its body makes of them and is never lowered:
  std::vector<TypeId> openArgs; ///< the key's types as the body left them
  std::vector<std::pair<TypeId, types::VarClass>>
      stillOpen;         ///< the variables in openArgs, then those only in the result
  size_t openInArgs = 0; ///< how many of these are in openArgs

  bool hasResult() const { return !inProgress || state != ResultState::Unknown; }
  bool isGuess() const { return inProgress ? state != ResultState::Known : guessedFor != SIZE_MAX; }
};

/// Types with their dimension symbols renamed to canonical ones, for keys; and the dimension that each
/// canonical symbol replaces.
struct Canonical {
  std::vector<TypeId> types;
  std::vector<DimId> sizes; ///< of those given beside the types
  std::vector<DimId> stoodFor;
};

/// A dimension parameter by its name (`S#k`: axis k of a pack), and its value.
using NamedSize = std::pair<NameId, DimId>;

/// A variable at the prompt: entries after the one that made it see it.
struct PromptVariable {
  NameId name;
  TypeId type;
  bool isVar = false;
  /// The size that `?N` found; only types and the entries themselves see it.
  std::optional<int64_t> size = {};
  bool isSize = false;
  Span span = {}; ///< where it was declared
};

/// A checked entry: a function of the variables there were, in order. It gives a tuple: the value of the last
/// statement (unit if that is no expression), then the values of `variables`.
struct PromptEntry {
  InstanceId instance;
  std::vector<PromptVariable> variables; ///< all that are visible after it; types once sizes are known
};

/// The names that a pattern binds, in the order in which they stand.
void namesInPattern(const syntax::Ast& ast, syntax::NodeId pattern, std::vector<NameId>& out);

/// The source that all instances of one function share: its declaration, or the lambda as it is written.
/// Values that make or wrap functions have neither.
using Origin = std::pair<DeclId, const void*>;

class Checker {
public:
  /// `strictShapes`: sizes that only the run can compare are errors (rule 22), except where the program asks
  /// for the check: `x as T`, `reshape`.
  Checker(names::Modules& modules, TypeStore& types, DiagnosticSink& sink, bool strictShapes = false);
  ~Checker();

  /// Checks every declaration of the module that needs no caller: typed functions, records, constants. Gives
  /// the functions.
  std::vector<InstanceId> checkModule(ModuleId module);
  /// The program of a root module: its statements, then `main` with the command line's values; gives the exit
  /// status as i64. None after errors.
  InstanceId program(ModuleId root);
  /// `test "name"` blocks of a module, each an instance without parameters; those whose name contains
  /// `filter`.
  using NamedInstances = std::vector<std::pair<std::string, InstanceId>>;
  NamedInstances tests(ModuleId root, std::string_view filter);
  /// `bench "name"` blocks: the same, whose value is computed for its own sake.
  NamedInstances benches(ModuleId root, std::string_view filter);
  /// The statements of a module as an entry at the prompt; its instance is none after errors.
  PromptEntry prompt(ModuleId module, const std::vector<PromptVariable>& known);
  /// The library's function `name` (like `exp_f32`); none if the library has none.
  InstanceId libraryFunction(std::string_view module, std::string_view name);

  Trail trail; ///< of the instances that are made
  Program program_;
  names::Modules& modules;
  TypeStore& types;
  DiagnosticSink& sink;
  const bool strictShapes;

private:
  const std::unique_ptr<SignatureTable> signatures_;

public:
  SignatureTable& signatures;

  // --- declarations (decls.cpp)
  const FunctionDecl& function(DeclId decl);
  const RecordDecl& record(DeclId decl);
  /// A struct or an enum at these arguments, in the order of its declaration.
  TypeId recordType(DeclId decl, std::vector<TypeId> typeArgs, std::vector<DimId> dims = {});
  /// The same record at other type arguments.
  TypeId reinstantiate(TypeId record, std::vector<TypeId> typeArgs);
  /// At type arguments with a symbol for each of `argSizes` sizes (TypeStore::generalised).
  types::RecordId recordAt(DeclId decl, std::vector<TypeId> typeArgs, size_t argSizes);
  bool takesNoParameters(DeclId decl);
  /// The type declaration a name or `module.Name` means; none without a report.
  DeclId typeDecl(ModuleId module, const syntax::Ast& ast, syntax::NodeId node);
  DeclId typeDecl(ModuleId module, NameId name);
  DeclId declNamed(ModuleId module, NameId name, const std::function<bool(names::DeclKind)>& fits);
  /// Functions a name may mean, one layer after another (rule 8): this module, imports, prelude.
  std::vector<std::vector<DeclId>> functionLayers(ModuleId module, NameId name);
  std::vector<DeclId> functionsIn(ModuleId module, NameId name, bool publicOnly);
  std::vector<DeclId> importedFunctions(ModuleId module, NameId name);
  /// The functions at the home of a type: the exports of an imported module, all functions of a program's own
  /// file, all that the newest entry at the prompt sees.
  std::vector<DeclId> functionsAtHome(ModuleId home, NameId name);
  DeclId constDecl(ModuleId module, NameId name);
  /// (enum declaration, case) for a bare case name seen from a module.
  std::vector<std::pair<DeclId, uint32_t>> casesNamed(ModuleId module, NameId name);
  /// The case `module.Case` of a public enum.
  std::optional<std::pair<DeclId, uint32_t>> publicCase(ModuleId module, NameId name);
  std::string suggestType(ModuleId module, NameId name);
  std::string suggest(std::string_view wrong, const std::vector<std::string_view>& known);
  std::string suggestPublic(ModuleId module, NameId name);
  std::string suggestName(ModuleId module, NameId name, const std::vector<NameId>& locals);
  /// The constant that `c` or `module.c` means.
  DeclId constDecl(ModuleId module, const syntax::Ast& ast, syntax::NodeId node);
  DimId constantDim(ModuleId module, NameId name);
  struct ConstantSize {
    DimId dim;         ///< none: it is no size
    std::string why;   ///< it is none
    bool told = false; ///< an error about its value explains `why`
  };
  const ConstantSize& constantSize(DeclId constant);
  /// The number that a constant is as a size, if it is one.
  std::optional<int64_t> constantNumber(DeclId constant);
  struct ConstantShape {
    bool namesOthers = false; ///< it is made of other constants
    bool divides = false;     ///< it, or one of these, holds a `/`
  };
  ConstantShape constantShape(DeclId constant);
  /// Reports the error of a constant again: the message may have been dropped, if a trial asked for it first.
  void repeatConstant(DeclId constant);
  std::string whyNoSize(ModuleId module, NameId name);
  std::string suggestSize(ModuleId module, NameId name, const std::vector<NameId>& inScope);
  /// Runs a constant that is an integer; who makes the checker says how. `problem` goes on from its name.
  struct Evaluated {
    std::optional<int64_t> value;
    std::string problem;
  };
  /// Services that the owner of the checker provides.
  struct Hooks {
    std::function<Evaluated(InstanceId)> evaluate;
    /// Called before a declaration's signature is read, and before its body is checked (false: it cannot be
    /// yet).
    std::function<void(DeclId)> prepareSignature;
    std::function<bool(DeclId)> prepareBody;
  } hooks;
  /// Aliases and constants that are being read.
  struct Aliases {
    std::set<DeclId> open;
    std::map<DeclId, TypeId> types; ///< found while the outermost is read
  } aliases;
  /// Default values being checked: in which instance, of which parameter.
  std::set<std::tuple<InstanceId, DeclId, size_t>> openDefaults;
  /// The variables at the top of a script, or before an entry at the prompt; and where each `let` begins.
  struct ScriptNames {
    std::map<NameId, uint32_t> lets;
    std::set<NameId> vars, again; ///< `again`: bound by several `let`s, which functions do not see
  };
  const ScriptNames& scriptNames(ModuleId module);
  /// Whether the check of a function's body reports the meaning of a name, or why it is not seen.
  bool isOfScript(ModuleId module, NameId name);
  /// The variables that a module's functions see at the prompt; to be said before the module is checked.
  void seePrompt(ModuleId module, const std::vector<PromptVariable>& known);
  /// The names that the statements of a module bind at its top.
  std::set<NameId> namesBoundIn(ModuleId module);
  /// Says whether a struct or enum is one that the prompt has replaced: then messages about its types say so.
  void setReplaced(DeclId record, bool isReplaced);
  /// The functions of one name that take arguments of the same types as an earlier one.
  std::vector<DeclId> redefined(const std::vector<DeclId>& set);
  /// Instances are checked anew when they are asked for; of a module that has changed all is found anew.
  void forgetInstances(ModuleId changed = ModuleId::none());
  /// Functions that see `let`s of their script, checked at the types these have; those without a caller are
  /// so too.
  void checkCapturingLets(ModuleId module, const std::map<NameId, TypeId>& lets);
  void checkOverloadSet(const std::vector<DeclId>& set);
  /// Whether it was reported that nothing distinguishes a function from another one of its name.
  bool isAlike(DeclId decl) const { return alike_.contains(decl); }
  /// The `let`s of the script that a function sees, itself or through the functions it calls (rule 9).
  std::vector<NameId> scriptLets(DeclId decl);
  std::map<NameId, WrittenQuotient> scriptQuotients; ///< `let`s of the script that are made of one
  /// The declaration of a function inside of a function.
  DeclId nested(ModuleId module, const syntax::Ast& tree, SynId node);
  bool inTest = false; ///< a test runs the checked code, without the statements of the script
  static uint64_t literalBits(std::string_view text); ///< of an integer literal in any base
  static bool literalFits(std::string_view text, uint64_t& bits);
  const syntax::Ast& ast(DeclId decl) const { return modules.astOf(decl); }

  // --- instances (instances.cpp)
  Canonical canonical(const std::vector<TypeId>& types, const std::vector<NamedSize>& sizes = {});
  /// The same with every dimension renamed, constants and expressions too: for recursion that changes sizes
  /// (rule 11).
  Canonical sizeless(const std::vector<TypeId>& types, const std::vector<NamedSize>& sizes = {});
  /// Whether an instance of this function is being checked whose key differs from this one.
  bool recursesDifferently(const InstanceKey& key) const;
  DimSym canonicalSym(uint32_t k, types::DimSymKind kind);
  /// The instance of `key`, checked (or being checked). `call` is where it was asked for, `stoodFor` the
  /// dimensions that the renamed sizes are there. A body that fits at sizes of its own is not checked at the
  /// sizes of the key.
  InstanceId instantiate(InstanceKey key, Span call, const std::vector<DimId>& stoodFor = {});
  const InstanceInfo& info(InstanceId id) const { return infos_[id.index]; }
  InstanceInfo& info(InstanceId id) { return infos_[id.index]; }
  /// A template value that the compiler itself calls (Equality, Moved, Scaled, Dotted). There is one of a
  /// kind for each place, since a place always asks for the same.
  KnownId ownTemplate(Known known, Span place);
  /// Whether an instance of a lambda was asked for, with its captures here or anywhere else.
  bool isCalled(const Known& lambda) const {
    return calledLambdas_.contains({lambda.lambda.tree, lambda.lambda.node});
  }
  /// A fresh instance without memo: for tests, scripts and probes.
  InstanceId addInstance(InstanceKey key);
  /// Ends the checking of a body whose value is `value`; `declared` is its result type, or none if it is
  /// inferred.
  void renewGuess(InstanceId id);
  /// Each size that is computed from sizes which only the value's maker knows, `n - 1` of an argument n,
  /// becomes one of its own: who gets the value reads it off.
  TypeId withExistentialSizes(TypeId type, const std::function<bool(DimSym)>& own);
  void finish(InstanceId id, Body& body, NodeId value, TypeId declared);

  // --- generic functions where they are declared (generics.cpp)
  bool isHeldToBounds(DeclId decl);
  /// Says that `got` does not meet the bound of a parameter of the function or record `of`.
  void refuseBound(std::string_view of, const GenericParam& g, TypeId got, std::string shown, Span span);
  /// Whether an instance is only checked, never run: its types are type parameters.
  bool isOfParams(const InstanceKey& key) const {
    return std::any_of(key.typeArgs.begin(), key.typeArgs.end(),
                       [this](TypeId t) { return types.holds(t, types::TypeKind::Param); });
  }
  bool satisfiesBounds(DeclId decl, KnownId known, const std::vector<TypeId>& captured);
  /// Whether a function's body is checked whole where it stands, called or not.
  bool isCheckedWhereDeclared(DeclId decl) {
    return isHeldToBounds(decl) || keyOfDefinition(FunctionDecl(function(decl))).has_value();
  }
  /// The instance made where a function is declared, with its captures there; none if there is none.
  InstanceId instantiateDefinition(DeclId decl, KnownId known, const std::vector<TypeId>& captured);

  /// Symbols of `from` as they appear in `to`, a type of the same structure.
  void matchSymbols(TypeId from, TypeId to, types::DimSubst& out);

private:
  ConstantSize computedSize(DeclId decl);
  bool isComplete(InstanceId id, std::set<InstanceId>& seen);
  void checkBody(InstanceId id);
  void remember(InstanceId id);
  void noteDependency(InstanceId id);
  bool startRound(InstanceId id, Messages& told);
  bool isGenericMain(ModuleId module, DeclId decl);
  void annotateWithCall(Messages& told, const std::string& name, Span call);
  void closeInstance(Messages& told);
  std::string divergingParameter(const InstanceKey& key);
  InstanceId atOwnSizes(const InstanceKey& key, Span call, const std::vector<DimId>& stoodFor);
  bool refusesInstance(const InstanceKey& key, const std::string& name, Span call);
  void checkDeclaration(DeclId decl);
  void checkInside(ModuleId module);
  void checkRecords(const std::vector<DeclId>& decls);
  void checkOverloads(ModuleId module);
  std::optional<InstanceKey> keyOfDefinition(const FunctionDecl& fn);
  void finishOpen(InstanceId id, Body& body, NodeId value);
  const std::vector<TypeId>& paramTypes(DeclId decl, const std::vector<GenericParam>& generics);
  bool isAtDeclaration(const InstanceKey& key);
  bool mayInstantiate(const InstanceKey& key);
  std::vector<Diagnostic> checkAtDeclaration(const InstanceKey& key, const FunctionDecl& fn);
  InstanceId entryOf(InstanceId inner, ModuleId root);
  struct NamedBy {
    std::set<NameId> lets;
    std::vector<DeclId> functions;
  };
  const NamedBy& namedBy(DeclId decl);
  bool isScript(ModuleId module);
  std::vector<DeclId> declsOf(ModuleId module);
  GenericKind kindOfGeneric(const syntax::Ast& ast, NameId name, const std::vector<syntax::NodeId>& typeNodes,
                            ModuleId module);
  bool usedAsType(const syntax::Ast& ast, syntax::NodeId type, NameId name, ModuleId module);
  std::vector<GenericParam> readGenerics(const syntax::Ast& ast, const std::vector<syntax::Generic>& generics,
                                         const std::vector<syntax::NodeId>& typeNodes, ModuleId module);

  /// None: the body does not fit at sizes of its own, where its calls tell others.
  std::map<InstanceKey, InstanceId> instances_;
  std::set<DeclId> alike_;
  std::set<std::pair<const syntax::Ast*, SynId>> calledLambdas_;
  std::deque<InstanceInfo> infos_; ///< stay in place while bodies ask for more
  std::map<DeclId, std::unique_ptr<FunctionDecl>> functions_;
  std::map<DeclId, std::unique_ptr<RecordDecl>> recordDecls_;
  std::map<DeclId, std::vector<TypeId>> paramTypes_;
  std::map<DeclId, bool> heldToBounds_;
  std::map<InstanceKey, std::vector<Diagnostic>> refusals_; ///< of generic bodies; empty: it fits
  std::vector<DeclId> openRecords_;                         ///< whose fields are being resolved
  std::map<std::pair<DeclId, std::vector<TypeId>>, types::RecordId> records_;
  std::vector<DimSym> canonicalSyms_[2];
  std::map<std::tuple<KnownKind, uint32_t, uint32_t, uint32_t>, KnownId> ownTemplates_;
  std::map<ModuleId, ScriptNames> scripts_;
  std::map<ModuleId, std::vector<PromptVariable>> promptNames_;
  /// Constants that were asked for in types.
  struct KnownConstants {
    std::map<DeclId, ConstantSize> sizes;
    std::map<DeclId, ConstantShape> shapes;
    std::map<DeclId, std::vector<Diagnostic>> errors;
  } constants_;
  std::map<DeclId, NamedBy> namedBy_;
  std::map<DeclId, std::vector<NameId>> seenLets_;
  std::map<std::pair<const syntax::Ast*, SynId>, DeclId> nested_;
  struct Open {
    std::string name;
    Origin origin;
    Span call;
    InstanceId id;
    size_t lowest;     ///< the lowest on the stack whose result this one had to guess; itself: none
    size_t firstGuess; ///< of guesses_, made since it was opened
    bool isTemplate;   ///< there may be any number of instances like this one
  };
  std::vector<Open> stack_; ///< instances being checked
  /// Instances made for the outermost call of a template that is being checked, by function.
  std::map<Origin, size_t> made_;
  /// Finished instances that are forgotten when the results they guessed are known.
  std::vector<InstanceId> guesses_;
  friend class Body;
};

} // namespace melix::check
