#pragma once
// The values of the jvp companion g that are available in f_bwd. Scopes mirror the regions of g. A value that
// is requested is a placeholder in the scope of the region that defines it. When the scope is closed, some of
// these values become the region's residual items; the others are rematerialised from them.

#include "core/ir/flow.h"
#include "core/ir/uses.h"
#include "transforms/derivatives/derivative_context.h"
#include "transforms/derivatives/final_value_reads.h"
#include "transforms/derivatives/residual_cost.h"

#include <optional>
#include <utility>

namespace melix::transforms {

class KnownValues {
protected:
  KnownValues(Ad& ad, Linearisation& lin);

  enum class ScopeKind : uint8_t { Function, Arm, Loop, Nest };
  struct Capture {
    ValueId current, base, init, param;
  };
  /// An add to a place of a cotangent that is still zero.
  struct Add {
    Path path;
    std::vector<ValueId> indices;
    ValueId value;
  };
  /// A place of a cotangent that is zero, although its old contents are still in it. A zero with arrays costs
  /// their size, and the first summand may take its place.
  struct Hole {
    ValueId whole; ///< whose cotangent it is
    Path path;
    std::vector<ValueId> indices;
    TypeId type;
    const JvpCompanion::Followed* overwritten;
  };
  /// Deferred work at places of cotangents.
  struct Parts {
    /// Adds wait for a whole cotangent, into which they go; without one a zero is made for them when it is
    /// asked for.
    std::unordered_map<ValueId, std::vector<Add>> waiting;
    std::vector<Hole> holes;
  };
  struct Scope {
    ScopeKind kind;
    RegionId source;
    Emit e;
    Scope* parent;
    std::unordered_map<ValueId, ValueId> known;
    std::unordered_map<ValueId, ValueId> cotangents;
    std::unordered_map<ValueId, Capture> captured;
    std::vector<ValueId> captureOrder;
    std::vector<ValueId> demands;
    std::vector<DimSym> dims;
    std::vector<OpId> prologue;
    size_t prologueAt = 0;
    Parts parts{};
    std::vector<OpId> rematerialised{}; ///< rematerialised ops, after the prologue
    /// Of cotangents: whether anything read the value; one without it was read.
    std::unordered_map<ValueId, ValueId> read{};
  };
  /// A residual item in f_bwd: its source defines `root`.
  using Roots = std::vector<ValueId>;

  // The source.
  const Function& g() const { return ad_.module.functions[lin_.source]; }
  const Op& opOf(OpId id) const { return g().ops[id]; }
  const Op& terminator(RegionId r) const { return opOf(g().regions[r].ops.back()); }
  types::TypeStore& types() const { return ad_.module.types; }
  bool linear(ValueId v) const { return lin_.values->values.count(v) != 0; }
  bool isAcc(ValueId v) const { return types().kind(g().typeOf(v)) == TypeKind::Acc; }
  RegionId homeOf(ValueId v) const;

  // Dims and types of the source in f_bwd.
  DimId dim(DimId d);
  TypeId type(TypeId t);
  TypeId typeOf(ValueId v) { return type(TypeId(g().typeOf(v))); }
  Path path(const Path& p);

  // Known values.
  ValueId known(ValueId v);
  std::vector<ValueId> knownAll(std::span<const ValueId> vs);

  // Residual items.
  const std::vector<ResidualItem>& close(Scope& s, Roots& roots);
  const Op* definition(ValueId v) const;
  /// Whether it costs nothing to make it wherever it is asked for.
  bool isImmediate(ValueId v) const;
  /// A field, row or element, of any depth, of a parameter of g.
  struct PartOfParam {
    uint32_t param;
    Path path;
    std::vector<ValueId> indices;
  };
  std::optional<PartOfParam> partOfParam(ValueId v) const;
  static void define(Scope& s, ValueId target, Op op);
  void openItems(Scope& s, const std::vector<ResidualItem>& items, const Roots& roots);
  void placePrologue(Scope& s);
  ValueId carrier(OpId id, size_t k, TypeId type);
  DimId extentOfItems(OpId id, const LoopView& loop);

  Ad& ad_;
  Linearisation& lin_;
  Scope* cur_ = nullptr;
  const Uses uses_; ///< of g
  /// By value: the read of an array as it is in the end.
  const std::unordered_map<ValueId, Op> finalReads_;
  types::DimSubst dims_;

private:
  void findUpdated();
  bool updated(ValueId v) const { return updated_.count(v) != 0; }
  Scope& scopeOf(RegionId home) const;
  void needDim(DimSym s);
  bool isBoundAtHand(DimSym s) const;
  bool isReadOfGiven(ValueId v, int& budget) const;
  bool isAxis(ValueId v) const;
  bool mentions(TypeId t, std::span<const DimSym> sizes) const;
  std::vector<DimSym> hiddenBy(const Scope& s, const std::vector<ValueId>& kept) const;
  void rematerialiseBindings(Scope& s, const std::vector<ResidualItem>& items);
  void orderRematerialised(Scope& s, const std::vector<OpId>& binds);
  const Scope& levelOf(const Scope& s) const;
  bool isKnown(ValueId v) const;
  std::optional<std::pair<ValueId, std::vector<ValueId>>> collectedAs(ValueId v) const;

  // Choice of residuals (choose_residuals.cpp).
  class Choice;
  std::vector<ValueId> choose(const Scope& s);
  void keepIndices(std::vector<ValueId>& kept) const;
  uint64_t pointsFor(const Scope& s, ValueId v) const;

  // Rematerialisation (rematerialise.cpp).
  void addNumbers(const Op& op, std::vector<ValueId>& out) const;
  void addNumbers(DimSym d, std::vector<ValueId>& out) const;
  bool isSizeOf(RegionId region, const Op& op) const;
  std::optional<std::vector<ValueId>> rematerialisationSources(const Scope& s, ValueId v) const;
  struct Slice;
  std::optional<Slice> sliceOf(ValueId v) const;
  struct BranchSlice;
  std::optional<BranchSlice> branchSliceOf(ValueId v) const;
  Effort effortOf(ValueId v) const;
  bool isOutside(const Scope& s, ValueId v) const;
  bool keepsBits(const Op& op) const;
  bool walksAll(const Scope& level, const Op& get) const;
  static void define(Scope& s, ValueId target, Op op, std::vector<OpId>& list);
  void rematerialiseAll(Scope& s, const std::vector<ValueId>& kept);
  void rematerialise(Scope& s, ValueId v);
  template <class Map>
  Op copyOf(const Op& op, Map map);
  void rematerialiseSlice(Scope& s, ValueId v, const Slice& slice);
  void rematerialiseBranch(Scope& s, ValueId v, const BranchSlice& slice);

  std::unordered_map<DimSym, RegionId> dimHome_;
  std::unordered_map<DimSym, ValueId> boundTo_; ///< numbers that sizes are bound to
  /// By the region that binds them: sizes that were asked for and are numbers at hand.
  std::unordered_map<RegionId, std::vector<DimSym>> bound_;
  std::unordered_set<ValueId> updated_;

protected:
  std::unordered_set<ValueId> exact_; ///< values that decisions are rematerialised from: exact bits
};

} // namespace melix::transforms
