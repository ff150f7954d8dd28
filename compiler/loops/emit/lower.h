#pragma once
// Internal to the lowering of Core to Loops: the facts about Core values while a function is lowered. One
// file for each group of ops: lower_scalars, lower_values, lower_records, lower_places, lower_arrays,
// lower_control, lower_calls, lower_accs, lower_effects, lower_checks. Nests are lowered by emit_nest.h,
// builtins by emit_builtin.h. Nothing is scheduled here:
// (1) plan_nest.h decides how a nest runs.
// (2) destinations.h decides which arrays are written directly to their destination.
// (3) views.h and move_out_elements.h decide which parts are read without a copy.
// (4) constant_arrays.h decides which literals are copied whole.

#include "core/ir/flow.h"
#include "loops/layout/constant_arrays.h"
#include "loops/layout/destinations.h"
#include "loops/layout/layout.h"
#include "loops/layout/lowered_value.h"
#include "loops/layout/views.h"

#include <functional>
#include <map>
#include <set>
#include <unordered_set>

namespace melix::loops {

struct LowerContext {
  const core::Module& core;
  Layouts& layouts;
  std::unordered_map<core::FunctionId, FunctionId> functions;
  MadeFunctions made;
  std::vector<types::DimSym> slots; ///< dims of generalised types, by number
  std::optional<Unsupported> error;
  /// Functions requested in a version that writes some of its results to memory given by the caller.
  struct Writing {
    FunctionId function;
    core::FunctionId source;
    std::vector<uint32_t> results;
  };
  std::vector<Writing> writing;
  Placements placements;
};

/// The values of dimensions at the current position; undo() removes the definitions since a mark().
class DimValues {
public:
  void define(types::DimSym s, ValueId v) { hidden_.push_back({s, std::exchange(values_[s], v)}); }
  /// None if the symbol is not in scope.
  ValueId find(types::DimSym s) const {
    auto found = values_.find(s);
    return found == values_.end() ? ValueId() : found->second;
  }
  size_t mark() const { return hidden_.size(); }
  void undo(size_t mark) {
    for (; hidden_.size() > mark; hidden_.pop_back()) values_[hidden_.back().first] = hidden_.back().second;
  }

private:
  std::unordered_map<types::DimSym, ValueId> values_;
  std::vector<std::pair<types::DimSym, ValueId>> hidden_; ///< the value that each definition has hidden
};

/// Facts about the function that are decided before it is lowered.
struct SourceFacts {
  SourceFacts(const core::Module& module, core::FunctionId f)
      : uses(*core::analysis<core::Uses>(module, f)), views(module.functions[f], uses),
        literals(module.functions[f], module.types, uses) {}
  const core::Uses uses;
  Views views;
  Literals literals;
};

class Lower {
public:
  Lower(LowerContext& context, Function& out, const core::Function& in)
      : context_(context), layouts_(context.layouts), types_(context.layouts.types), in_(in), b_(out) {}

  /// Lowers the whole function, which is `in`. The results `written` are stored at addresses that are its
  /// last parameters.
  void run(core::FunctionId in, const std::vector<uint32_t>& written = {});

  // The interface for the writers of nest loops (emit_nest.h).

  const core::Function& source() const { return in_; }
  Layouts& layouts() { return layouts_; }
  types::TypeStore& types() { return types_; }
  Builder& builder() { return b_; }
  void fail(std::string what);
  bool failed() const { return context_.error.has_value(); }

