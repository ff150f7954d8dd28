#pragma once
// Makes the body of f_bwd: transposes the linear part of a jvp companion g, region by region in reverse.

#include "transforms/derivatives/cotangents.h"

namespace melix::transforms {

class Backward : private Cotangents {
public:
  Backward(Ad& ad, Linearisation& lin, const std::vector<bool>& accs)
      : Cotangents(ad, lin), dst_(lin.backward.at(accs)), accs_(accs) {
    findSteep(g().body);
  }
  void build();

private:
  // The function as a whole.
  void takeSeeds(Scope& top);
  void yieldCotangents(Scope& top);
  void fillSaved(const std::vector<ResidualItem>& items);
  std::optional<Linearisation::AtHand> atHand(const ResidualItem& item,
                                              const std::vector<ValueId>& before) const;
  std::vector<uint32_t> itemsPassedOn() const;
  void passOn(RegionId region, std::span<const uint32_t> items);

  // Transposes.
  void region(Scope& s);
  bool putsTogether(OpId id, const std::unordered_set<OpId>& others) const;
  void op(OpId id);
  void transpose(OpId id);
  void scalar(const Op& o, ValueId c);
  ValueId product(const Op& o, ValueId a, ValueId b);
  void unpack(const Op& o, ValueId c);
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
  struct Joined {
    std::vector<ValueId> values, read; ///< of these it is recorded whether anything read them
  };
  static ValueId readInArm(Scope& s, ValueId v);
  Joined joinArms(std::deque<Scope>& arms, std::vector<TypeId>& resultTypes);
  void takeJoined(Scope& s, const Joined& joined, OpId made);
  TypeId branchType(OpId id, const std::vector<std::vector<ResidualItem>>& items);
  bool areFewNumbers(const std::vector<std::vector<ResidualItem>>& items) const;
  void readArmItems(OpId id, std::deque<Scope>& arms, const std::vector<std::vector<ResidualItem>>& items,
                    const std::vector<Roots>& roots);
  Op recomputeChoice(OpId id, const std::vector<std::vector<ResidualItem>>& items, bool areNumbers);
  void branch(OpId id);
  struct LoopSweep;
  void carrySizes(LoopSweep& sweep, Scope& s);
  void takeCarried(LoopSweep& sweep, Scope& s);
  static void yieldCaptured(const Scope& s, Op& made, std::vector<TypeId>& resultTypes,
                            std::vector<ValueId>& out);
  void yieldCarried(LoopSweep& sweep, Scope& s);
  void readItems(const LoopSweep& sweep, Scope& s, const std::vector<ResidualItem>& items,
                 const Roots& roots);
  void readItemLists(const LoopSweep& sweep, Scope& s, const std::vector<ResidualItem>& items,
                     const Roots& roots);
  void loop(OpId id);
  struct NestSums {
    /// Values whose cotangents are summed, and values whose cotangents are added to.
    std::vector<ValueId> sums, accs;
  };
  void takePoints(const Op& o, Scope& s, const std::vector<ValueId>& axes);
  std::vector<std::pair<ValueId, ValueId>> takeAccumulators(const Op& o, const Scope& s);
  NestSums yieldSums(Scope& s, NestBuilder& made);
  void readPointItems(OpId id, Scope& s, const std::vector<ResidualItem>& items, const Roots& roots,
                      const std::vector<ValueId>& axes);
  bool isFissioned(const Op& nest) const;
  void nestInOrder(OpId id);
  void nest(OpId id);
  void itemsOfCall(OpId call, const Linearisation& callee);
  Op readOfPart(OpId call, const Linearisation::AtHand& part, const std::vector<ValueId>& items);
  ValueId savedByCall(OpId call, Linearisation& callee);
  void passSeeds(const Op& o, Op& made);
  ValueId accumulatorFor(ValueId v, bool isRepeated);
  void call(OpId id);

  // Values that not every path reads (cotangents_unread.cpp).
  bool isConstant(ValueId v) const;
  bool isUnbounded(ValueId v, int depth) const;
  bool isSteep(const Op& o) const;
  bool findSteep(RegionId region);
  ValueId readOfResults(const Op& o);
  ValueId whereRead(const Op& o, ValueId product);
  void transposeWhereRead(OpId id, ValueId read);

  FunctionId dst_;
  std::vector<bool> accs_;
};

} // namespace melix::transforms
