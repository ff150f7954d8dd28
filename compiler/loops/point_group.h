#pragma once
// Several neighbouring points of a nest at once; of interleave.

#include "loops/build.h"

#include <optional>
#include <span>
#include <unordered_map>

namespace melix::loops {

/// Whether a loop carries a float through short terms, which can be taken for several points in turn: without
/// stores, checks and calls.
bool isChain(const Function& fn, const Stmt& s);

/// The points of one group: a copy of every statement for each, but what is the same at all of them once.
class PointGroup {
public:
  PointGroup(Function& fn, int64_t points) : fn_(fn), b_(fn), copies_(static_cast<size_t>(points)) {}

  /// Appends the body of a loop to the builder's region, for points that begin there.
  std::vector<ValueId> run(const Stmt& loop, ValueId first, std::vector<ValueId> carried);

  Builder& builder() { return b_; }

private:
  using Copy = std::unordered_map<ValueId, ValueId>;

  static ValueId in(const Copy& copy, ValueId v) {
    auto found = copy.find(v);
    return found == copy.end() ? v : found->second;
  }
  bool isSame(ValueId v) const {
    return std::ranges::all_of(copies_, [&](const Copy& c) { return in(c, v) == in(copies_[0], v); });
  }
  void same(ValueId v, ValueId made) {
    for (Copy& c : copies_) c[v] = made;
  }
  std::vector<ValueId> operandsIn(const Copy& copy, const Stmt& s) const {
    std::vector<ValueId> out;
    for (ValueId v : s.operands) out.push_back(in(copy, v));
    return out;
  }
  std::vector<ValueType> typesOf(const std::vector<ValueId>& values) const {
    std::vector<ValueType> out;
    for (ValueId v : values) out.push_back(fn_.typeOf(v));
    return out;
  }

  /// One copy of a statement, with all that is in it.
  void copyFor(Copy& copy, StmtId id);
  /// The same right in the loop: what is computed from the same is there from the first point on.
  void copyPoint(Copy& copy, StmtId id);
  RegionId copyRegion(Copy& copy, RegionId region);
  /// Statements of a chain: for all points at once.
  void copyForAll(StmtId id);
  void chainsAtOnce(StmtId id);
  std::optional<int64_t> distance(const Stmt& s) const;
  void loadEvenly(StmtId id, int64_t distance);
  ValueId pointAt(ValueId first, size_t c);
  size_t countStatements(std::span<const StmtId> stmts) const;
  void usedOf(std::span<const StmtId> stmts, std::vector<ValueId>& out) const;
  std::vector<ValueId> restInLoop(std::span<const StmtId> rest, ValueId first,
                                  const std::vector<ValueId>& params, std::vector<ValueId> carried);

  Function& fn_;
  Builder b_;
  ValueId point_; ///< the index of the loop's turn
  std::vector<Copy> copies_;
};

} // namespace melix::loops
