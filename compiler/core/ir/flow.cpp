#include "core/ir/flow.h"

#include "core/ir/walk.h"

#include <algorithm>

namespace melix::core {

LoopView::LoopView(const Function& f, const Op& loop) : op_(loop) {
  const Region& body = f.regions[this->body()];
  params_ = body.params;
  dims_ = body.dimParams;
  if (!body.ops.empty()) yields_ = f.ops[body.ops.back()].operands; // else the verifier says so
  if (!isCounted()) conditionParams_ = f.regions[condition()].params;
}

// --- slots
// --------------------------------------------------------------------------------------------------------

static void nestSlots(const Function& f, const Op& op, std::vector<Slot>& out) {
  const NestView nest(f, op);
  for (const NestPart& part : nest.parts()) {
    Slot slot{SlotKind::Part, part.units, {}, part.yields, part.results};
    slot.combine = isCombine(*part.spec) ? part.spec->combineRegion : 0;
    slot.needed = part.spec->kind == NestResultKind::Filter;
    out.push_back(slot);
  }
  const auto axes = static_cast<uint32_t>(nest.axes());
  const uint32_t yields = nest.partYields(), results = nest.partResults();
  for (uint32_t k = 0; k < nest.accs(); ++k)
    out.push_back({SlotKind::Accumulator, {k, 1}, {axes + k, 1}, {yields + k, 1}, {results + k, 1}});
}

std::vector<Slot> slotsOf(const Function& f, const Op& op) {
  std::vector<Slot> out;
  const auto results = static_cast<uint32_t>(op.results.size());
  switch (op.kind) {
  case OpKind::If:
  case OpKind::Match:
    for (uint32_t k = 0; k < results; ++k) out.push_back({SlotKind::Choice, {}, {}, {k, 1}, {k, 1}});
    break;
  case OpKind::For: {
    const uint32_t carries = LoopView(f, op).carries();
    for (uint32_t k = 0; k < carries; ++k)
      out.push_back({SlotKind::Carry, {k + 1, 1}, {k + 1, 1}, {k, 1}, {k, 1}});
    for (uint32_t k = carries; k < results; ++k) out.push_back({SlotKind::Stack, {}, {}, {k, 1}, {k, 1}});
    break;
  }
  case OpKind::While:
    for (uint32_t k = 0; k < results; ++k) out.push_back({SlotKind::Carry, {k, 1}, {k, 1}, {k, 1}, {k, 1}});
    break;
  case OpKind::Nest: nestSlots(f, op, out); break;
  default: assert(op.regions.empty() && "an op with regions has a row here");
  }
  return out;
}

std::span<const RegionId> paramRegions(const Op& op, const Slot& slot) {
  const std::span<const RegionId> all(op.regions);
  const bool none = slot.kind == SlotKind::Choice || slot.kind == SlotKind::Part;
  return all.first(none ? 0 : op.kind == OpKind::While ? 2 : 1);
}

std::span<const RegionId> yieldRegions(const Op& op, const Slot& slot) {
  const std::span<const RegionId> all(op.regions);
  if (slot.kind == SlotKind::Choice) return all;
  return op.kind == OpKind::While ? all.last(1) : all.first(1);
}

SlotTable::SlotTable(const Function& f) : numberOf_(f.values.size(), none) {
  forEachOp(f, [&](OpId id) {
    const Op& op = f.ops[id];
    for (const Slot& slot : slotsOf(f, op)) {
      const auto number = static_cast<uint32_t>(entries_.size());
      for (ValueId v : slot.results.of(op.results)) numberOf_[v.index] = number;
      forEachParam(f, op, slot, [&](ValueId v) { numberOf_[v.index] = number; });
      entries_.push_back({id, slot});
    }
  });
}

// --- removing slots
// -----------------------------------------------------------------------------------------------

/// Drops the places given, all sorted.
template <class List>
static void removePlaces(List& list, const std::vector<Places>& gone) {
  size_t kept = 0, next = 0;
  for (size_t k = 0; k < list.size(); ++k) {
    while (next < gone.size() && k >= gone[next].first + gone[next].count) ++next;
    if (next < gone.size() && k >= gone[next].first) continue;
    list[kept++] = list[k];
  }
  list.resize(kept);
}

static void renumber(Function& f, std::span<const ValueId> list) {
  for (uint32_t k = 0; k < list.size(); ++k) f.values[list[k]].index = k;
}

/// What the attribute says of the slots that are left.
static void removeFromNest(Op& op, const std::vector<Slot>& slots, const std::vector<bool>& gone) {
  auto& attr = op.as<NestAttr>();
  std::vector<NestResult> kept;
  std::vector<RegionId> regions{op.regions[0]};
  for (size_t k = 0; k < slots.size(); ++k) {
    if (slots[k].kind == SlotKind::Accumulator) attr.accs -= gone[k];
    if (slots[k].kind == SlotKind::Accumulator || gone[k]) continue;
    kept.push_back(attr.results[k]);
    if (slots[k].combine == 0) continue;
    regions.push_back(op.regions[slots[k].combine]);
    kept.back().combineRegion = static_cast<uint32_t>(regions.size() - 1);
  }
  attr.results = std::move(kept);
  op.regions = std::move(regions);
}

static void removeStacks(Op& op, const std::vector<Slot>& slots, const std::vector<bool>& gone) {
  uint32_t& collects = op.as<LoopAttr>().collects;
  const uint32_t before = collects;
  for (size_t k = 0; k < slots.size(); ++k) collects -= slots[k].kind == SlotKind::Stack && gone[k];
  if (before > 0 && collects == 0) op.resultDims.erase(op.resultDims.begin()); // the trip count
}

void removeSlots(Function& f, OpId id, const std::vector<bool>& gone) {
  f.version.raise();
  Op& op = f.ops[id];
  const std::vector<Slot> slots = slotsOf(f, op);
  std::vector<Places> operands, params, yields, results;
  for (size_t k = 0; k < slots.size(); ++k) {
    if (!gone[k]) continue;
    operands.push_back(slots[k].operands);
    params.push_back(slots[k].params);
    yields.push_back(slots[k].yields);
    results.push_back(slots[k].results);
  }
  if (op.kind == OpKind::Nest) // accumulators stand before units, and their slots after those
    std::sort(operands.begin(), operands.end(), [](Places a, Places b) { return a.first < b.first; });
  // All slots of an op have parameters in the same regions, or none.
  for (RegionId r : op.kind == OpKind::While ? std::span(op.regions) : std::span(op.regions).first(1)) {
    removePlaces(f.regions[r].params, params);
    renumber(f, f.regions[r].params);
  }
  for (RegionId r : yieldRegions(op, slots[0])) removePlaces(f.ops[terminatorId(f, r)].operands, yields);
  removePlaces(op.operands, operands);
  removePlaces(op.results, results);
  renumber(f, op.results);
  if (op.kind == OpKind::Nest) removeFromNest(op, slots, gone);
  if (op.kind == OpKind::For) removeStacks(op, slots, gone);
}

void addAccumulators(Op& nest, size_t more) { nest.as<NestAttr>().accs += static_cast<uint32_t>(more); }

// --- edges
// --------------------------------------------------------------------------------------------------------

static void partEdges(const Function& f, const Op& op, std::vector<FlowEdge>& in,
                      std::vector<FlowEdge>& out) {
  const NestView nest(f, op);
  auto all = [](std::span<const ValueId> from, std::span<const ValueId> to, FlowKind kind,
                std::vector<FlowEdge>& edges) {
    for (ValueId a : from)
      for (ValueId b : to) edges.push_back({a, b, kind, SlotKind::Part});
  };
  for (const NestPart& part : nest.parts()) {
    if (isPosition(*part.spec)) continue;
    const auto yields = nest.yields(part);
    if (!isCombine(*part.spec)) { // of a filter the value, not the condition
      all(yields.last(1), nest.results(part), FlowKind::Leave, out);
      continue;
    }
    const std::vector<ValueId>& params = f.regions[nest.combine(part)].params;
    const Operands& combined = terminator(f, nest.combine(part)).operands;
    all(yields, params, FlowKind::Enter, in);
    all(nest.units(part), params, FlowKind::Enter, in);
    all(combined, params, FlowKind::Around, in);
    all(combined, nest.results(part), FlowKind::Leave, out);
    all(nest.units(part), nest.results(part), FlowKind::Skip, out);
  }
}

std::vector<FlowEdge> flowsOf(const Function& f, const Op& op) {
  std::vector<FlowEdge> in, out;
  for (const Slot& slot : slotsOf(f, op)) {
    if (slot.kind == SlotKind::Part) continue;
    auto add = [&](std::vector<FlowEdge>& edges, ValueId from, ValueId to, FlowKind kind) {
      edges.push_back({from, to, kind, slot.kind});
    };
    const ValueId result = op.results[slot.results.first];
    for (ValueId operand : slot.operands.of(op.operands)) add(out, operand, result, FlowKind::Skip);
    for (RegionId y : yieldRegions(op, slot)) {
      const ValueId yielded = terminator(f, y).operands[slot.yields.first];
      add(out, yielded, result, FlowKind::Leave);
      for (RegionId p : paramRegions(op, slot)) {
        const bool test = op.kind == OpKind::While && p == op.regions[0];
        if (slot.params.count == 0) continue;
        const ValueId param = f.regions[p].params[slot.params.first];
        add(in, op.operands[slot.operands.first], param, test ? FlowKind::Test : FlowKind::Enter);
        add(in, yielded, param, test ? FlowKind::Test : FlowKind::Around);
      }
    }
  }
  if (op.kind == OpKind::Match)
    for (RegionId r : op.regions)
      for (ValueId p : f.regions[r].params)
        in.push_back({op.operands[0], p, FlowKind::Open, SlotKind::Choice});
  if (op.kind == OpKind::Match)
    for (ValueId r : op.results) out.push_back({op.operands[0], r, FlowKind::Case, SlotKind::Choice});
  if (op.kind == OpKind::Nest) partEdges(f, op, in, out);
  in.insert(in.end(), out.begin(), out.end());
  return in;
}

} // namespace melix::core
