#include "transforms/walks/distribute_nest.h"

#include "core/analysis/sizes.h"
#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/walks/define_collected.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// What the last op of a region gives if there are points, else zeros.
OpId guardByPoints(Builder& b, DimId points, RegionId region, OpId made) {
  std::vector<TypeId> types;
  for (ValueId v : b.fn().ops[made].results) types.push_back(b.typeOf(v));
  Builder yes = b.in(region), no = b.in(b.newRegion());
  yes.yield(b.fn().ops[made].results);
  std::vector<ValueId> zeros;
  for (TypeId type : types) zeros.push_back(no.zero(type));
  no.yield(zeros);
  Op op = Builder::simple(OpKind::If, {b.compare(ops::CmpKind::Gt, b.dimValue(points), b.integer(0))});
  op.regions = {yes.region, no.region};
  return b.append(std::move(op), types);
}

} // namespace

std::vector<ValueId> storedFor(const Function& f, const Costs& costs, RegionId region,
                               std::span<const ValueId> values) {
  std::vector<ValueId> out;
  std::unordered_set<OpId> seen;
  const std::unordered_set<OpId> here(f.regions[region].ops.begin(), f.regions[region].ops.end());
  auto need = [&](auto& self, ValueId v) -> void {
    const OpId def = f.values[v].def;
    if (!def.valid() || !here.contains(def) || !seen.insert(def).second) return;
    const Op& op = f.ops[def];
    if (!costs.isAsCheapAsRead(def)) return (void)std::ranges::copy(op.results, std::back_inserter(out));
    for (ValueId each : op.operands) self(self, each);
  };
  for (ValueId v : values) need(need, v);
  return out;
}

bool canBeStored(const Module& m, const Function& f, RegionId region, ValueId v) {
  return isOfNumbers(m.types, f.typeOf(v)) && hasOuterSizes(m, f, region, v);
}

bool knowsSizes(const Module& m, const Function& f, RegionId region, OpId op, std::span<const OpId> ops) {
  std::unordered_map<DimSym, OpId> definers;
  for (OpId id : f.regions[region].ops)
    for (DimSym s : f.ops[id].resultDims)
      if (id != op) definers[s] = id;
  if (definers.empty()) return true;
  return std::ranges::all_of(sizesWithin(m, f, op), [&](DimSym s) {
    const auto by = definers.find(s);
    return by == definers.end() || std::ranges::find(ops, by->second) != ops.end();
  });
}

bool hasOuterSizes(const Module& m, const Function& f, RegionId region, ValueId v) {
  std::vector<DimSym> sizes;
  m.types.collectSymbols(f.typeOf(v), sizes);
  return sizes.empty() || std::ranges::none_of(f.regions[region].ops, [&](OpId id) {
           return std::ranges::any_of(f.ops[id].resultDims,
                                      [&](DimSym s) { return std::ranges::find(sizes, s) != sizes.end(); });
         });
}

std::vector<ValueId> distribute(Builder& b, OpId id, const Cut& cut) {
  Function& f = b.fn();
  const Op& nest = f.ops[id];
  const RegionId body = nest.regions[0];
  Builder before = cut.points.valid() ? b.in(b.newRegion()) : b;
  NestBuilder front(before);
  Cloner copy(b.module, b.function, b.function);
  const std::vector<ValueId> indices = openAxes(front, copy, f, nest, cut.axes);
  Builder in = b.in(front.body());
  for (OpId op : cut.ops) copy.op(op, in);
  for (ValueId v : cut.live) front.collect(copy.value(v));
  OpId made = front.finish();
  defineCollected(b.module, b.function, made);
  if (cut.points.valid()) made = guardByPoints(b, cut.points, before.region, made);

  std::unordered_set<OpId> gone;
  if (cut.moves) gone.insert(cut.ops.begin(), cut.ops.end());
  std::vector<OpId> rest = std::move(f.regions[body].ops);
  f.regions[body].ops.clear();
  Builder reads(b.module, b.function, body, b.loc);
  std::vector<ValueId> arrays;
  for (uint32_t k = 0; k < cut.live.size(); ++k) {
    gone.insert(f.values[cut.live[k]].def);
    arrays.push_back(b.result(made, k));
    const ValueId read = reads.getAt(arrays[k], indices);
    takeOver(f, f.values[read].def, std::span(&cut.live[k], 1));
  }
  std::vector<OpId>& ops = f.regions[body].ops;
  std::ranges::copy_if(rest, std::back_inserter(ops), [&](OpId op) { return !gone.contains(op); });
  return arrays;
}

} // namespace melix::transforms
