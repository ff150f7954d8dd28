#pragma once
// Internal to the lowering of Core to Loops: the facts about Core values while a function is lowered. One
// header for each group of ops: lower_scalars, lower_values, lower_records, lower_places, lower_arrays,
// lower_lists, lower_control, lower_calls, lower_accs, lower_effects, lower_checks. Nests are lowered by
// emit_nest.h, builtins by emit_builtin.h. Nothing is scheduled here: (1) plan_nest.h decides how a nest
// runs. (2) destinations.h decides which arrays are written directly to their destination. (3) views.h and
// move_out_elements.h decide which parts are read without a copy. (4) constant_arrays.h decides which
// literals are copied whole.

#include "core/ir/flow.h"
#include "core/ir/walk.h"
#include "loops/layout/constant_arrays.h"
#include "loops/layout/destinations.h"
#include "loops/layout/layout.h"
#include "loops/layout/lowered_value.h"
#include "loops/layout/views.h"

#include <map>
#include <set>
#include <unordered_set>

namespace melix::loops {

struct LowerContext {
  const core::Module& core;
  Layouts& layouts;
  std::map<std::pair<core::FunctionId, Device>, FunctionId> functions;
  MadeFunctions made;
  std::vector<types::DimSym> slots; ///< dims of generalised types, by number
  std::optional<Unsupported> error;
  /// Functions requested in a version that writes some of its results to memory given by the caller.
  struct Writing {
    FunctionId function;
    std::vector<uint32_t> results;
  };
  std::vector<Writing> writing;
  Placements placements;
  const ElementParams elementParams;
  const DeviceCode devices;                  ///< for which functions are lowered
  std::optional<core::Effects> effects = {}; ///< made when they are asked for

  /// A function for `f` on `device`, still without a body.
  Function declared(core::FunctionId f, Device device) const {
    const core::Function& source = core.functions[f];
    Function fn;
    fn.name = source.name;
    fn.key = source.key.empty() ? source.name : source.key;
    if (device != Device::Host) fn.key += "." + std::string(nameOf(device));
    fn.source = f;
    fn.device = device;
    fn.loc = source.loc;
    return fn;
  }
};

/// The values of dimensions at the current position.
class DimValues {
public:
  void define(types::DimSym s, ValueId v) { hidden_.push_back({s, std::exchange(values_[s], v)}); }
  /// None if the symbol is not in scope.
  ValueId find(types::DimSym s) const {
    auto found = values_.find(s);
    return found == values_.end() ? ValueId() : found->second;
  }
  /// Definitions inside of the scope are forgotten at its end.
  class Scope {
  public:
    explicit Scope(DimValues& dims) : dims_(dims), begin_(dims.hidden_.size()) {}
    Scope(const Scope&) = delete;
    ~Scope() { dims_.undo(begin_); }

  private:
    DimValues& dims_;
    size_t begin_;
  };

private:
  void undo(size_t mark) {
    for (; hidden_.size() > mark; hidden_.pop_back()) values_[hidden_.back().first] = hidden_.back().second;
  }

  std::unordered_map<types::DimSym, ValueId> values_;
  std::vector<std::pair<types::DimSym, ValueId>> hidden_; ///< the value that each definition has hidden
};

/// The destinations that results of nests and calls are given, by Core value (destinations.h).
class GivenDestinations {
public:
  void add(core::ValueId result, const Destination& at) { places_[result.index] = at; }
  /// None if the result goes to memory of its own.
  const Destination* find(core::ValueId result) const {
    auto found = places_.find(result.index);
    return found == places_.end() ? nullptr : &found->second;
  }
  /// Destinations given inside the scope are forgotten at its end.
  class Scope {
  public:
    explicit Scope(GivenDestinations& given) : given_(given), outer_(given.places_) {}
    Scope(const Scope&) = delete;
    ~Scope() { given_.places_ = std::move(outer_); }

  private:
    GivenDestinations& given_;
    std::unordered_map<uint32_t, Destination> outer_;
  };

private:
  std::unordered_map<uint32_t, Destination> places_;
};

/// How a value is stored: in memory without a value, in place of one, or without taking part in its
/// ownership.
enum class StoreMode { Fresh, Replace, Lend };

/// Where the element of a push goes.
struct Room {
  Place place;
  ValueId list{}; ///< with all elements, of the last push; none of others, whose lists nobody reads
};

/// Facts about the function that are decided before it is lowered.
struct SourceFacts {
  SourceFacts(const LowerContext& context, core::FunctionId f)
      : uses(*core::analysis<core::Uses>(context.core, f)),
        views(context.core.functions[f], context.core.types, uses, context.elementParams),
        literals(context.core.functions[f], context.core.types, uses) {}
  const core::Uses uses;
  Views views;
  Literals literals;
};

using core::OpKind;

/// Lowers the ops of one function: the representation of each value, sizes in scope, and the regions at hand.
/// The ops themselves are lowered by the functions of the headers beside this one.
class Lower {
public:
  Lower(LowerContext& context, Function& out, const core::Function& in)
      : context(context), layouts(context.layouts), types(context.layouts.types), in(in), b(out) {}

