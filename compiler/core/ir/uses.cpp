#include "core/ir/uses.h"

#include "core/ir/work.h"

#include <algorithm>

namespace melix::core {

Uses::Uses(const Module& m, FunctionId id) : module_(m), function_(id) {
  const Function& f = fn();
  heads_.resize(f.values.size());
  firstOf_.resize(f.ops.size(), none);
  sizeOf_.resize(f.ops.size(), 0);
  homes_.resize(f.ops.size());
  nodes_.reserve(2 * f.ops.size());
  for (OpId op : f.regions[f.body].ops) enter(op, f.body);
}

/// One may have places for values and ops that stand nowhere.
bool Uses::operator==(const Uses& o) const {
  for (uint32_t k = 0; k < std::max(heads_.size(), o.heads_.size()); ++k) {
    std::vector<std::pair<OpId, uint32_t>> own, other;
    forEach(ValueId(k), [&](Use use) { own.emplace_back(use.op, use.operand); });
    o.forEach(ValueId(k), [&](Use use) { other.emplace_back(use.op, use.operand); });
    if (own != other) return false;
  }
  for (uint32_t k = 0; k < std::max(homes_.size(), o.homes_.size()); ++k)
    if (regionOf(OpId(k)) != o.regionOf(OpId(k))) return false;
  return true;
}

RegionId Uses::homeOf(ValueId v) const {
  const Value& value = fn().values[v];
  return value.def.valid() ? regionOf(value.def) : value.region;
}

OpId Uses::ancestorIn(RegionId region, OpId op) const {
  while (op.valid() && regionOf(op) != region)
    op = regionOf(op).valid() ? fn().regions[regionOf(op)].parent : OpId();
  return op;
}

void Uses::enter(OpId op, RegionId region) {
  if (op.index >= homes_.size()) {
    homes_.resize(fn().ops.size());
    firstOf_.resize(fn().ops.size(), none);
    sizeOf_.resize(fn().ops.size(), 0);
  }
  const bool known = std::exchange(homes_[op.index], region).valid();
  if (!known) note(op);
  for (RegionId inner : fn().ops[op].regions)
    for (OpId each : fn().regions[inner].ops) enter(each, inner);
}

void LiveUses::leave(OpId op) {
  if (!regionOf(op).valid()) return;
  raise();
  forget(op);
  homes_[op.index] = RegionId();
  for (RegionId inner : fn().ops[op].regions)
    for (OpId each : fn().regions[inner].ops) leave(each);
}

void Uses::note(OpId id) {
  const Operands& operands = fn().ops[id].operands;
  if (operands.size() > sizeOf_[id.index]) { // it takes new nodes, and leaves the old ones
    firstOf_[id.index] = static_cast<uint32_t>(nodes_.size());
    sizeOf_[id.index] = static_cast<uint32_t>(operands.size());
    for (size_t k = 0; k < operands.size(); ++k) nodes_.push_back(Node{id});
  }
  for (uint32_t k = 0; k < operands.size(); ++k) link(operands[k], firstOf_[id.index] + k);
  work.uses += 1 + operands.size();
}

void LiveUses::forget(OpId id) {
  const Operands& operands = fn().ops[id].operands;
  for (uint32_t k = 0; k < operands.size(); ++k) unlink(operands[k], firstOf_[id.index] + k);
  work.uses += 1 + operands.size();
}

void Uses::link(ValueId v, uint32_t node) {
  if (v.index >= heads_.size()) heads_.resize(fn().values.size());
  Head& head = heads_[v.index];
  nodes_[node].previous = none;
  nodes_[node].next = head.first;
  if (head.first != none) nodes_[head.first].previous = node;
  head.first = node;
  ++head.count;
}

void LiveUses::unlink(ValueId v, uint32_t node) {
  Head& head = heads_[v.index];
  const Node& at = nodes_[node];
  if (at.previous == none)
    head.first = at.next;
  else
    nodes_[at.previous].next = at.next;
  if (at.next != none) nodes_[at.next].previous = at.previous;
  --head.count;
}

void LiveUses::replace(ValueId v, ValueId by) {
  if (v == by || !used(v)) return;
  raise();
  for (uint32_t at = heads_[v.index].first; at != none;) {
    const uint32_t next = nodes_[at].next;
    const OpId op = nodes_[at].op;
    changing_.functions[function_].ops[op].operands[at - firstOf_[op.index]] = by;
    link(by, at);
    ++work.uses;
    at = next;
  }
  heads_[v.index] = Head();
}

} // namespace melix::core