  // Values, by their leaves.
  TypeId typeOf(core::ValueId v) const { return in_.typeOf(v); }
  const Rep& rep(core::ValueId v) { return env_[v.index]; }
  const std::vector<ValueId>& leaves(core::ValueId v);
  ValueId leaf(core::ValueId v) { return leaves(v)[0]; }
  std::vector<ValueId> leavesOf(std::span<const core::ValueId> vs);
  void define(core::ValueId v, std::vector<ValueId> leaves) {
    for (ValueId leaf : leaves) name(leaf, in_.values[v].hint);
    env_[v.index] = {std::move(leaves), {}, false};
  }
  /// An array; `placed`: it lies in memory that belongs to somebody else.
  void defineArray(core::ValueId v, ValueId data, bool placed) {
    define(v, {data});
    env_[v.index].placed = placed;
  }
  /// Gives out `values` as the leaves of `vs`, starting at `at`.
  void bind(std::span<const core::ValueId> vs, const std::vector<ValueId>& values, size_t& at);
  std::vector<ValueId> zeroOf(TypeId type);
  std::vector<ValueId> addLeaves(TypeId type, const std::vector<ValueId>& a, const std::vector<ValueId>& b,
                                 core::OpKind how = core::OpKind::Add);

  // Sizes.
  ValueId dim(types::DimId d, ValueId* exact = nullptr);
  std::vector<ValueId> dimsOf(TypeId arrayType);
  bool dimInScope(types::DimId d);
  void defineDim(types::DimSym s, ValueId v) {
    name(v, types_.names.intern(types_.dims.info(s).name));
    dims_.define(s, v);
  }
  /// Dimensions bound inside a region are forgotten when it ends.
  struct DimScope {
    explicit DimScope(Lower& l) : dims(l.dims_), begin(dims.mark()) {}
    ~DimScope() { dims.undo(begin); }
    DimValues& dims;
    size_t begin;
  };
  /// Makes the inner type of a pack an ordinary one, until the enclosing scope ends. Defines the hidden dims
  /// of the pack. Also defines the hidden dims of enclosing packs, by the numbers that they have in there.
  void enterPack(std::span<const ValueId> hidden);

  // Regions.
  const core::Op& yieldOf(core::RegionId region) const;
  /// Lowers the region's ops; leaves of the yielded values, then the yielded dims.
  std::vector<ValueId> lowerRegion(core::RegionId region);
  /// Lowers the ops of a nest's body for one point; only the ops in `only`, if given.
  void lowerPoint(core::RegionId body, const std::optional<std::set<core::OpId>>& only);
  /// Whether the body of a nest is being lowered.
  bool inNest() const { return nestDepth_ > 0; }

  // Memory.
  enum class StoreMode { Fresh, Replace, Lend };
  ValueId allocArray(TypeId elem, const std::vector<ValueId>& dims, bool zeroed,
                     const std::vector<ValueId>& alike = {});
  std::vector<ValueId> denseStrides(const std::vector<ValueId>& extents);
  Place densePlace(ValueId data, TypeId arrayType);
  Place densePlace(const Destination& at, TypeId arrayType);
  Place memoryPlace(ValueId address, TypeId type);
  std::vector<ValueId> loadStored(const Place& place, bool take = false);
  void storeStored(const Place& place, const std::vector<ValueId>& leaves, StoreMode mode);
  /// Address of the stored form of a value, lent.
  ValueId spill(TypeId type, const std::vector<ValueId>& leaves);
  void copyBetween(const Place& to, const Place& from, bool fresh);

  // Arrays that are written where they go.
  /// Requests that `v`, yielded by `region`, is written directly to `at` if possible (destinations.h).
  void writeTo(core::ValueId v, core::RegionId region, const Destination& at);
  /// The destination of a result, if one is given.
  const Destination* destinationOf(core::ValueId result) const {
    auto found = destinations_.find(result.index);
    return found == destinations_.end() ? nullptr : &found->second;
  }
  /// Destinations given inside the scope are forgotten at its end.
  struct DestinationScope {
    explicit DestinationScope(Lower& l) : now(l.destinations_), outer(l.destinations_) {}
    ~DestinationScope() { now = std::move(outer); }
    std::unordered_map<uint32_t, Destination>&now, outer;
  };

  // Accumulators (lower_accs.cpp).
  std::vector<ValueId> openAcc(TypeId type, std::vector<ValueId>& leaves);
  std::vector<ValueId> closeAcc(TypeId type, const std::vector<ValueId>& addresses,
                                std::vector<ValueId> leaves);

private:
  using OpKind = core::OpKind;

