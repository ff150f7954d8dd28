#pragma once
// Makes the body of f_bwd: the linear part of a jvp companion g transposed, region by region in reverse.
//
// Cotangents are symbolic: absent means zero. A scope that touches the cotangent of an outer value takes it
// over: branches yield it, loops carry it, nests hold an accumulator for it (arrays) or sum it (scalars).

#include "transforms/ad_backward_known.h"

#include <optional>

namespace melix::transforms {

class Backward : private KnownValues {
public:
  Backward(Ad& ad, Linearisation& lin, const std::vector<bool>& accs)
      : KnownValues(ad, lin), dst_(lin.backward.at(accs)), accs_(accs) {}
  void build();

private:
  // Cotangents.
  void makeWaiting(Scope& s, ValueId v);
  ValueId& current(Scope& s, ValueId v);
  void addBut(ValueId v, ValueId c, Hole hole);
  bool fill(Scope& s, const Add& add, ValueId v);
  ValueId zeroOf(Scope& s, const Hole& hole);
  void closeHoles(Scope& s, ValueId v);
  ValueId& slot(Scope& s, ValueId v);
  ValueId cotangent(ValueId v);
  static ValueId addAll(Scope& s, ValueId c, std::vector<Add> adds);
  ValueId sumOf(Scope& s, ValueId v, std::vector<uint32_t> path, TypeId t, std::vector<Add> adds);
  ValueId zeroFor(Scope& s, ValueId v);
  ValueId zeroOfPart(Scope& s, ValueId v, const std::vector<uint32_t>& path, TypeId t);
  void begin(ValueId v);
  void beginAt(Scope& s, ValueId v);
  void takeApart(Scope& s, const Op& o, ValueId whole);
  std::vector<ValueId> payloadOf(Scope& s, const Op& o, ValueId whole);
  bool begun(ValueId v) const;
  ValueId zeroFollowing(Scope& s, TypeId t, const JvpCompanion::Followed& followed);
  const Op* sizing(ValueId v, OpKind kind) const;
  ValueId zeroOfSize(Scope& s, TypeId t, const JvpCompanion::Followed& followed);
  ValueId realCotangent(ValueId v);
  void addTo(ValueId v, ValueId c);
  const Op* readAt(ValueId v) const;
  void addAt(ValueId v, Path p, std::vector<ValueId> indices, ValueId c);
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
  ValueId opened(Scope& s, ValueId pack);
  void arrayOf(const Op& o, ValueId c);
  void set(const Op& o, ValueId c);
  void addAtOp(const Op& o);
  void make(const Op& o, ValueId c);
  void variant(const Op& o, ValueId c);
  /// A match on a tangent takes the payload of one case out of it.
  struct Projection {
    uint32_t theCase;
    std::vector<uint32_t> fields; ///< by result
  };
  std::optional<Projection> projected(const Op& o) const;
  void projection(const Op& o);
  void lists(const Op& o);
  void stacked(const Op& o);
  bool seeded(const Op& o);
  void arm(const Op& o, Scope& s);
  std::vector<ValueId> joinArms(std::deque<Scope>& arms, std::vector<TypeId>& resultTypes);
  TypeId branchType(OpId id, const std::vector<std::vector<ResidualItem>>& items);
  Op chooseAgain(OpId id, const std::vector<std::vector<ResidualItem>>& items);
  void branch(OpId id);
  struct LoopSweep;
  void carrySizes(LoopSweep& sweep, Scope& s);
  void takeCarried(LoopSweep& sweep, Scope& s);
  static void yieldCaptured(const Scope& s, Op& made, std::vector<TypeId>& resultTypes,
                            std::vector<ValueId>& out);
  void yieldCarried(LoopSweep& sweep, Scope& s);
  void readItems(const LoopSweep& sweep, Scope& s, const std::vector<ResidualItem>& items,
                 const Roots& roots);
  void loop(OpId id);
  struct NestSums {
    std::vector<ValueId> sums, accs; ///< values whose cotangents are summed, those that are added to
  };
  void takePoints(const Op& o, Scope& s, const std::vector<ValueId>& axes);
  std::vector<std::pair<ValueId, ValueId>> takeAccumulators(const Op& o, const Scope& s);
  NestSums yieldSums(Scope& s, NestBuilder& made);
  void readPointItems(OpId id, Scope& s, const std::vector<ResidualItem>& items, const Roots& roots,
                      const std::vector<ValueId>& axes);
  bool takesApart(const Op& nest) const;
  void nestInOrder(OpId id);
  void nest(OpId id);
  ValueId savedByCall(OpId call, Linearisation& callee);
  void passSeeds(const Op& o, Op& made);
  ValueId accumulatorFor(ValueId v, bool again);
  void call(OpId id);

  FunctionId dst_;
  std::vector<bool> accs_;
  std::unordered_map<ValueId, ValueId> readers_;
};

} // namespace melix::transforms
