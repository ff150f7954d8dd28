#pragma once
// How the iterations of an innermost loop access memory.
//
//   for %a, %b { (%i)
//     %j = add %i, %c   %x = load %v[%i*%1]   store %y[%j*%1] = %x      %y is stored to at one place in each
//     yield }                                                           iteration, another one in each

#include "loops/ir/ir.h"

#include <map>
#include <optional>
#include <unordered_set>

namespace melix::loops {

/// A sum of the loop's index and a number defined before the loop; none: the index itself.
struct IndexPlusOffset {
  ValueId addend;
  bool subtracts = false;
};

class IterationAccesses {
public:
  /// The terms of all accesses to a block.
  struct Places {
    std::vector<ValueId> terms; ///< index, stride…
    bool equal = true, stored = false;
  };

  /// `throughPointers`: a pointer to a block, defined before the loop, counts as the block.
  IterationAccesses(const Function& fn, const Stmt& loop, bool throughPointers = false);

  /// Whether these are all memory accesses of the loop, and the loop ends unless it is cancelled.
  bool areAll() const { return all_; }
  /// Whether the iterations are disjoint: none accesses an element that another one stores to.
  bool areDisjoint() const;
  /// The accessed places, by the value that is the block.
  const std::map<ValueId, Places>& places() const { return places_; }
  /// How an index depends on the loop's index, if its slope is one.
  std::optional<IndexPlusOffset> indexPlusOffset(ValueId index) const;

private:
  bool region(RegionId r);
  bool statement(const Stmt& s);
  bool access(const Stmt& s, size_t operands);
  bool isInside(ValueId v) const { return inside_.contains(fn_.values[v].region); }
  ValueId blockOf(ValueId base) const;
  bool isOwnPlace(const std::vector<ValueId>& terms) const;
  /// By how much a value grows from one iteration to the next; 0 if it is not linear in the index.
  int64_t slopeOf(ValueId v) const;

  const Function& fn_;
  const ValueId index_;
  const bool throughPointers_;
  std::unordered_set<RegionId> inside_;
  std::map<ValueId, Places> places_;
  const bool all_; ///< found last
};

} // namespace melix::loops