  // --- lower.cpp: values, dims, regions
  /// Names a value for the text; the first name stays.
  void name(ValueId v, NameId hint) {
    if (!b_.fn.values[v].hint.valid()) b_.fn.values[v].hint = hint;
  }
  std::vector<ValueType> leafTypes(std::span<const core::ValueId> vs);
  void lowerOps(core::RegionId region);
  void lowerOp(const core::Op& op);

  // --- lower_scalars.cpp
  void lowerConst(const core::Op& op);
  void lowerScalar(const core::Op& op);
  void lowerCompare(const core::Op& op);
  void lowerSelect(const core::Op& op);
  void lowerMath(const core::Op& op);
  void lowerSum(const core::Op& op); // add, sub, neg of any tangent type

  // --- lower_values.cpp: products, enums, packs, stored forms
  void lowerMake(const core::Op& op);
  void lowerCapture(const core::Op& op);
  void lowerVariant(const core::Op& op);
  void lowerPack(const core::Op& op);
  void lowerUnpack(const core::Op& op);
  Access access(const Place& place, ValueType elem, int64_t more = 0) const;
  void storeArray(const Place& place, TypeId type, ValueId data, const std::vector<ValueId>& dims,
                  StoreMode mode);
  void storeLeaf(const Place& place, ValueType type, int64_t more, ValueId v, StoreMode mode);

  // --- lower_records.cpp
  Place partOf(Place place, uint32_t k);
  std::vector<ValueId> leavesOfPart(TypeId type, uint32_t k, const std::vector<ValueId>& leaves);
  ValueId makeBlock(TypeId type, const std::vector<std::vector<ValueId>>& parts);
  void copyStored(const Place& to, const Place& from, ValueId count, bool retain, bool release);
  ValueId loadBlock(const Place& place, bool take);
  void storeBlock(const Place& place, ValueId data, StoreMode mode);
  std::vector<ValueId> undefOf(TypeId type);
  ValueId arrayTangent(TypeId type, ValueId a, ValueId b, OpKind how);
  ValueId zeroArray(TypeId type);
  ValueId negArray(TypeId type, ValueId a);
  ValueId blockTangent(TypeId type, ValueId a, ValueId b, OpKind how);
  void flatten(TypeId type, const std::vector<ValueId>& leaves, std::vector<ValueId>& out);
  std::vector<ValueId> unflatten(TypeId type, const std::vector<ValueId>& flat, size_t& at);

  // --- lower_places.cpp
  void lowerGet(const core::Op& op);
  void lowerSet(const core::Op& op);
  void lowerAddAt(const core::Op& op);
  Place startOf(core::ValueId v);
  /// Follows a path. With `unique`, containers on the way are made unique, and `leaves` are changed to the
  /// new containers.
  Place walk(Place place, std::vector<ValueId>& leaves, const core::Path& path, const core::Op& op,
             size_t operand, bool unique);
  void enterArray(Place& place, std::vector<ValueId>& leaves, bool unique);
  void enterList(Place& place, std::vector<ValueId>& leaves, ValueId index, bool unique);
  ValueId enterContainer(Place& place, std::vector<ValueId>& leaves, bool unique);

  // --- lower_arrays.cpp
  ValueId copyToDense(const Place& place);
  void alongFirst(Place to, Place from, const std::function<void(const Place&, const Place&)>& each);
  /// Runs `body` with the place of each element of `place` in turn.
  template <class Body>
  void forElements(const Place& place, const Body& body);
  void lowerArrayOf(const core::Op& op);
  void lowerZero(const core::Op& op);
  void lowerArgSort(const core::Op& op);
  std::vector<ValueId> negLeaves(TypeId type, const std::vector<ValueId>& a);
  ValueId addArrays(TypeId type, ValueId a, ValueId b, OpKind how);
  void addStored(const Place& to, const std::vector<ValueId>& v);
  void addStoredArray(const Place& to, const Place& from, OpKind how);

