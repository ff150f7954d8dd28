#pragma once
// Loops: the low representation, in terms of machine values, buffers and ownership.
//
// A Core value is one Loops value for each of its *leaves* (layout.h): a scalar; the data pointer of an
// array; pointer and length of a string; the word of an enum. Dims are i64 values, shared by all arrays of a
// function. Statements are in SSA form with regions, like Core's ops; memory is read and written through
// `Access`.
//
// Ownership: a value of class Data or Word is owned by exactly one place. ownership.h defines which operands
// take ownership. lowering (`lower`) makes functions whose uses are not balanced; `insertCounts` balances
// them.

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
enum class SiteKind : uint8_t { Host, Kernel, Vectorisable, Group };
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
  RegionId region;  ///< the region it is a parameter of, else the region of its statement
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

/// The address base + offset + elemBytes · Σ index·stride. The terms of the sum stay separate until emission.
struct Access {
  ValueType elem;
  uint32_t elemBytes = 0;
  int64_t offset = 0;
  bool transfersOwnership = false; ///< of a load: the memory transfers its ownership
  bool borrowed = false;           ///< of a store: the memory gets no ownership
  bool nonTemporal = false;        ///< of a store: non-temporal if the array is large
  bool prefetch = false; ///< of a load in a sequential reduction: prefetches the loads of later iterations
  bool operator==(const Access&) const = default;
};

struct AllocAttr {
  TypeId type;        ///< element or enum
  uint64_t bytes = 0; ///< the size of one element, or of the node
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

/// The dependences between the iterations of a loop.
enum class Dependence : uint8_t {
  Carried,     ///< each iteration may depend on the one before it
  Independent, ///< none through memory within `minDistance`; values may be carried
  None,        ///< none at all: any order, any thread
};
struct ForAttr {
  Dependence dependence = Dependence::Carried;
  uint32_t minDistance = 0; ///< that many consecutive iterations share no written memory; 0: all of them
  bool polls = false;       ///< looks for cancellation at its back-edge
  bool grid = false;        ///< its iterations are the points of a launch on a device
  bool blocks = false;      ///< they are blocks of terms
  uint32_t vectorWidth = 0; ///< iterations side by side in a register; 0: scalar
  uint32_t interleave = 0;  ///< vectors of a vectorised loop in one step
  bool predicated = false;  ///< of a vectorised loop: all steps are masked, so one copy of the body suffices
  uint32_t unrollJam = 0;   ///< unroll-and-jam factor: iterations that share inner loops; 0: none
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

inline bool isLoop(const Stmt& s) { return s.kind == StmtKind::For || s.kind == StmtKind::While; }

/// Operands of a `for` before its carries, and of a launch before its captures.
inline constexpr size_t boundOperands = 2;

// --- functions
// ----------------------------------------------------------------------------------------------------

/// How a parameter is passed.
/// (1) `borrow`: read only.
/// (2) `own`: taken over; a parameter that is updated and returned keeps its memory.
/// (3) `dest`: the address of memory to which the function writes a result.
/// (4) `inout`: a block with one owner, the caller, whose elements the function updates.
/// (5) `scratch`: memory of the thread that runs a kernel, on a device of the
///     point. The launch says how many bytes, the kernel gets
///     their address.
/// (6) `size`: an i64 that is never negative, passed like all other numbers.
/// (7) `elements`: a block, or the address of some of the elements in one: the function only reads them.
enum class ModeKind : uint8_t { Borrow, Own, Dest, InOut, Scratch, Size, Elements };

/// Whether a function neither owns nor writes an argument passed in this mode.
inline bool isReadOnly(ModeKind mode) {
  return mode == ModeKind::Borrow || mode == ModeKind::Size || mode == ModeKind::Elements;
}

/// Whether a function uses only elements of an argument passed in this mode while it runs: the block has no
/// new owner afterwards.
inline bool usesOnlyElements(ModeKind mode) { return mode == ModeKind::InOut || mode == ModeKind::Elements; }

enum class FunctionKind : uint8_t {
  Orchestration, ///< (dims…, leaves…, destinations…) -> (result leaves…, result dims…)
  Chunk,  ///< (captures…) with loop bounds: iterations of a parallel loop; parameters 0 and 1 are begin and
          ///< end
  Kernel, ///< the same, closed: only statements that stmts.def marks so; returns the number of a failed check
  Device, ///< a kernel that a device runs: each thread some of the iterations
};

/// The effects of a function that a caller can observe, beside its results.
enum class EffectsKind : uint8_t {
  Any,
  Silent, ///< at most that it panics or does not end
  Closed, ///< none: a kernel may call it
};

/// Properties of the trip count of a chunk or kernel.
struct ChunkTripCount {
  uint32_t unrolledBy = 1;          ///< iterations that run together, if that many exist
  uint64_t tripCountMultipleOf = 1; ///< divides the trip count of each launch
};

/// The values, statements and regions of a function, by their ids.
struct FunctionParts {
  Store<ValueId, Value> values;
  Store<StmtId, Stmt> stmts;
  Store<RegionId, Region> regions;
};

/// How a device runs the iterations of a chunk or kernel.
struct LaunchPoints {
  bool isGrid = false;    ///< points of a launch, which may be on it
  bool areBlocks = false; ///< each of them a block of terms
  uint32_t threads = 1;   ///< a power of two: so many threads of the device run a point together
  uint32_t tile = 0;      ///< each a tile of so many rows and columns of points; 0: a point
  bool operator==(const LaunchPoints&) const = default;
};

struct Function : FunctionParts {
  std::string name; ///< for traces
  std::string key;  ///< unique in the module
  FunctionKind kind = FunctionKind::Orchestration;
  core::FunctionId source;      ///< none where lowering made it by itself
  Device device = Device::Host; ///< whose nests it launches
  LocId loc;
  RegionId body;
  std::vector<ModeKind> modes; ///< one for each parameter of the body
  std::vector<ValueType> results;
  EffectsKind effects = EffectsKind::Any; ///< of an orchestration function
  bool exported = false;                  ///< visible outside the object: the entry
  bool inlined = false;                   ///< a body of an elementary function: merged into its callers
  ChunkTripCount tripCount;
  LaunchPoints points; ///< of a chunk or kernel

  bool isClosed() const { return effects == EffectsKind::Closed; }
  /// Whether its loops are scheduled for the processor: loops of kernels of a device are not.
  bool isScheduled() const { return kind != FunctionKind::Device; }
  bool hasScratch() const {
    for (ModeKind mode : modes)
      if (mode == ModeKind::Scratch) return true;
    return false;
  }
  const std::vector<ValueId>& params() const { return regions[body].params; }
  ModeKind modeOf(size_t param) const { return param < modes.size() ? modes[param] : ModeKind::Borrow; }
  ValueType typeOf(ValueId v) const { return values[v].type; }
};

/// A nest of code for a device that the host runs, or another exception, and why.
struct OnHost {
  LocId loc;
  std::string_view why;
};

/// Shares types and locations with the Core module it was made from.
struct Module {
  explicit Module(const core::Module& module) : core(module) {}
  const core::Module& core;
  Store<FunctionId, Function> functions;
  FunctionId entry;
  std::vector<OnHost> onHost;
  std::vector<OnHost> unchecked; ///< calls that are to be made on both sides, and are made on the device only
};

/// A statement or type that this stage does not know yet.
struct Unsupported {
  std::string what;
  LocId loc;
};

} // namespace melix::loops
