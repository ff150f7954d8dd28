#pragma once
// Core: typed SSA with regions. Semantics in core/README.md, the ops in ops/ops.def.
//
// A function owns its values, ops and regions; a module owns functions, locations and shares the session's
// TypeStore. Regions see the values of the regions around them. Every region has one block and ends in
// `yield`.

#include "ops/ops.h"
#include "support/device.h"
#include "support/small_vector.h"
#include "types/types.h"

#include <map>
#include <memory>
#include <string>
#include <variant>

namespace melix::core {

using ops::OpKind;
using types::DimId;
using types::DimSym;
using types::RecordId;
using types::TypeId;
using types::TypeKind;

struct ValueTag;
struct OpTag;
struct RegionTag;
struct FunctionTag;
struct LocTag;
using ValueId = Id<ValueTag>;
using OpId = Id<OpTag>;
using RegionId = Id<RegionTag>;
using FunctionId = Id<FunctionTag>;
using LocId = Id<LocTag>;

/// One link of a location chain: where, and how the code came to be there.
enum class LocKind : uint8_t {
  Source,
  BlockCall, ///< the call of a block of the function: no frame of a trace, which shows the place in the block
  InlinedAt,
  DerivativeOf,
};
struct Loc {
  LocKind kind = LocKind::Source;
  Span span;   ///< of Source: the code; of the others: the place that caused the step (the call, say)
  LocId inner; ///< the rest of the chain, towards the source; none for Source and BlockCall
  std::string function; ///< InlinedAt: name of the function for traces
};

struct Value {
  TypeId type;
  OpId def;        ///< defining op; none for a region parameter
  RegionId region; ///< of which it is a parameter; none for op results
  uint32_t index = 0;
  NameId hint; ///< source name, for text only
};

struct Region {
  std::vector<DimSym> dimParams; ///< dims carried by for/while, bound per match arm
  std::vector<ValueId> params;
  std::vector<OpId> ops; ///< the last one is `yield`
  OpId parent;           ///< none for a function body
};

// --- attributes
// ---------------------------------------------------------------------------------------------------

struct Constant {
  uint64_t bits = 0; ///< of a scalar or Exit, in the low bits of the result type
  std::string text;  ///< of a str
};

/// Control state of single-exit code, the constants of type Exit.
namespace exits {
inline constexpr uint64_t on = 0, ret = 1;
constexpr uint64_t breakOf(uint64_t loop) { return 2 + 2 * loop; }
constexpr uint64_t continueOf(uint64_t loop) { return 3 + 2 * loop; }
} // namespace exits

/// Steps of a place. Index-like steps speak of successive axes of the array at hand; axes that no step
/// mentions are whole. After the steps of an array a Field step goes into its elements (`bodies[i].vx`),
/// Element into a list.
enum class StepKind : uint8_t {
  Field,   ///< number = field of a struct or part of a tuple
  Index,   ///< one axis, removed; consumes an i64 operand
  Slice,   ///< one axis, kept with extent `length`; consumes an i64 operand (start); stride = `step` (>= 1)
  All,     ///< one whole axis
  Element, ///< of a list; consumes an i64 operand
};
struct PathStep {
  StepKind kind;
  uint32_t number = 0;
  DimId length;
  int64_t step = 1;
};
using Path = std::vector<PathStep>;

using ops::MonoidKind;
enum class OrderKind : uint8_t { Unset, Chain, Lanes };
enum class NestResultKind : uint8_t { Collect, Reduce, Filter };

/// One result of a nest.
///   Collect: keeps all axes (in the order `keep`); an array-valued yield appends its dims.
///   Reduce:  keeps `keep`, combines over the rest, row-major. Sum takes any tangent-like yield.
///   ArgMin/ArgMax give one
///            i64 result for each reduced axis. Combine has `yields` operands and results, units as nest
///            operands after the accumulators, and its region (2·yields params) at regions[combineRegion].
///   Filter:  one axis; yields a bool and `yields` values; results T[d] with d the next of the op's
///            resultDims.
struct NestResult {
  NestResultKind kind = NestResultKind::Collect;
  std::vector<uint32_t> keep;
  MonoidKind monoid = MonoidKind::Sum;
  OrderKind order = OrderKind::Unset; ///< of float Sum and Prod; set by core/order/order.h
  bool fused = false;  ///< float Sum whose yielded value is a `mul` of region 0: each term is added by `fma`
  uint32_t lanes = 0;  ///< of the order Lanes: how many, a power of two
  uint32_t row = 0;    ///< of the order Lanes: the reduced axis whose index determines the lane of a term
  uint32_t yields = 1; ///< of Combine and Filter: how many values are combined, or kept, together
  uint32_t combineRegion = 0;
};

/// Op::dims are the extents of the axes. Operands: initial accumulators, then units of Combine results.
/// Region 0: params = axes as i64, then accumulators (type Acc(T)); yields the results' values in order, then
/// the accumulators. Results: the results of `results` in order, then the accumulators' final values (type
/// T).
struct NestAttr {
  std::vector<NestResult> results;
  uint32_t accs = 0;
};

/// Of `for`: yields carries, then `collects` values; results: carries, then arrays T[count, …]; with collects
/// the op defines resultDims[0] = max(count, 0), and then dims carried by the iterations.
struct LoopAttr {
  uint32_t collects = 0;
};

/// Region number for each case of the enum; several cases may share one that takes no payload. Of a bool or
/// integer: for the numbers 0, 1, …; any other number goes where the last of these goes.
struct MatchAttr {
  std::vector<uint32_t> regionOf;