  /// Lowers the whole function, which is `in`, by its id. The results `written` are stored at addresses that
  /// are its last parameters.
  void run(core::FunctionId function, const std::vector<uint32_t>& written = {});

  void fail(std::string what);
  bool failed() const { return context.error.has_value(); }

  // Values, by their leaves.
  TypeId typeOf(core::ValueId v) const { return in.typeOf(v); }
  const Rep& rep(core::ValueId v) { return env_[v.index]; }
  const std::vector<ValueId>& leaves(core::ValueId v);
  ValueId leaf(core::ValueId v) { return leaves(v)[0]; }
  std::vector<ValueId> leavesOf(std::span<const core::ValueId> vs);
  void define(core::ValueId v, std::vector<ValueId> leaves) {
    for (ValueId leaf : leaves) name(leaf, in.values[v].hint);
    env_[v.index] = {std::move(leaves), {}, false};
  }
  /// An array; `placed`: it lies in memory that belongs to somebody else.
  void defineArray(core::ValueId v, ValueId data, bool placed) {
    define(v, {data});
    setPlaced(v, placed);
  }
  void setPlaced(core::ValueId v, bool placed) { env_[v.index].placed = placed; }
  void setRep(core::ValueId v, Rep rep) { env_[v.index] = std::move(rep); }
  /// A value that stays where it lies. These regions have it whole as leaves. Sweeps of a nest may each say
  /// so.
  void stay(core::ValueId v, const Place& place, const std::vector<core::RegionId>& whole) {
    env_[v.index] = {{}, View{place}, false};
    for (core::RegionId r : whole) wholeIn_[r.index].insert(v);
  }
  /// Takes back a value that was defined as a view; none if it was not.
  std::optional<Rep> takeView(core::ValueId v);
  /// Gives out `values` as the leaves of `vs`, starting at `at`.
  void bind(std::span<const core::ValueId> vs, const std::vector<ValueId>& values, size_t& at);

  // Sizes.
  ValueId dim(types::DimId d, ValueId* exact = nullptr);
  std::vector<ValueId> dimsOf(TypeId arrayType);
  bool dimInScope(types::DimId d);
  void defineDim(types::DimSym s, ValueId v) {
    name(v, types.names.intern(types.dims.info(s).name));
    dims.define(s, v);
  }
  /// Makes the inner type of a pack an ordinary one, until the enclosing scope ends. Defines the hidden dims
  /// of the pack. Also defines the hidden dims of enclosing packs, by the numbers that they have in there.
  void enterPack(std::span<const ValueId> hidden);

  // Pushes for which there is room already, by the lists that they give.
  void setRoom(core::ValueId longer, Room room) { rooms_[longer.index] = std::move(room); }
  const Room* roomFor(core::ValueId longer) const {
    auto found = rooms_.find(longer.index);
    return found == rooms_.end() ? nullptr : &found->second;
  }

  // Regions.
  const core::Op& yieldOf(core::RegionId region) const;
  /// Lowers the region's ops; leaves of the yielded values, then the yielded dims.
  std::vector<ValueId> lowerRegion(core::RegionId region);
  /// Lowers the ops of a nest's body for one point; only the ops in `only`, if given.
  void lowerPoint(core::RegionId body, const std::optional<std::set<core::OpId>>& only);
  /// Whether the body of a nest is being lowered.
  bool inNest() const { return nestDepth_ > 0; }
  /// Whether only some ops of the region are lowered.
  bool isFiltered(core::RegionId region) const { return filters_.contains(region); }

  /// Names a value for the text; the first name stays.
  void name(ValueId v, NameId hint) {
    if (!b.fn.values[v].hint.valid()) b.fn.values[v].hint = hint;
  }
  std::vector<ValueType> leafTypes(std::span<const core::ValueId> vs);
  void lowerOps(core::RegionId region);

  LowerContext& context;
  Layouts& layouts;
  types::TypeStore& types;
  const core::Function& in;
  Builder b;
  DimValues dims;
  GivenDestinations given;
  std::optional<SourceFacts> facts; ///< of a function that is lowered whole

private:
  void noteElementParams(core::FunctionId function);

  std::unordered_map<uint32_t, Rep> env_;
  std::unordered_map<uint32_t, Room> rooms_;
  std::unordered_map<uint32_t, std::set<core::ValueId>> wholeIn_;           ///< by region
  std::unordered_map<core::RegionId, const std::set<core::OpId>*> filters_; ///< ops that a sweep needs
  int nestDepth_ = 0;
};

} // namespace melix::loops
