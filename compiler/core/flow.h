#pragma once
// How values go into, around and out of ops with regions: one table for all that follows them.

#include "core/nest.h"

namespace melix::core {

enum class SlotKind : uint8_t {
  Choice,      ///< of if and match: a result, yielded by every arm
  Carry,       ///< of for and while: an operand, a parameter, a yield that goes around, a result
  Stack,       ///< of for: a yield of each iteration, and the array of them
  Accumulator, ///< of nest: an operand, a parameter, a yield, a result
  Part,        ///< of nest: what `NestPart` says, and all of a combining region
};

/// What of a structured op lives and goes together. Parameters and yields are those of the regions that
/// `paramRegions` and `yieldRegions` name.
struct Slot {
  SlotKind kind;
  Places operands, params, yields, results;
  uint32_t combine = 0; ///< of Part: number of its combining region; 0 for none
  bool needed = false;  ///< it decides a size, and goes only with the op
};

/// The slots of an op, in the order of its results; none for ops without regions.
std::vector<Slot> slotsOf(const Function& f, const Op& op);
std::span<const RegionId> paramRegions(const Op& op, const Slot& slot);
std::span<const RegionId> yieldRegions(const Op& op, const Slot& slot);

/// What the slot's results and parameters are made of: its operands, yields, and those of a combining region.
template <class Visit>
void forEachSource(const Function& f, const Op& op, const Slot& slot, Visit&& visit) {
  auto yieldOf = [&](RegionId r) -> const std::vector<ValueId>& {
    return f.ops[f.regions[r].ops.back()].operands;
  };
  for (ValueId v : slot.operands.of(op.operands)) visit(v);
  for (RegionId r : yieldRegions(op, slot))
    for (ValueId v : slot.yields.of(yieldOf(r))) visit(v);
  if (slot.combine == 0) return;
  for (ValueId v : yieldOf(op.regions[slot.combine])) visit(v);
}
/// Its parameters, those of a combining region too.
template <class Visit>
void forEachParam(const Function& f, const Op& op, const Slot& slot, Visit&& visit) {
  for (RegionId r : paramRegions(op, slot))
    for (ValueId v : slot.params.of(f.regions[r].params)) visit(v);
  if (slot.combine == 0) return;
  for (ValueId v : f.regions[op.regions[slot.combine]].params) visit(v);
}

/// The slots of a function by the results and parameters that belong to them.
class SlotTable {
public:
  struct Entry {
    OpId op;
    Slot slot;
  };
  explicit SlotTable(const Function& f);
  /// None for values that no slot holds: results of other ops, axes, indices of loops, payloads.
  const Entry* of(ValueId v) const {
    return numberOf_[v.index] == none ? nullptr : &entries_[numberOf_[v.index]];
  }

private:
  static constexpr uint32_t none = ~uint32_t(0);
  std::vector<Entry> entries_;
  std::vector<uint32_t> numberOf_; ///< by value
};

/// Takes slots out of an op: operands, parameters, yields, results and what the attribute says of them.
void removeSlots(Function& f, OpId op, const std::vector<bool>& gone);

enum class FlowKind : uint8_t {
  Enter,  ///< operand to parameter
  Test,   ///< operand or yield to parameter of the condition of a while
  Open,   ///< the enum to the payload of a case
  Case,   ///< the enum to the results of a match
  Around, ///< yield to parameter, for the next iteration or point
  Leave,  ///< yield to result
  Skip,   ///< operand to result, when nothing runs
};

/// One way of a value. Conditions, counts, positions and sizes decide, and do not flow; of an enum the case
/// decides too, and the payload flows.
struct FlowEdge {
  ValueId from, to;
  FlowKind kind;
  SlotKind slot;
};

/// The edges of one op: those into its regions and around them first, those out of them last.
std::vector<FlowEdge> flowsOf(const Function& f, const Op& op);

} // namespace melix::core