  /// The region number for a case, or for the bits of a number.
  uint32_t of(uint64_t number) const { return number < regionOf.size() ? regionOf[number] : regionOf.back(); }
};

struct CallAttr {
  FunctionId callee;
};

enum class CheckKind : uint8_t {
#define CHECK(Kind, Name, Operands, Dims, Message) Kind,
#include "core/ir/checks.def"
};
struct CheckAttr {
  CheckKind kind;
  std::string text;
  TypeId type; ///< of Converts
};

/// Jvp:      operands: arguments, tangents of the `wrt` parameters; results: primal results, tangents of the
/// results
///           that have one.
/// Reverse:  operands: arguments, cotangents of the results flagged in `seeded`; results: primal results,
/// cotangents of
///           the `wrt` parameters.
/// Forward:  operands: arguments; results: primal results, a value of struct `saved` (its fields are filled
/// in by
///           expand_derivatives).
/// Backward: operands: the saved value, cotangents of the results flagged in `seeded`; results: cotangents of
/// `wrt`.
enum class DerivativeMode : uint8_t { Jvp, Reverse, Forward, Backward };
struct DerivativeAttr {
  DerivativeMode mode;
  FunctionId callee;
  std::vector<uint32_t> wrt;
  std::vector<bool> seeded;
  RecordId saved; ///< of Forward and Backward: it has the dimension parameters of the callee
};

struct BuiltinAttr {
  ops::BuiltinKind builtin;
};

/// Text of a value by rule 5; `spec` as after an interpolation's colon, `{}` for a number that an operand
/// gives.
struct FormatAttr {
  std::string spec;
  bool quoted = false; ///< as inside another value
};

using Attr = std::variant<std::monostate, Constant, Path, NestAttr, LoopAttr, MatchAttr, CallAttr, CheckAttr,
                          DerivativeAttr, BuiltinAttr, FormatAttr, uint32_t>;

/// Small lists are stored in the op itself, as most ops have few of each: walks over a long program do not
/// wait for memory.
using Operands = SmallVector<ValueId, 4>;
using Results = SmallVector<ValueId, 2>;
using Dims = SmallVector<DimId, 2>;
using DimSyms = SmallVector<DimSym, 2>;
using Regions = SmallVector<RegionId, 2>;

/// A span of one of its lists holds until the op is moved, assigned to or gets a longer list; those in a
/// function stay where they are.
struct Op {
  OpKind kind;
  LocId loc;
  Operands operands;
  Results results;
  Dims dims;
  DimSyms resultDims;
  Regions regions;
  Attr attr;

  template <class A>
  const A& as() const {
    return std::get<A>(attr);
  }
  template <class A>
  A& as() {
    return std::get<A>(attr);
  }
  uint32_t index() const { return std::get<uint32_t>(attr); }
};

// --- functions and modules
// ----------------------------------------------------------------------------------------

/// Parameter `param` is `inout`: result `result` is its new value and may use its memory.
struct InoutPair {
  uint32_t param, result;
};

/// Counts the changes of a function. A copy counts its own, since it is made in order to be changed.
class Version {
public:
  /// No two states that differ are equal.
  struct State {
    uint64_t function = 0, changes = 0;
    bool operator==(const State&) const = default;
  };
  Version() : state_{next(), 0} {}
  Version(const Version&) : Version() {}
  Version(Version&& o) noexcept : state_(std::exchange(o.state_, {next(), 0})) {}
  Version& operator=(Version o) noexcept {
    std::swap(state_, o.state_);
    return *this;
  }
  ~Version() = default;
  void raise() { ++state_.changes; }
  const State& state() const { return state_; }

private:
  static uint64_t next();
  State state_;
};

/// The values, ops and regions of a function, by their ids.
struct FunctionParts {
  Store<ValueId, Value> values;
  Store<OpId, Op> ops;
  Store<RegionId, Region> regions;
};

struct Function : FunctionParts {
  std::string name; ///< for traces and text: `forward`, `loss.lambda`, `grad(loss)`
  std::string key;  ///< instance key: unique in the module, names argument types and known functions
  Device device = Device::Caller;
  std::vector<DimSym> dimParams;
  RegionId body;                  ///< its params are the function's
  std::vector<TypeId> results;    ///< in terms of dimParams and resultDims
  std::vector<DimSym> resultDims; ///< sizes decided inside; the body's yield gives them
  std::vector<InoutPair> inouts;
  FunctionId customJvp; ///< `@derivative` rule: (params, tangents) -> (results, tangents); keeps it from
                        ///< being inlined
  bool keep = false;    ///< a root (entry, export, test): never removed
  bool isCold = false;  ///< seldom executed work beside a frequent path
  LocId loc;
  /// Raised by Builder, LiveUses and the walks over functions (transforms/walks/for_each_function.h). Whoever
  /// writes into ops or lists of regions by hand raises it too.
  Version version;

  const std::vector<ValueId>& params() const { return regions[body].params; }
  TypeId typeOf(ValueId v) const { return values[v].type; }
  /// Whether its ops never move into a caller.
  bool staysCalled() const { return isCold || device != Device::Caller; }
};

class Analyses;

struct Module {
  explicit Module(types::TypeStore& store);
  types::TypeStore& types;
  Store<FunctionId, Function> functions;
  Store<LocId, Loc> locs;
  /// Bodies of math.<f>: (MathKind, F32 | F64) -> function.
  std::map<std::pair<ops::MathKind, TypeKind>, FunctionId> mathBodies;
  FunctionId entry; ///< the program's statements and main; none for libraries
  /// Records are flat (State::RecordsFlat). An array of records is a record of the arrays of its parts, and a
  /// path names the part before it indexes the array. A flat enum is a record of its tag and slots. Else the
  /// elements of an array are records, a path goes through an element, and every enum is a case.
  bool recordsFlat = false;
  /// Results of analyses of its functions (analyses.h).
  std::shared_ptr<Analyses> analyses;
};

} // namespace melix::core
