#include "transforms/batch/row_functions.h"

#include "core/analysis/footprint.h"
#include "core/ir/call_graph.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/batch/accumulators.h"
#include "transforms/batch/checks_to_values.h"
#include "transforms/fusion/fusion.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

RowFunctions::RowFunctions(Module& m, const Effects& effects)
    : m_(m), effects_(effects), facts_(m.functions.size()) {
  for (size_t k = 0; k < facts_.size(); ++k) {
    const FunctionId id(static_cast<uint32_t>(k));
    const Function& f = m.functions[id];
    if (!f.body.valid()) continue;
    byKey_[f.key] = id;
    facts_[k].hasProduct = hasOwnProduct(f);
    forEachOp(f, [&](OpId op) {
      facts_[k].hasEffect = facts_[k].hasEffect || hasOwnEffect(f, op);
      facts_[k].hasOther = facts_[k].hasOther || hasOwnOther(f, op);
    });
  }
  // Callees first; functions that call each other come to a fixed point.
  const CallGraph calls(m);
  for (FunctionId f : calls.order()) facts_[f.index].isRecursive = calls.isRecursive(f);
  for (bool more = true; std::exchange(more, false);)
    for (FunctionId f : calls.order()) {
      Facts now = facts_[f.index];
      for (FunctionId callee : calls.callees(f)) {
        now.hasProduct |= facts_[callee.index].hasProduct;
        now.hasEffect |= facts_[callee.index].hasEffect;
        now.hasOther |= facts_[callee.index].hasOther;
      }
      more |= now != facts_[f.index];
      facts_[f.index] = now;
    }
}

bool RowFunctions::hasOwnProduct(const Function& f) const {
  bool has = false;
  auto look = [&](auto& self, RegionId r) -> void {
    for (OpId id : f.regions[r].ops) {
      if (f.ops[id].kind == OpKind::Nest)
        has = has || isRowTimesMatrix(m_, f, id);
      else
        for (RegionId inner : f.ops[id].regions) self(self, inner);
    }
  };
  look(look, f.body);
  return has;
}

bool RowFunctions::hasOwnEffect(const Function& f, OpId id) const {
  const Op& op = f.ops[id];
  return op.kind != OpKind::While && op.kind != OpKind::Call && effects_.ofItself(f, id).any();
}

bool RowFunctions::hasOwnOther(const Function& f, OpId id) const {
  return !canGiveChecks(m_, f, id, effects_);
}

bool RowFunctions::anyWithin(const Function& f, OpId id, Test own, bool Facts::* ofCallee) const {
  bool has = false;
  auto look = [&](OpId each) {
    has = has || (this->*own)(f, each);
    if (f.ops[each].kind == OpKind::Call) has = has || factOf(f.ops[each].as<CallAttr>().callee, ofCallee);
  };
  look(id);
  for (RegionId r : f.ops[id].regions) forEachOp(f, r, look);
  return has;
}

bool RowFunctions::hasEffect(const Function& f, OpId id) const {
  return anyWithin(f, id, &RowFunctions::hasOwnEffect, &Facts::hasEffect);
}

bool RowFunctions::hasOther(const Function& f, OpId id) const {
  return anyWithin(f, id, &RowFunctions::hasOwnOther, &Facts::hasOther);
}

bool RowFunctions::isOrdered(FunctionId f, OpId id) const {
  return isSpeculated(f) ? hasOther(m_.functions[f], id) : hasEffect(m_.functions[f], id);
}

Refused RowFunctions::endlessIn(const Function& f, RegionId region) const {
  Refused found;
  forEachOp(f, region, [&](OpId id) {
    const OpKind kind = f.ops[id].kind;
    const bool may = (kind == OpKind::While || kind == OpKind::Call) && effects_.ofItself(f, id).any();
    if (may && !found) found = Refusal{BatchingKind::Endless, f.ops[id].loc};
  });
  return found;
}

Refused RowFunctions::refusalOf(FunctionId id, bool isSpeculated) const {
  const Function& f = m_.functions[id];
  FunctionSet seen;
  if (open_.contains(id)) return Refusal{BatchingKind::CallsItself};
  if (factOf(id, isSpeculated ? &Facts::hasOther : &Facts::hasEffect))
    return findEffect(id, isSpeculated, seen).value_or(Refusal{BatchingKind::Check, f.loc});
  if (!f.body.valid() || f.staysCalled()) return Refusal{BatchingKind::StaysCalled};
  if (f.customJvp.valid()) return Refusal{BatchingKind::OwnDerivative};
  if (!f.resultDims.empty()) return Refusal{BatchingKind::OwnSize};
  const bool onlyAdds = std::ranges::all_of(
      f.inouts, [&](const InoutPair& pair) { return isAccumulator(m_, f, f.params()[pair.param]); });
  return onlyAdds ? Refused() : Refusal{BatchingKind::UpdatesParameter};
}

Refusal RowFunctions::refusalOf(FunctionId f, OpId id) const {
  FunctionSet seen;
  const Function& fn = m_.functions[f];
  return findEffect(fn, id, isSpeculated(f), seen).value_or(Refusal{BatchingKind::Check, fn.ops[id].loc});
}

