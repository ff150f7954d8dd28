#pragma once
// Makes the body of f_bwd: the linear part of a jvp companion g transposed, region by region in reverse.
//
// Scopes mirror the regions of g. A scope knows values of g that are at hand in f_bwd: those made again, and
// those saved, which are asked for on demand; when a scope is closed its demands become the region's residual
// items. Cotangents are symbolic: absent means zero. A scope that touches the cotangent of an outer value
// takes it over: branches yield it, loops carry it, nests hold an accumulator for it (arrays) or sum it
// (scalars).

#include "core/uses.h"
#include "transforms/ad.h"

namespace melix::transforms {

class Backward {
public:
  Backward(Ad& ad, Linearisation& lin, const std::vector<bool>& accs);
  void build();

private:
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
  struct Scope {
    ScopeKind kind;
    RegionId source;
    Emit e;
    Scope* parent;
    std::unordered_map<ValueId, ValueId> known;
    std::unordered_map<ValueId, ValueId> cotangents;
    std::unordered_map<ValueId, Capture> captured;
    std::vector<ValueId> captureOrder;
    std::vector<ValueId> residuals;
    std::vector<DimSym> dims;
    std::vector<OpId> prologue;
    size_t prologueAt = 0;
    /// Adds wait for a whole cotangent, into which they go; without one a zero is made for them when it is
    /// asked for.
    std::unordered_map<ValueId, std::vector<Add>> waiting{};
  };
  /// A residual item as it stands in f_bwd: what delivers it defines `root`.
  using Roots = std::vector<ValueId>;

  // The source.
  const Function& g() const { return ad_.module.functions[lin_.source]; }
  const Op& opOf(OpId id) const { return g().ops[id]; }
  const Op& terminator(RegionId r) const { return opOf(g().regions[r].ops.back()); }
  types::TypeStore& types() const { return ad_.module.types; }
  bool linear(ValueId v) const { return lin_.values->values.count(v) != 0; }
  bool isAcc(ValueId v) const { return types().kind(g().typeOf(v)) == TypeKind::Acc; }
  void findUpdated();
  RegionId homeOf(ValueId v) const;
  Scope& scopeOf(RegionId home);

  // Dims and types of the source in f_bwd.
  DimId dim(DimId d);
  void needDim(DimSym s);
  TypeId type(TypeId t);
  TypeId typeOf(ValueId v) { return type(TypeId(g().typeOf(v))); }
  Path path(const Path& p);

  // Known values.
  ValueId known(ValueId v);
  std::vector<ValueId> knownAll(std::span<const ValueId> vs);
  ValueId residual(Scope& home, ValueId v);
  bool free(ValueId v, const Scope& level, int& budget);
  const Scope& levelOf(const Scope& s) const;
  ValueId again(ValueId v);
  bool collectedBy(ValueId v, ValueId& result, std::vector<ValueId>& indices) const;
  bool updated(ValueId v) const { return updated_.count(v) != 0; }

  // Residual items.
  const std::vector<ResidualItem>& close(Scope& s, Roots& roots);
  void define(Scope& s, ValueId target, Op op);
  void defineParam(Scope& s, ValueId target);
  void openItems(Scope& s, const std::vector<ResidualItem>& items, const Roots& roots);
  void placePrologue(Scope& s);
  ValueId carrier(OpId id, size_t k, TypeId type);

  // Cotangents.
  void makeWaiting(Scope& s, ValueId v);
  ValueId& slot(Scope& s, ValueId v);
  ValueId cotangent(ValueId v);
  ValueId zeroFor(Scope& s, ValueId v);
  ValueId zeroFollowing(Scope& s, TypeId t, const JvpCompanion::Followed& followed);
  const Op* sizing(ValueId v, OpKind kind) const;
  ValueId zeroOfSize(Scope& s, TypeId t, const JvpCompanion::Followed& followed);
  ValueId realCotangent(ValueId v);
  void addTo(ValueId v, ValueId c);
  void addAt(ValueId v, Path p, std::span<const ValueId> indices, ValueId c);
  ValueId reader(ValueId v) const;

  // The function as a whole.
  void takeSeeds(Scope& top);
  void yieldCotangents(Scope& top);
  void fillSaved(const std::vector<ResidualItem>& items);

  // Transposes.
  void region(Scope& s);
  void op(OpId id);
  void scalar(const Op& o, ValueId c);
  void unpack(const Op& o, ValueId c);
  void pack(const Op& o, ValueId c);
  void arrayOf(const Op& o, ValueId c);
  void set(const Op& o, ValueId c);
  void addAtOp(const Op& o);
  void make(const Op& o, ValueId c);
  void variant(const Op& o, ValueId c);
  void projection(const Op& o);
  void lists(const Op& o);
  void stacked(const Op& o);
  bool seeded(const Op& o);
  void arm(const Op& o, Scope& s);
  std::vector<ValueId> joinArms(std::deque<Scope>& arms, std::vector<TypeId>& resultTypes);
  TypeId branchType(OpId id, const std::vector<std::vector<ResidualItem>>& items);
  Op chooseAgain(OpId id, const std::vector<std::vector<ResidualItem>>& items);
  void branch(OpId id);
  void forLoop(OpId id);
  void whileLoop(OpId id);
  struct LoopSweep;
  void carrySizes(LoopSweep& sweep, Scope& s);
  void takeCarried(LoopSweep& sweep, Scope& s);
  void yieldCarried(LoopSweep& sweep, Scope& s);
  void readItems(const LoopSweep& sweep, Scope& s, const std::vector<ResidualItem>& items,
                 const Roots& roots);
  DimSym extentOfItems(OpId id);
  void loop(OpId id, bool isWhile);
  struct NestSums {
    std::vector<ValueId> sums, accs; ///< values whose cotangents are summed, those that are added to
    std::vector<TypeId> resultTypes;
    Op made;
  };
  void takePoints(const Op& o, Scope& s, const std::vector<ValueId>& axes);
  std::vector<std::pair<ValueId, ValueId>> takeAccumulators(const Op& o, const Scope& s);
  NestSums yieldSums(Scope& s, const std::vector<ValueId>& axes);
  void nest(OpId id);
  ValueId savedByCall(OpId call, Linearisation& callee);
  void passSeeds(const Op& o, Op& made);
  ValueId accumulatorFor(ValueId v, bool again);
  void call(OpId id);

  Ad& ad_;
  Linearisation& lin_;
  FunctionId dst_;
  std::vector<bool> accs_;
  Scope* cur_ = nullptr;
  const Uses uses_; ///< of g
  std::unordered_map<DimSym, RegionId> dimHome_;
  std::unordered_set<ValueId> updated_;
  std::unordered_map<ValueId, ValueId> readers_;
  types::DimSubst dims_;
};

} // namespace melix::transforms
