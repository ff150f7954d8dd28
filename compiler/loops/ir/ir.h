#pragma once
// Loops: what runs, in terms of machine values, buffers and ownership.
//
// A Core value is one Loops value for each of its *leaves* (layout.h): a scalar; the data pointer of an
// array; pointer and length of a string; the word of an enum. Dims are i64 values, shared by all arrays of a
// function. Statements are in SSA form with regions, like Core's ops; memory is read and written through
// `Access`.
//
// Ownership: a value of class Data or Word is owned by exactly one place. Which operands take ownership is
// said by ownership.h. `bufferise` makes functions in which uses are not balanced; `insertCounts` makes them
// so.

#include "core/ir/ir.h"

namespace melix::loops {

using core::LocId;
using types::TypeId;
using types::TypeKind;

struct ValueTag;
struct StmtTag;
struct RegionTag;
struct FunctionTag;
using ValueId = Id<ValueTag>;
using StmtId = Id<StmtTag>;
using RegionId = Id<RegionTag>;
using FunctionId = Id<FunctionTag>;

enum class ClassKind : uint8_t { Scalar, Data, Word, Address };

struct ValueType {
  ClassKind cls = ClassKind::Scalar;
  TypeKind scalar = TypeKind::I64; ///< of Scalar
  bool operator==(const ValueType&) const = default;
  bool counted() const { return cls == ClassKind::Data || cls == ClassKind::Word; }
};
constexpr ValueType scalarType(TypeKind kind) { return {ClassKind::Scalar, kind}; }
inline constexpr ValueType dataType{ClassKind::Data, TypeKind::I64};
inline constexpr ValueType wordType{ClassKind::Word, TypeKind::I64};
inline constexpr ValueType addressType{ClassKind::Address, TypeKind::I64};
inline constexpr ValueType indexType{ClassKind::Scalar, TypeKind::I64};

enum class StmtKind : uint8_t {
#define STMT(Kind, ...) Kind,
#include "loops/ir/stmts.def"
};

/// Where a statement of a kind may stand.
enum class SiteKind : uint8_t { Host, Kernel, Lane };
constexpr SiteKind siteOf(StmtKind kind) {
  using enum SiteKind;
  constexpr SiteKind sites[] = {
#define STMT(Kind, Text, Site, ...) Site,
#include "loops/ir/stmts.def"
  };
  return sites[static_cast<size_t>(kind)];
}

struct Value {
  ValueType type;
  StmtId def;       ///< none for a region parameter
  RegionId region;  ///< of which it is a parameter, else where its statement stands
  NameId hint = {}; ///< source name, for text only
};

struct Region {
  std::vector<ValueId> params;
  std::vector<StmtId> stmts; ///< the last one is `yield`
};

// --- attributes
// ---------------------------------------------------------------------------------------------------

/// An op of Core on scalars of kind `from`, with the op's own attribute number.
struct ScalarAttr {
  core::OpKind op;
  uint32_t index = 0;
  TypeKind from = TypeKind::I64;
  bool operator==(const ScalarAttr&) const = default;
};

/// base + offset + elemBytes · Σ index·stride; the sum is kept apart until emission.
struct Access {
  ValueType elem;
  uint32_t elemBytes = 0;
  int64_t offset = 0;
  bool take = false;   ///< of a load: the memory gives its ownership away
  bool lend = false;   ///< of a store: the memory gets no ownership
  bool stream = false; ///< of a store: goes past the cache where the array is large
  bool ahead = false;  ///< of a load in a chain: what its later turns read is asked for
  bool operator==(const Access&) const = default;
};

struct AllocAttr {
  TypeId type;        ///< element or enum
  uint64_t bytes = 0; ///< of one element, or of the node
  bool zeroed = false;
  bool operator==(const AllocAttr&) const = default;
};

enum class RuntimeKind : uint8_t {
#define RUNTIME(Kind, Text) Kind,
#include "loops/ir/runtime_calls.def"
};
struct RuntimeCall {
  RuntimeKind kind;
  TypeId type;
  bool operator==(const RuntimeCall&) const = default;
};

struct FormatCall {
  TypeId type;
  std::string spec;
  bool quoted = false;
  bool operator==(const FormatCall&) const = default;
};

/// `{0}` `{1}` … stand for the operands after the condition.
struct Message {
  std::string text;
  bool operator==(const Message&) const = default;
};

struct SwitchAttr {
  std::vector<uint32_t> regionOf;
  bool operator==(const SwitchAttr&) const = default;
};

/// How the turns of a loop depend on each other.
enum class MarkKind : uint8_t {
  Serial,
  Points,   ///< points of a nest: only by what is carried, or so far apart as `strip` says
  Parallel, ///< not at all, nothing is carried: they may run in any order and on any thread
};
struct ForAttr {
  MarkKind mark = MarkKind::Serial;
  uint32_t strip = 0;  ///< of points: so many one after another share no memory that one writes; 0: none do
  bool polls = false;  ///< looks for cancellation at its back-edge
  uint32_t lanes = 0;  ///< so many turns side by side, as a vector register holds; 0: one after another
  uint32_t unroll = 0; ///< so many times the lanes at once; of a loop in lanes
  bool masked = false; ///< of a loop in lanes: all strips run under a mask, so that one copy of the body does
  uint32_t rows = 0;   ///< so many turns together, inside of the loops in it; 0: one after another
  bool operator==(const ForAttr&) const = default;
};

using Attr =
    std::variant<std::monostate, uint64_t, std::string, ScalarAttr, Access, TypeId, AllocAttr, FunctionId,
                 ops::BuiltinKind, RuntimeCall, FormatCall, Message, SwitchAttr, ForAttr>;

struct Stmt {
  StmtKind kind;
  LocId loc;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<RegionId> regions;
  Attr attr;

