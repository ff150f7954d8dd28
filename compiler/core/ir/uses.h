#pragma once
// Records the uses of a function's values and the places of its ops, so that replacing a value costs its uses
// and not a walk.

#include "core/ir/analyses.h"

#include <span>

namespace melix::core {

/// Operand `operand` of `op`.
struct Use {
  OpId op;
  uint32_t operand;
};

/// Uses by the ops that stand in a region reached from the body. `analysis<Uses>` keeps them.
class Uses {
public:
  static constexpr char name[] = "uses";
  Uses(const Module& m, FunctionId f);
  bool operator==(const Uses& o) const;

  uint32_t count(ValueId v) const { return v.index < heads_.size() ? heads_[v.index].count : 0; }
  bool used(ValueId v) const { return count(v) != 0; }
  /// Calls `visit(Use)` for each use; the visit may change the use it is given, and no other.
  template <class Visit>
  void forEach(ValueId v, Visit&& visit) const {
    if (v.index >= heads_.size()) return;
    for (uint32_t at = heads_[v.index].first, next; at != none; at = next) {
      next = nodes_[at].next;
      visit(Use{nodes_[at].op, at - firstOf_[nodes_[at].op.index]});
    }
  }

  /// The region an op stands in; none for ops that were not entered, or left.
  RegionId regionOf(OpId op) const { return op.index < homes_.size() ? homes_[op.index] : RegionId(); }
  /// The region a value is defined in, as a parameter or by an op.
  RegionId homeOf(ValueId v) const;
  /// The op of `region` in whose regions an op stands, or that op itself; none if it stands elsewhere.
  OpId ancestorIn(RegionId region, OpId op) const;

protected:
  static constexpr uint32_t none = ~uint32_t(0);
  /// One operand; operands of an op follow each other.
  struct Node {
    OpId op;
    uint32_t previous = none, next = none;
  };
  struct Head {
    uint32_t first = none, count = 0;
  };
  const Function& fn() const { return module_.functions[function_]; }
  void enter(OpId op, RegionId region);
  void note(OpId op);
  void link(ValueId v, uint32_t node);

  const Module& module_;
  FunctionId function_;
  std::vector<Node> nodes_;
  std::vector<Head> heads_;       ///< by value
  std::vector<uint32_t> firstOf_; ///< by op: its first node
  std::vector<uint32_t> sizeOf_;  ///< by op: how many nodes are its own
  std::vector<RegionId> homes_;   ///< by op
};

/// Uses that are kept while a pass changes the function. The pass changes operands only through this class,
/// and reports ops that come (`enter`) and go (`leave`). The lists of ops of regions are its own business.
class LiveUses : public Uses {
public:
  LiveUses(Module& m, FunctionId f) : Uses(*analysis<Uses>(m, f)), changing_(m) {}

  /// Every use of `v` becomes one of `by`.
  void replace(ValueId v, ValueId by);
  /// `change(Op&)` may do anything to the operands of an op that was entered.
  template <class Change>
  void change(OpId op, Change&& change) {
    assert(regionOf(op).valid());
    raise();
    forget(op);
    change(changing_.functions[function_].ops[op]);
    note(op);
  }
  /// The op, with all that stands in its regions, now stands in `region`; parts may have been entered before.
  void enter(OpId op, RegionId region) {
    raise();
    Uses::enter(op, region);
  }
  /// The op, with all that stands in its regions, stands nowhere any more.
  void leave(OpId op);
  /// The op now stands in another region.
  void move(OpId op, RegionId region) {
    raise();
    homes_[op.index] = region;
  }

private:
  void raise() { changing_.functions[function_].version.raise(); }
  void forget(OpId op);
  void unlink(ValueId v, uint32_t node);
  Module& changing_;
};

} // namespace melix::core