  // --- lower_tangents.cpp
  TypeId generalised(TypeId type, std::vector<types::DimId>& dims);
  FunctionId tangentFunction(TypeId type, uint32_t dims, OpKind how);
  std::vector<ValueId> callTangent(TypeId type, OpKind how, const std::vector<ValueId>& a,
                                   const std::vector<ValueId>& b);
  struct TangentPair {
    ValueId a, b;
    OpKind how;
  };
  ValueId unlessZero(TypeId type, const TangentPair& pair, ValueId equal, ValueId zeroA, ValueId zeroB,
                     const char* problem, const std::function<ValueId()>& sum);
  ValueId listTangent(TypeId type, ValueId a, ValueId b, OpKind how);
  ValueId elementTangents(TypeId type, ValueId count, ValueId a, ValueId b, OpKind how);
  ValueId caseTangent(TypeId type, uint32_t c, ValueId a, ValueId b, OpKind how);
  ValueId enumTangent(TypeId type, ValueId a, ValueId b, OpKind how);

  // --- lower_lists.cpp
  void lowerListOf(const core::Op& op);
  void lowerLength(const core::Op& op);
  void lowerPush(const core::Op& op);
  void lowerPop(const core::Op& op);
  void lowerToArray(const core::Op& op);
  void lowerToList(const core::Op& op);
  ValueId listSlot(ValueId list);
  ValueId takeSlot(ValueId slot);

  // --- lower_control.cpp
  void lowerIf(const core::Op& op);
  void lowerMatch(const core::Op& op);
  /// The rows that a loop collects: their memory, and the stride between them.
  struct Collected {
    Destination rows; ///< all of them
    ValueId stride;
    bool placed; ///< the memory belongs to somebody else
    Destination row(ValueId i) const {
      Destination out = rows;
      out.terms.push_back({i, stride});
      return out;
    }
  };
  void lowerFor(const core::Op& op);
  std::vector<Collected> collectedBy(const core::LoopView& loop);
  void storeRow(const Collected& to, ValueId i, core::ValueId v);
  RegionId forBody(const core::LoopView& loop, const std::vector<ValueType>& params,
                   const std::vector<Collected>& rows);
  void lowerWhile(const core::Op& op);
  void bindResults(const core::Op& op, StmtId s);
  std::vector<ValueType> resultTypes(const core::Op& op);

  // --- lower_calls.cpp
  void lowerCall(const core::Op& op);
  FunctionId writingFunction(core::FunctionId callee, const std::vector<uint32_t>& written);

  // --- lower_accs.cpp
  template <class Part>
  void forAccParts(TypeId type, uint32_t& leaf, const Part& part);
  void addToAcc(TypeId type, const ValueId* addresses, const std::vector<ValueId>& leaves);

  // --- lower_effects.cpp
  void lowerPanic(const core::Op& op);
  void lowerFormat(const core::Op& op);
  void lowerDebug(const core::Op& op);
  void lowerBlackBox(const core::Op& op);
  std::vector<ValueId> format(TypeId type, const std::vector<ValueId>& leaves, const std::string& spec,
                              bool quoted, std::vector<ValueId> numbers);

  // --- lower_checks.cpp
  void lowerCheck(const core::Op& op);

  LowerContext& context_;
  Layouts& layouts_;
  types::TypeStore& types_;
  const core::Function& in_;
  Builder b_;
  std::unordered_map<uint32_t, Rep> env_;
  DimValues dims_;
  std::unordered_map<uint32_t, Destination> destinations_; ///< of results of nests and calls, by Core value
  std::optional<SourceFacts> facts_;                       ///< of a function that is lowered whole
  std::unordered_map<core::RegionId, const std::set<core::OpId>*> filters_; ///< ops that a sweep needs
  int nestDepth_ = 0;
};

template <class Body>
void Lower::forElements(const Place& place, const Body& body) {
  if (place.axes.empty()) return body(place);
  Place inner = place;
  Axis axis = inner.axes.front();
  inner.axes.erase(inner.axes.begin());
  b_.loop(axis.extent, [&](ValueId i) {
    inner.terms.push_back({i, axis.stride});
    forElements(inner, body);
    inner.terms.pop_back();
  });
}

} // namespace melix::loops
