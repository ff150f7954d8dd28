#pragma once
// Some neighbouring points of a nest, swept inside of its chains; of interchange.

#include "loops/build.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

/// Whether a statement gives the same wherever its operands do, as long as nothing is written.
bool dependsOnOperands(const Stmt& s);
/// Whether a statement, with all in it, writes nothing, checks nothing and calls elementary functions only.
bool isPlain(const Module& module, const Function& fn, const Stmt& s);
/// Whether a loop sums up floats one after another, and is plain: it could be done for many points in turn.
bool isChain(const Module& module, const Function& fn, const Stmt& s);

class PointTile {
public:
  /// Of `loop`: `count` points from `first` on, at most `most`.
  PointTile(const Module& module, Builder& b, const Stmt& loop, ValueId first, ValueId count, int64_t most);

  /// The body's statements up to the last chain.
  void sweepChains(std::span<const StmtId> stmts) { splitAtChains(stmts, {}); }
  /// The others with the yield, point by point; gives what is carried on.
  std::vector<ValueId> sweepRest(std::span<const StmtId> stmts, std::vector<ValueId> carried);

private:
  using Copies = std::unordered_map<ValueId, ValueId>;
  using Counts = std::unordered_map<ValueId, size_t>;

  /// What is to be stored of every point, where.
  struct Move {
    ValueId value, to;
  };

  bool isSame(ValueId v) const { return same_.contains(v) || !made_.contains(v); }
  bool isSame(const Stmt& s) const {
    return dependsOnOperands(s) && std::ranges::all_of(s.operands, [&](ValueId v) { return isSame(v); });
  }
  void splitAtChains(std::span<const StmtId> stmts, std::vector<Move> moves);
  void chain(const Stmt& s, std::span<const StmtId> before);
  void sweep(std::span<const StmtId> stmts, std::vector<Move> moves);
  std::vector<Move> neededLater(std::span<const StmtId> stmts, const std::vector<Move>& moves);

  void load(ValueId v, ValueId u, Copies& copies);
  void loadFor(std::span<const StmtId> stmts, ValueId u, Copies& copies);
  void copy(StmtId id, Copies& copies);
  RegionId copyRegion(RegionId region, Copies& copies);
  ValueId in(const Copies& copies, ValueId v) const;
  std::vector<ValueId> in(const Copies& copies, const std::vector<ValueId>& vs) const;

  void note(RegionId region);
  void countUses(std::span<const StmtId> stmts, Counts& uses) const;
  Access accessOf(ValueId v) const;
  /// Memory of the frame for a value of each point.
  ValueId room(ValueId v);

  const Module& module_;
  Builder& b_;
  Function& fn_;
  ValueId point_; ///< the loop's index
  ValueId first_, count_;
  int64_t most_;
  bool isWide_;                  ///< it is known how many there are: only then is it worth to widen the loops
  std::vector<ValueId> carried_; ///< parameters of the loop
  std::unordered_set<ValueId> made_; ///< in the body, and its parameters
  Counts uses_;                      ///< in the body
  Copies same_;                      ///< values that are the same at all points
  Copies kept_;                      ///< where others lie, in the order of the points
};

} // namespace melix::loops
