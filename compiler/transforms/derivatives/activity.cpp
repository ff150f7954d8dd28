// Activity of functions: what is known of each, and the ways to what was lost.

#include "transforms/derivatives/activity.h"

namespace melix::transforms {

/// The callee's activity at a call.
FunctionActivity& Activity::ofCall(const FunctionActivity& act, const Op& call) {
  const Function& f = module_.functions[act.function];
  std::vector<LeafBits> params, lostParams;
  for (ValueId v : call.operands) {
    auto known = act.values.find(v);
    params.push_back(known == act.values.end() ? LeafBits(leaves_.count(f.typeOf(v)), false) : known->second);
    lostParams.push_back(LeafBits(lossSlots(f.typeOf(v)), false));
    if (auto lost = act.lost.find(v); lost != act.lost.end())
      for (size_t k = 0; k < lost->second.size(); ++k) lostParams.back()[k] = lost->second[k].at.valid();
  }
  return entry({call.as<CallAttr>().callee, params, lostParams});
}

/// Adds the way from a slot of `v` to the place of its loss; gives the parameter if that lies before the
/// function.
Loss Activity::followLoss(const FunctionActivity& act, ValueId v, uint32_t slot, std::vector<LocId>& path) {
  const Function& f = module_.functions[act.function];
  for (;;) {
    const Loss loss = act.lost.at(v)[slot];
    if (f.values[loss.at].region.valid()) return loss;
    path.push_back(loss.loc);
    const Op& o = f.ops[f.values[loss.at].def];
    if (o.kind != OpKind::Call || path.size() > 32) return {}; // recursion: the path so far is enough
    const FunctionActivity& inner = ofCall(act, o);
    const Function& callee = module_.functions[inner.function];
    ValueId yielded = callee.ops[callee.regions[callee.body].ops.back()].operands[f.values[loss.at].index];
    const Loss param = followLoss(inner, yielded, loss.slot, path);
    if (!param.at.valid()) return {};
    v = o.operands[callee.values[param.at].index];
    slot = param.slot;
  }
}

std::vector<LocId> Activity::lostPath(const FunctionActivity& act, size_t result) {
  std::vector<LocId> path;
  const Function& f = module_.functions[act.function];
  const std::vector<Leaf> parts = parts_.of(f.results[result]);
  for (uint32_t k = 0; k < parts.size(); ++k)
    if (const uint32_t slot = lossSlot(k, Carrier::Float);
        act.lostResults[result][slot] && leaves_.count(parts[k].type) != 0) {
      followLoss(act, f.ops[f.regions[f.body].ops.back()].operands[result], slot, path);
      break;
    }
  return path;
}

FunctionActivity& Activity::entry(const Key& key) {
  auto [it, isNew] = table_.try_emplace(key);
  FunctionActivity& e = it->second;
  if (isNew) {
    const auto& [f, params, lostParams] = key;
    e.function = f;
    e.params = params;
    e.lostParams = lostParams;
    for (TypeId t : module_.functions[f].results) e.results.push_back(LeafBits(leaves_.count(t), false));
    for (TypeId t : module_.functions[f].results) e.lostResults.push_back(LeafBits(lossSlots(t), false));
  }
  return e;
}

} // namespace melix::transforms
