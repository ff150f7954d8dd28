#pragma once
// The flow of values into, around and out of ops with regions: one table for all code that follows values.

#include "core/ir/nest.h"

namespace melix::core {

/// A `for` or `while` by its parts. It holds the op and the lists of parameters and yields: these must stay
/// as they are while it is used.
class LoopView {
public:
  LoopView(const Function& f, const Op& loop);

  bool isCounted() const { return op_.kind == OpKind::For; }
  RegionId body() const { return op_.regions.back(); }
  /// Of a `while`.
  RegionId condition() const { return op_.regions[0]; }
  /// Of a `for`: how often it runs, and the parameter that says which time this is.
  ValueId count() const { return op_.operands[0]; }
  ValueId index() const { return params_[0]; }

  uint32_t carries() const { return static_cast<uint32_t>(op_.operands.size()) - lead(); }
  uint32_t stacks() const { return isCounted() ? op_.as<LoopAttr>().collects : 0; }
  std::span<const ValueId> carryOperands() const { return std::span(op_.operands).subspan(lead()); }
  std::span<const ValueId> carryParams() const { return params_.subspan(lead()); }
  /// Of the body or the condition.
  std::span<const ValueId> carryParams(RegionId r) const {
    return r == body() ? carryParams() : conditionParams_;
  }
  std::span<const ValueId> carryYields() const { return yields_.first(carries()); }
  std::span<const ValueId> stackYields() const { return yields_.subspan(carries()); }
  std::span<const ValueId> carryResults() const { return std::span(op_.results).first(carries()); }
  std::span<const ValueId> stackResults() const { return std::span(op_.results).subspan(carries()); }

  /// Sizes that are carried: as they are in the body and when the loop has ended.
  std::span<const DimSym> bodyDims() const { return dims_; }
  std::span<const DimSym> resultDims() const { return std::span(op_.resultDims).subspan(stacks() > 0); }
  /// The extent of the stacked results; none if nothing is stacked.
  DimSym extent() const { return stacks() > 0 ? op_.resultDims[0] : DimSym(); }

private:
  uint32_t lead() const { return isCounted() ? 1 : 0; } ///< operands and parameters before the carries

  const Op& op_;
  std::span<const ValueId> params_, conditionParams_, yields_;
  std::span<const DimSym> dims_;
};

enum class SlotKind : uint8_t {
  Choice,      ///< of if and match: a result, yielded by every arm
  Carry,       ///< of for and while: an operand, a parameter, a yield that goes around, a result
  Stack,       ///< of for: a yield of each iteration, and the array of them
  Accumulator, ///< of nest: an operand, a parameter, a yield, a result
  Part,        ///< of nest: the results in `NestPart`, and all of a combining region
};

/// The parts of a structured op that are live together and are removed together. Parameters and yields are in
/// the regions that `paramRegions` and `yieldRegions` name.
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

/// Visits the values that the slot's results and parameters come from: its operands, its yields, and the
/// yields of a combining region.
template <class Visit>
void forEachSource(const Function& f, const Op& op, const Slot& slot, Visit&& visit) {
  auto yieldOf = [&](RegionId r) -> const Operands& { return f.ops[f.regions[r].ops.back()].operands; };
  for (ValueId v : slot.operands.of(op.operands)) visit(v);
  for (RegionId r : yieldRegions(op, slot))
    for (ValueId v : slot.yields.of(yieldOf(r))) visit(v);
  if (slot.combine == 0) return;
  for (ValueId v : yieldOf(op.regions[slot.combine])) visit(v);
}
/// Its parameters, in a combining region too.
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

/// Removes slots from an op: operands, parameters, yields, results and their entries in the attribute.
void removeSlots(Function& f, OpId op, const std::vector<bool>& gone);
/// Adds accumulators to the nest; their operands, parameters, yields and results are in its lists already.
void addAccumulators(Op& nest, size_t more);

enum class FlowKind : uint8_t {
  Enter,  ///< operand to parameter
  Test,   ///< operand or yield to parameter of the condition of a while
  Open,   ///< the enum to the payload of a case
  Case,   ///< operand of a match to the results
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