  template <class A>
  const A& as() const {
    return std::get<A>(attr);
  }
  template <class A>
  A& as() {
    return std::get<A>(attr);
  }
};

// --- functions
// ----------------------------------------------------------------------------------------------------

/// How a parameter is passed. An `own` parameter that is updated and returned keeps its memory; a `dest` is
/// the address of memory to which the function writes a result; an `inout` is a block with one owner, the
/// caller, whose elements the function updates; a `scratch` is memory of the thread that runs a kernel: the
/// launch says how many bytes, the kernel gets their address; a `size` is a number, an i64, that is never
/// negative, and passed like all others.
enum class ModeKind : uint8_t { Borrow, Own, Dest, InOut, Scratch, Size };

/// Whether a function neither owns nor writes what it is given so.
inline bool isReadOnly(ModeKind mode) { return mode == ModeKind::Borrow || mode == ModeKind::Size; }

enum class FunctionKind : uint8_t {
  Orchestration, ///< (dims…, leaves…, destinations…) -> (result leaves…, result dims…)
  Chunk,  ///< (captures…) with loop bounds: iterations of a parallel loop; parameters 0 and 1 are begin and
          ///< end
  Kernel, ///< the same, closed: only statements that stmts.def marks so; a failed check is a returned number
};

/// What a caller sees of a function beside its results.
enum class EffectsKind : uint8_t {
  Any,
  Silent, ///< at most that it panics or does not end
  Closed, ///< nothing: a kernel may call it
};

/// Of the turns that a chunk or kernel is for.
struct ChunkTurns {
  uint32_t step = 1;     ///< so many are done together where there are as many
  uint64_t multiple = 1; ///< those of each launch are a multiple of it
};

struct Function {
  std::string name; ///< for traces
  std::string key;  ///< unique in the module
  FunctionKind kind = FunctionKind::Orchestration;
  core::FunctionId source; ///< none where lowering made it by itself
  LocId loc;
  RegionId body;
  std::vector<ModeKind> modes; ///< one for each parameter of the body
  std::vector<ValueType> results;
  EffectsKind effects = EffectsKind::Any; ///< of an orchestration function
  bool exported = false;                  ///< visible outside the object: the entry
  bool inlined = false;                   ///< a body of an elementary function: merged into its callers
  ChunkTurns turns;

  Store<ValueId, Value> values;
  Store<StmtId, Stmt> stmts;
  Store<RegionId, Region> regions;

  bool isClosed() const { return effects == EffectsKind::Closed; }
  const std::vector<ValueId>& params() const { return regions[body].params; }
  ValueType typeOf(ValueId v) const { return values[v].type; }
};

/// Shares types and locations with the Core module it was made from.
struct Module {
  explicit Module(const core::Module& module) : core(module) {}
  const core::Module& core;
  Store<FunctionId, Function> functions;
  FunctionId entry;
};

/// A statement or type that this stage does not know yet.
struct Unsupported {
  std::string what;
  LocId loc;
};

} // namespace melix::loops
