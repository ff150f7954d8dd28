#pragma once
// The state that the checker of a body (body.h) keeps about names, loops, builders, places and calls.

#include "check/signatures/checker.h"
#include "check/tree/scope.h"

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace melix::check {

// --- names

/// A variable whose type is resolved after its declaration: no size that is found there can stand in it.
struct OpenLocal {
  LocalId local;
  uint32_t firstSymbol; ///< of the symbols that are found later
};

/// The alternative of an or-pattern at hand, after the first: the names there must be, and those bound so
/// far.
struct Alternative {
  std::vector<ScopeEntry> names;
  std::set<NameId> bound;
  Alternative* outer;
};

// --- loops and builders

/// A loop whose body is being checked.
struct LoopFrame {
  LoopId id;
  LoopId leaves{};     ///< that a `break` ends: of `for i in a, j in b` the outer one
  bool isLoop = false; ///< `loop`, whose breaks may carry a value
  TypeId breakType;
  std::vector<NodeId> breaks{}; ///< with values
  uint32_t firstSymbol = 0;     ///< of the sizes found in the loop
  bool broken = false;
  size_t builderDepth = 0;
};

/// A builder whose body is being checked.
struct BuilderFrame {
  size_t scopeBegin;                ///< size of the scope where the body begins
  uint32_t firstLocal, firstSymbol; ///< of the locals and symbols that the body makes
  std::vector<NodeId> ahead;        ///< evaluated before the builder
  std::set<DimSym> aheadSymbols;    ///< sizes that this defines
};

/// How an array is indexed by header indices: Σ c·index + constant.
struct IndexUse {
  std::vector<std::pair<LocalId, int64_t>> terms;
  DimId constant, extent;
  Span span;
  bool conditional = false; ///< on some paths through the body only
};

/// An index of a builder's header, whose range may be found from its uses.
struct HeaderIndex {
  LocalId local;
  LocalId named;      ///< with an offset or a step: the value of the name, first + step·local
  DimId first;        ///< none: 0
  int64_t step = 1;   ///< 0: not a literal
  DimSym extent;      ///< Inference until found
  bool given = false; ///< by `in`, or by the type asked for
  size_t builder;     ///< builders.size() in its body
  size_t conditions;  ///< around the body
  NameId name;
  Span span;
};

/// The use of a builder's elements: an array, a list (they may differ in size), or the terms of a reduction.
/// A reduction evaluates `generatorBefore` first.
enum class BuilderUse : uint8_t { Array, List, Terms };

// --- places

/// The index arrays of a bracket, each at the step it stands for; a mask of the leading axes stands alone.
struct Gathers {
  struct Array {
    size_t step;
    NodeId values;
  };
  std::vector<Array> arrays;
  NodeId mask;
  bool any() const { return mask.valid() || !arrays.empty(); }
};

/// A value that hides sizes, or a slice, taken out to a variable to be changed there.
struct Opening {
  Within within;
  NodeId value; ///< as it was before
  LocalId seen; ///< its name; none: it needs none so far
};

/// The target of an assignment: a place, or the elements of a place that the index arrays of its last bracket
/// choose.
struct Target {
  Place place;
  Gathers gathers;
  size_t bracket = 0;            ///< the first step of the last bracket, where it has index arrays
  TypeId whole;                  ///< the array that this bracket stands at
  std::vector<Opening> openings; ///< each but the first in the variable of the one before
  std::vector<NodeId> before;    ///< evaluates indices, names sizes
  NodeId key;                    ///< of the last bracket on a Dict; none if there is none
  TypeId dict;                   ///< of that Dict
  size_t keyEnd = 0;             ///< the steps to the key's value
};

/// A place with names for its parts. `for &x` walks one: its elements may change by index too, but not the
/// whole. An arm of `match &place` changes either the parts, by their names, or the whole.
struct Hold {
  Place place;
  bool walked = false;
  std::vector<LocalId> names; ///< of an arm: variables that are written back
  bool partsChange = false;
  std::vector<SynId> wholeChanges;
};

// --- calls

/// An argument of a call before it is checked: syntax, or a node already made (a receiver).
struct CallArg {
  NameId label;
  SynId syntax; ///< none when `node` is given
  NodeId node;
  Span span;
  std::optional<Place> place = {}; ///< of an `inout` parameter, where the compiler makes the call
};

/// Explicit `[…]` of a call: `init[64, H: 128](k)`.
using Explicit = std::vector<syntax::Argument>;

/// A call as it is written.
struct WrittenCall {
  std::vector<CallArg> args;
  std::optional<Explicit> items; ///< of `f[…](…)`
  TypeId expected;
  Span span;
  const Explicit* explicitItems() const { return items ? &*items : nullptr; }
};

/// A function value being called: where the captures of these functions come from.
struct Given {
  std::vector<DeclId> functions;
  std::vector<NameId> names;
  NodeId value;
  KnownId nested; ///< none: functions of a script
};

/// A call whose instance is made when all types are resolved.
struct PendingCall {
  NodeId node;
  DeclId decl;
  KnownId known;
  TypeEnv bound;                    ///< of a declared function: its generics here
  std::vector<NameId> genericNames; ///< Type generics of the key, in order
  std::vector<NameId> packNames;
  std::vector<TypeId> untyped;     ///< types of untyped parameters and captures
  bool inBuilder = false;          ///< stands in the body of a builder, which does no I/O
  std::vector<TypeId> openResults; ///< open numbers of the result that are not among the arguments'
  NodeId follow;                   ///< a Derivative whose target is this call's
  InstanceId checked;              ///< the callee at the open numbers that were given; none: it has none
  std::vector<TypeId> openGiven;   ///< these
};

/// The instance of a call, with the values of its sizes and open numbers here.
struct Callee {
  InstanceId instance;
  Canonical canonical;
  types::DimSubst dims;                      ///< the callee's dimensions here
  std::vector<DimSym> sizes;                 ///< sizes that it finds
  std::unordered_map<uint32_t, TypeId> here; ///< its open variables, as variables of this body
  std::vector<TypeId> openGiven;             ///< the variables of this body that it was given
};

} // namespace melix::check
