#include "transforms/distribute.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

std::vector<ValueId> distribute(Builder& b, OpId id, const Cut& cut) {
  Function& f = b.fn();
  const Op& nest = f.ops[id];
  const RegionId body = nest.regions[0];
  NestBuilder front(b);
  Cloner copy(b.module, b.function, b.function);
  const std::vector<ValueId> indices = openAxes(front, copy, f, nest, cut.axes);
  Builder in = b.in(front.body());
  for (OpId op : cut.ops) copy.op(op, in);
  for (ValueId v : cut.live) front.collect(copy.value(v));
  const OpId made = front.finish();

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
