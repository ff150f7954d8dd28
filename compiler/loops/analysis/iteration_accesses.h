#pragma once
// How the turns of a loop without loops inside reach memory.
//
//   for %a, %b { (%i)
//     %j = add %i, %c   %x = load %v[%i*%1]   store %y[%j*%1] = %x      %y is stored to at one place in each
//     yield }                                                           turn, another one in each

#include "loops/ir/ir.h"

#include <map>
#include <optional>
#include <unordered_set>

namespace melix::loops {

/// A sum of the turn and a number that stands before the loop; none: the turn itself.
struct TurnSum {
  ValueId addend;
  bool subtracts = false;
};

class TurnAccesses {
public:
  /// The terms of all accesses to a block.
  struct Places {
    std::vector<ValueId> terms; ///< index, stride…
    bool equal = true, stored = false;
  };

  /// `throughPointers`: pointers to blocks that stand before the loop are the blocks.
  TurnAccesses(const Function& fn, const Stmt& loop, bool throughPointers = false);

  /// Whether these are all that the loop does with memory, and it comes to its end unless it is cancelled.
  bool areAll() const { return all_; }
  /// Whether no turn reaches what another one stores to.
  bool areApart() const;
  /// By the value that is the block.
  const std::map<ValueId, Places>& places() const { return places_; }
  /// How an index goes with the turns, if it does by one.
  std::optional<TurnSum> turnSum(ValueId index) const;
  /// Whether an index goes back by one with each turn.
  bool goesBack(ValueId index) const;

private:
  bool region(RegionId r);
  bool statement(const Stmt& s);
  bool access(const Stmt& s, size_t operands);
  bool isInside(ValueId v) const { return inside_.contains(fn_.values[v].region); }
  ValueId blockOf(ValueId base) const;
  bool isOfTurn(const std::vector<ValueId>& terms) const;

  const Function& fn_;
  const ValueId turn_;
  const bool throughPointers_;
  std::unordered_set<RegionId> inside_;
  std::map<ValueId, Places> places_;
  const bool all_; ///< found last
};

} // namespace melix::loops
