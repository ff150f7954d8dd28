#pragma once
// Facts about declarations, instances and entries at the prompt.

#include "check/tree/build.h"
#include "check/tree/program.h"
#include "diagnostics/messages.h"

#include <map>
#include <optional>
#include <set>

namespace melix::check {

class Body;
class Checker;

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
  bool isPure = false; ///< `pure fn`: does no I/O
  bool isCold = false; ///< `@builtin("cold")`: never inlined
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

} // namespace melix::check
