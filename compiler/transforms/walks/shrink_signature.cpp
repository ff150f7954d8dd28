#include "transforms/walks/shrink_signature.h"

#include "core/ir/walk.h"
#include "core/order/clone.h"

#include <algorithm>
#include <functional>

namespace melix::transforms {

using namespace core;

namespace {

template <class List>
List keptOf(const List& list, const std::vector<bool>& kept) {
  assert(list.size() == kept.size() && "a row for each");
  List out;
  for (size_t k = 0; k < list.size(); ++k)
    if (kept[k]) out.push_back(list[k]);
  return out;
}

/// The number of a slot among those that stay.
uint32_t numberIn(const std::vector<bool>& kept, uint32_t k) {
  return static_cast<uint32_t>(std::count(kept.begin(), kept.begin() + k, true));
}

} // namespace

bool KeptSlots::areAll() const {
  return std::ranges::all_of(params, std::identity()) && std::ranges::all_of(results, std::identity());
}

void shrinkSignature(Function& f, const KeptSlots& kept) {
  std::erase_if(f.inouts,
                [&](InoutPair pair) { return !kept.params[pair.param] || !kept.results[pair.result]; });
  for (InoutPair& pair : f.inouts)
    pair = {numberIn(kept.params, pair.param), numberIn(kept.results, pair.result)};
  std::vector<ValueId>& params = f.regions[f.body].params;
  params = keptOf(params, kept.params);
  for (uint32_t k = 0; k < params.size(); ++k) f.values[params[k]].index = k;
  Operands& yielded = f.ops[terminatorId(f, f.body)].operands;
  yielded = keptOf(yielded, kept.results);
  f.results = keptOf(f.results, kept.results);
  f.version.raise();
}

void shrinkCall(Function& caller, OpId call, const KeptSlots& kept) {
  Op& op = caller.ops[call];
  op.operands = keptOf(op.operands, kept.params);
  const Results results = keptOf(op.results, kept.results);
  takeOver(caller, call, results);
  caller.version.raise();
}

} // namespace melix::transforms
