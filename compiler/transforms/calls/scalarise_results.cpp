#include "transforms/calls/scalarise_results.h"

#include "core/ir/build.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// What stands for a result: a new one, an argument of the call, or a record of such.
struct Opened {
  enum Kind : uint8_t { Result, Argument, Record } kind;
  uint32_t number = 0; ///< of the result or argument
  std::vector<Opened> parts = {};
};

/// Of a function: what stands for each of its results. Empty if they stay as they are.
using OpenedResults = std::vector<Opened>;

class ResultOpener {
public:
  explicit ResultOpener(Module& m) : m_(m), plans_(m.functions.size()), fixed_(m.functions.size(), false) {
    for (uint32_t i = 0; i < fixed_.size(); ++i) {
      const Function& f = m.functions[FunctionId(i)];
      if (f.keep || !f.body.valid() || f.customJvp.valid()) fixed_[i] = true;
      if (f.customJvp.valid()) fixed_[f.customJvp.index] = true;
    }
    if (m.entry.valid()) fixed_[m.entry.index] = true;
    for (const auto& [kind, body] : m.mathBodies) fixed_[body.index] = true;
  }

  bool run() {
    bool changed = false;
    for (uint32_t i = 0; i < plans_.size(); ++i) changed |= !fixed_[i] && open(FunctionId(i));
    if (!changed) return false;
    for (uint32_t i = 0; i < plans_.size(); ++i)
      if (m_.functions[FunctionId(i)].body.valid()) callsIn(FunctionId(i));
    return true;
  }

private:
  // --- a function

  /// The yield of a function that is being made anew.
  struct Yield {
    Builder at; ///< before it
    Operands values;
    std::vector<TypeId> types;
  };

  bool open(FunctionId id) {
    Function& f = m_.functions[id];
    std::vector<OpId>& ops = f.regions[f.body].ops;
    const OpId end = ops.back();
    if (!isProfitable(f, f.ops[end])) return false;
    ops.pop_back();
    Yield yield{Builder(m_, id, f.body, f.ops[end].loc), {}, {}};
    OpenedResults plan;
    for (uint32_t k = 0; k < f.results.size(); ++k) {
      const ValueId v = f.ops[end].operands[k];
      plan.push_back(isUpdated(f, k) ? keep(yield, v, f.results[k]) : open(yield, v, f.results[k]));
    }
    for (InoutPair& pair : f.inouts) pair.result = plan[pair.result].number;
    f.ops[end].operands = std::move(yield.values);
    f.results = std::move(yield.types);
    f.regions[f.body].ops.push_back(end);
    plans_[id.index] = std::move(plan);
    return true;
  }
  bool isProfitable(const Function& f, const Op& end) const {
    for (uint32_t k = 0; k < f.results.size(); ++k)
      if (!isUpdated(f, k) && (isRecord(f.results[k]) || argument(f, end.operands[k], f.results[k])))
        return true;
    return false;
  }
  static bool isUpdated(const Function& f, uint32_t result) {
    return std::ranges::any_of(f.inouts, [&](InoutPair pair) { return pair.result == result; });
  }
  bool isRecord(TypeId t) const {
    const TypeKind kind = m_.types.kind(t);
    if (m_.types.isUnit(t)) return false;
    return (kind == TypeKind::Tuple || kind == TypeKind::Struct) && m_.types.partCount(t) <= mostOpened;
  }
  /// The parameter that the result is.
  std::optional<uint32_t> argument(const Function& f, ValueId v, TypeId result) const {
    const auto found = std::ranges::find(f.params(), v);
    if (found == f.params().end() || f.typeOf(v) != result) return std::nullopt;
    const auto number = static_cast<uint32_t>(found - f.params().begin());
    if (std::ranges::any_of(f.inouts, [&](InoutPair pair) { return pair.param == number; }))
      return std::nullopt;
    return number;
  }