Refused RowFunctions::findEffect(const Function& f, OpId id, bool isSpeculated, FunctionSet& seen) const {
  Refused found;
  const Test own = isSpeculated ? &RowFunctions::hasOwnOther : &RowFunctions::hasOwnEffect;
  bool Facts::* const ofCallee = isSpeculated ? &Facts::hasOther : &Facts::hasEffect;
  auto look = [&](OpId each) {
    const Op& op = f.ops[each];
    if (found) return;
    if (op.kind == OpKind::Call && factOf(op.as<CallAttr>().callee, ofCallee))
      found = findEffect(op.as<CallAttr>().callee, isSpeculated, seen);
    if (found || !(this->*own)(f, each)) return;
    const EffectSet effects = effects_.ofItself(f, each);
    found = Refusal{effects.io || effects.debug ? BatchingKind::Output : BatchingKind::Check, op.loc};
  };
  look(id);
  for (RegionId r : f.ops[id].regions) forEachOp(f, r, look);
  return found;
}

Refused RowFunctions::findEffect(FunctionId id, bool isSpeculated, FunctionSet& seen) const {
  const Function& f = m_.functions[id];
  if (!f.body.valid() || !seen.insert(id).second) return std::nullopt;
  for (OpId op : f.regions[f.body].ops)
    if (Refused found = findEffect(f, op, isSpeculated, seen)) return found;
  return std::nullopt;
}

FunctionId RowFunctions::instance(FunctionId f, const std::vector<bool>& varies) {
  auto& of = instances_[f];
  if (const auto known = of.find(varies); known != of.end()) return known->second;
  if (of.size() == mostInstances) return {};
  return of[varies] = make(f, varies);
}

FunctionId RowFunctions::make(FunctionId source, const std::vector<bool>& varies) {
  const bool isSpeculated = factOf(source, &Facts::hasEffect);
  Function made;
  made.name = m_.functions[source].name;
  made.key = m_.functions[source].key + " over rows ";
  for (bool v : varies) made.key += v ? '1' : '0';
  if (isSpeculated)
    made.key += " #" + std::to_string(m_.functions.size()); // of this pass alone: it will give more
  if (const auto known = byKey_.find(made.key); known != byKey_.end()) return known->second;
  made.device = m_.functions[source].device;
  made.loc = m_.functions[source].loc;
  made.body = made.regions.add(Region{});
  const RegionId body = made.body;
  const LocId loc = made.loc;
  const FunctionId id = m_.functions.add(std::move(made));
  if (isSpeculated) speculate(id);
  Builder b(m_, id, body, loc);
  Cloner copy(m_, source, id);
  for (DimSym s : m_.functions[source].dimParams) b.fn().dimParams.push_back(copy.defineDim(s));
  const DimSym rows = b.newDim("m", types::DimSymKind::Parameter);
  b.fn().dimParams.push_back(rows);
  runRows(b, copy, m_.functions[source], varies, m_.types.dims.symbol(rows));
  return id;
}

/// The body of the instance: its parameters, a nest over the rows with the body of the source, its results.
void RowFunctions::runRows(Builder& b, Cloner& copy, const Function& from, const std::vector<bool>& varies,
                           DimId rows) const {
  auto isSum = [&](TypeId type) { return m_.types.kind(type) == TypeKind::Acc; };
  auto column = [&](TypeId type) {
    return nestResultType(m_.types, collecting(1), std::span(&rows, 1), copy.type(type));
  };
  std::vector<ValueId> params;
  for (size_t k = 0; k < from.params().size(); ++k) {
    const TypeId type = from.typeOf(from.params()[k]);
    params.push_back(b.param(varies[k] ? column(type) : copy.type(type), from.values[from.params()[k]].hint));
  }
  for (TypeId type : from.results) b.fn().results.push_back(isSum(type) ? copy.type(type) : column(type));
  b.fn().inouts = from.inouts;
  NestBuilder nest(b);
  const ValueId row = nest.axis(rows);
  Builder in = b.in(nest.body());
  for (size_t k = 0; k < params.size(); ++k) {
    const ValueId of = from.params()[k];
    if (isSum(from.typeOf(of)))
      copy.values[of] = nest.accumulator(params[k]);
    else
      copy.values[of] = varies[k] ? in.getAt(params[k], std::span(&row, 1)) : params[k];
  }
  const std::vector<ValueId> yields = copy.body(from.body, in).values;
  std::vector<size_t> order; // of the results of the nest: arrays, then accumulators as they began
  for (size_t k = 0; k < yields.size(); ++k)
    if (!isSum(from.results[k])) {
      order.push_back(k);
      nest.collect(yields[k]);
    }
  for (uint32_t k = 0; k < params.size(); ++k)
    if (isSum(from.typeOf(from.params()[k]))) {
      order.push_back(std::ranges::find(from.inouts, k, &InoutPair::param)->result);
      nest.end(yields[order.back()]);
    }
  const Results results = b.fn().ops[nest.finish()].results;
  std::vector<ValueId> out(results.size());
  for (size_t k = 0; k < order.size(); ++k) out[order[k]] = results[k];
  b.yield(Operands(out.begin(), out.end()));
}

} // namespace melix::transforms