  Opened keep(Yield& yield, ValueId v, TypeId type) const {
    yield.values.push_back(v);
    yield.types.push_back(type);
    return {Opened::Result, static_cast<uint32_t>(yield.types.size() - 1)};
  }
  Opened open(Yield& yield, ValueId v, TypeId type) {
    if (const auto number = argument(yield.at.fn(), v, type)) return {Opened::Argument, *number};
    if (!isRecord(type)) return keep(yield, v, type);
    Opened out{Opened::Record};
    for (uint32_t k = 0; std::optional<TypeId> part = partType(type, k); ++k)
      out.parts.push_back(open(yield, partOf(yield.at, v, k), *part));
    return out;
  }
  std::optional<TypeId> partType(TypeId record, uint32_t k) const {
    return pathType(m_.types, record, {PathStep{StepKind::Field, k, {}, 1}});
  }
  ValueId partOf(Builder& b, ValueId record, uint32_t k) const {
    const OpId made = b.fn().values[record].def;
    if (made.valid() && b.fn().ops[made].kind == OpKind::Make) return b.fn().ops[made].operands[k];
    return b.field(record, k);
  }

  // --- calls

  void callsIn(FunctionId id) {
    bool any = false;
    forEachOp(m_.functions[id], [&](OpId op) { any = any || planOf(m_.functions[id].ops[op]); });
    if (!any) return;
    LiveUses uses(m_, id);
    region(id, m_.functions[id].body, uses);
  }
  const OpenedResults* planOf(const Op& op) const {
    if (op.kind != OpKind::Call) return nullptr;
    const OpenedResults& plan = plans_[op.as<CallAttr>().callee.index];
    return plan.empty() ? nullptr : &plan;
  }
  void region(FunctionId id, RegionId r, LiveUses& uses) {
    rewriteRegion(m_, id, r, [&](OpId op) {
      Function& f = m_.functions[id];
      if (const OpenedResults* plan = planOf(f.ops[op])) call({m_, id, r, f.ops[op].loc}, op, *plan, uses);
      for (RegionId inner : f.ops[op].regions) region(id, inner, uses);
      return true;
    });
  }
  /// What is appended puts the records together after the call.
  void call(Builder b, OpId id, const OpenedResults& plan, LiveUses& uses) {
    Function& f = b.fn();
    const Results before = f.ops[id].results;
    std::vector<ValueId> results;
    for (size_t k = 0; k < plan.size(); ++k) define(f, plan[k], f.typeOf(before[k]), results);
    takeOver(f, id, results);
    for (size_t k = 0; k < plan.size(); ++k) {
      const ValueId v = put(b, f.ops[id], plan[k], f.typeOf(before[k]));
      uses.replace(before[k], v);
    }
    for (OpId made : f.regions[b.region].ops) uses.enter(made, b.region);
  }
  void define(Function& f, const Opened& opened, TypeId type, std::vector<ValueId>& results) const {
    if (opened.kind == Opened::Result) results.push_back(f.values.add(Value{type, {}, {}, 0, {}}));
    for (uint32_t k = 0; k < opened.parts.size(); ++k)
      define(f, opened.parts[k], *partType(type, k), results);
  }
  ValueId put(Builder& b, const Op& call, const Opened& opened, TypeId type) const {
    if (opened.kind == Opened::Result) return call.results[opened.number];
    if (opened.kind == Opened::Argument) return call.operands[opened.number];
    Operands parts;
    for (uint32_t k = 0; k < opened.parts.size(); ++k)
      parts.push_back(put(b, call, opened.parts[k], *partType(type, k)));
    return b.make(type, std::move(parts));
  }

  Module& m_;
  std::vector<OpenedResults> plans_; ///< by function
  std::vector<bool> fixed_;          ///< functions whose results stay as they are
};

} // namespace

bool scalariseResults(Module& m) {
  require(m, {State::DerivativesGone});
  const bool changed = ResultOpener(m).run();
  if (changed) raiseAll(m);
  return changed;
}

} // namespace melix::transforms
