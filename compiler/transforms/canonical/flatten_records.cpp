#include "transforms/canonical/flatten_records.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/call_graph.h"
#include "core/ir/flow.h"
#include "core/ir/nest_results.h"
#include "core/ir/walk.h"
#include "core/ir/work.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/canonical/flat_values.h"
#include "transforms/canonical/returned_params.h"
#include "transforms/walks/dead_signatures.h"
#include "transforms/walks/for_each_function.h"

#include <optional>

namespace melix::transforms {

using namespace core;
using types::Leaf;

FlattenRule flattenRuleOf(OpKind kind) {
  switch (kind) {
#define RULE(Kind, Rule)                                                                                     \
  case OpKind::Kind: return FlattenRule::Rule;
#include "transforms/canonical/flatten_rules.def"
#undef RULE
  }
  return FlattenRule::Gone;
}

namespace {

/// Up to how many leaves each of some values is split.
using Limits = std::vector<size_t>;
/// By function: the limits of its results; none if its parameters and results stay.
using Signatures = std::vector<std::optional<Limits>>;

class RecordFlattener : FlatValues {
public:
  RecordFlattener(Module& m, FunctionId id, const Signatures& signatures)
      : FlatValues(m, id), signatures_(signatures) {}

  bool run() {
    bool any = false;
    for (uint32_t i = 0; i < f_.values.size() && !any; ++i) any = isFlat(typeOf(ValueId(i)), mostInResults);
    if (!any) return false;
    if (const std::optional<Limits>& own = signatures_[id_.index]) {
      renumberInouts(*own);
      region(f_.body, false, *own);
      std::vector<TypeId> results;
      for (size_t k = 0; k < own->size(); ++k)
        for (const Leaf& leaf : types::leavesOf(m_.types, f_.results[k], (*own)[k]))
          results.push_back(leaf.type);
      f_.results = std::move(results);
    } else
      region(f_.body, true, Limits(f_.results.size(), whole));
    return true;
  }

private:
  // --- regions

  /// `mostOf` says of each value that the region yields how far it is split; of all if it is empty.
  void region(RegionId r, bool keepsParams, const Limits& mostOf = {}) {
    std::vector<OpId> before = std::exchange(f_.regions[r].ops, {});
    work.ops += before.size();
    Builder b(m_, id_, r, f_.ops[before.back()].loc);
    params(b, keepsParams);
    for (OpId id : before) {
      b.loc = f_.ops[id].loc;
      if (id != before.back())
        op(b, id);
      else
        yield(b, id, mostOf);
    }
  }
  void params(Builder& b, bool keeps) {
    const std::vector<ValueId> before = f_.regions[b.region].params;
    if (keeps) {
      for (ValueId v : before) split(b, v);
      return;
    }
    f_.regions[b.region].params.clear();
    for (ValueId v : before) {
      if (isFlat(typeOf(v))) setLeaves(v, define(typeOf(v), f_.values[v].hint));
      for (ValueId leaf : std::vector<ValueId>(leaves(v).begin(), leaves(v).end())) b.defineParam(leaf);
    }
  }
  void yield(Builder& b, OpId id, const Limits& mostOf) {
    Operands values;
    const Operands before = f_.ops[id].operands;
    for (size_t k = 0; k < before.size(); ++k)
      expand(b, before[k], mostOf.empty() ? types::mostLeaves : mostOf[k], values);
    f_.ops[id].operands = std::move(values);
    keep(b, id);
  }
  void keep(Builder& b, OpId id) { f_.regions[b.region].ops.push_back(id); }

  // --- ops

  void op(Builder& b, OpId id) {
    const size_t before = f_.ops.size();
    const FlattenRule rule = flattenRuleOf(f_.ops[id].kind);
    switch (rule) {
    case FlattenRule::Leaf:
    case FlattenRule::Memory: memory(b, id); break;
    case FlattenRule::Parts: parts(b, id); break;
    case FlattenRule::Place: place(b, id); break;
    case FlattenRule::Each: each(b, id); break;
    case FlattenRule::Call: call(b, id); break;
    case FlattenRule::Region: structured(b, id); break;
    case FlattenRule::Gone: assert(false && "the states that are required end these"); break;
    }
    if (rule == FlattenRule::Each || rule == FlattenRule::Place) noteWritten(id_, id, id_, before);
  }

  void memory(Builder& b, OpId id) {
    Operands operands;
    for (ValueId v : Operands(f_.ops[id].operands)) operands.push_back(stored(b, v));
    f_.ops[id].operands = std::move(operands);
    keep(b, id);
    for (ValueId v : Results(f_.ops[id].results)) split(b, v);
  }
  void parts(Builder& b, OpId id) {
    const Op& op = f_.ops[id];
    const ValueId result = op.results[0];
    if (op.kind == OpKind::Capture && isFlat(typeOf(op.operands[0]))) {
      const types::Type& known = m_.types[typeOf(op.operands[0])];
      size_t first = 0;
      for (uint32_t k = 0; k < op.index(); ++k) first += count(known.parts[k]);
      const std::span<const ValueId> all = leaves(op.operands[0]);
      const std::span<const ValueId> own = all.subspan(first, count(typeOf(result)));
      setLeaves(result, own);
      return;
    }
    if (op.kind == OpKind::Capture || !isFlat(typeOf(result))) return memory(b, id);
    Operands all;
    for (ValueId v : op.operands) append(v, all);
    setLeaves(result, all);
  }
  void each(Builder& b, OpId id) {
    const Op op = f_.ops[id];
    const ValueId result = op.results[0];
    if (!isFlat(typeOf(result))) return memory(b, id);
    std::vector<ValueId> made;
    for (const Leaf& leaf : types::leavesOf(m_.types, typeOf(result))) {
      Op copy = op;
      for (ValueId& v : copy.operands) v = isFlat(typeOf(v)) ? leaves(v)[made.size()] : one(v);
      made.push_back(b.one(std::move(copy), leaf.type));
    }
    setLeaves(result, made);
  }

  /// Where a path goes in the leaves of a value: the first leaf of the place, how many fields lead there, and
  /// the type.
  struct Within {
    size_t first = 0, steps = 0;
    TypeId type;
  };
  Within within(TypeId type, const Path& path) const {
    Within at{0, 0, m_.types.kind(type) == TypeKind::Acc ? m_.types[type].parts[0] : type};
    while (isFlat(at.type) && at.steps < path.size()) {
      const uint32_t field = path[at.steps++].number;
      for (uint32_t k = 0; k < field; ++k) at.first += count(types::partOf(m_.types, at.type, k));
      at.type = types::partOf(m_.types, at.type, field);
    }
    return at;
  }
  void place(Builder& b, OpId id) {
    const Op& op = f_.ops[id];
    const ValueId root = op.operands[0], result = op.results[0];
    if (!isFlat(typeOf(root)) && (op.kind != OpKind::Get || !isFlat(typeOf(result)))) return memory(b, id);
    const Place all = placeOf(op);
    const Within at = within(typeOf(root), all.path);
    Place rest{Path(all.path.begin() + static_cast<std::ptrdiff_t>(at.steps), all.path.end()), {}};
    for (ValueId v : all.indices) rest.indices.push_back(one(v));
    if (op.kind != OpKind::Get) return update(b, id, at, rest);
    const std::span<const ValueId> of = leaves(root).subspan(at.first);
    std::vector<ValueId> found;
    if (rest.path.empty())
      found.assign(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(count(typeOf(result))));
    else
      load(b, of[0], typeOf(result), rest, found);
    if (!isFlat(typeOf(result)) && !rest.path.empty()) f_.values[found[0]].hint = f_.values[result].hint;
    setLeaves(result, found);
  }
  void update(Builder& b, OpId id, const Within& at, const Place& rest) {
    const bool adds = f_.ops[id].kind == OpKind::AddAt;
    const ValueId root = f_.ops[id].operands[0], value = f_.ops[id].operands[1];
    std::vector<ValueId> now(leaves(root).begin(), leaves(root).end());
    auto put = [&](ValueId& leaf, ValueId by) {
      const NameId hint = f_.values[leaf].hint;
      leaf = adds ? b.addAt(leaf, by, rest.path, rest.indices) : b.set(leaf, by, rest.path, rest.indices);
      if (!f_.values[leaf].hint.valid()) f_.values[leaf].hint = hint;
    };
    if (!rest.path.empty())
      put(now[at.first], stored(b, value));
    else
      for (size_t k = 0; k < count(typeOf(value)); ++k) put(now[at.first + k], leaves(value)[k]);
    setLeaves(f_.ops[id].results[0], now);
  }

  // --- control

  void results(Builder& b, OpId id, const Limits& mostOf = {}) {
    const Results before = f_.ops[id].results;
    std::vector<ValueId> after;
    keep(b, id);
    std::vector<std::pair<ValueId, std::vector<ValueId>>> opened;
    for (size_t k = 0; k < before.size(); ++k) {
      const ValueId v = before[k];
      const size_t most = mostOf.empty() ? types::mostLeaves : mostOf[k];
      std::vector<ValueId> own{v};
      if (isFlat(typeOf(v), most)) {
        own = define(typeOf(v), f_.values[v].hint, most);
        opened.emplace_back(v, own);
      }
      after.insert(after.end(), own.begin(), own.end());
    }
    takeOver(f_, id, after);
    for (auto& [v, own] : opened) {
      size_t next = 0;
      setLeaves(v, isFlat(typeOf(v)) ? own : std::vector{join(b, typeOf(v), own, next, mostInResults)});
    }
  }
  void call(Builder& b, OpId id) {
    const std::optional<Limits>& callee = signatures_[f_.ops[id].as<CallAttr>().callee.index];
    if (!callee) return memory(b, id);
    Operands operands;
    for (ValueId v : f_.ops[id].operands) append(v, operands);
    f_.ops[id].operands = std::move(operands);
    results(b, id, *callee);
  }
  void structured(Builder& b, OpId id) {
    if (f_.ops[id].kind == OpKind::Nest) return nest(b, id);
    Operands operands;
    for (ValueId v : f_.ops[id].operands) append(v, operands);
    const bool isMatch = f_.ops[id].kind == OpKind::Match;
    Limits yields;
    if (f_.ops[id].kind == OpKind::For) {
      const LoopView loop(f_, f_.ops[id]);
      yields.assign(loop.carries(), types::mostLeaves);
      yields.resize(loop.carries() + loop.stacks(), whole);
    }
    for (RegionId r : Regions(f_.ops[id].regions)) region(r, isMatch, yields);
    f_.ops[id].operands = std::move(operands);
    results(b, id);
  }

  /// Whether the values of a result go into an array.
  static bool isStored(const NestView& view, const NestPart& part) {
    return part.spec->kind == NestResultKind::Filter || !part.spec->keep.empty() ||
           (part.spec->kind == NestResultKind::Collect && view.axes() > 0);
  }
  void nest(Builder& b, OpId id) {
    const NestView view(f_, f_.ops[id]);
    Operands accs, units;
    for (ValueId v : view.accOperands()) append(v, accs);
    Limits yields;
    std::vector<NestResult> specs;
    std::vector<std::pair<RegionId, size_t>> combines;
    for (const NestPart& part : view.parts()) {
      const size_t most = isStored(view, part) ? whole : types::mostLeaves;
      yields.insert(yields.end(), part.yields.count, most);
      for (ValueId v : view.units(part)) expand(b, v, most, units);
      size_t leavesOfPart = 0;
      for (ValueId v : view.yields(part)) leavesOfPart += count(typeOf(v), most);
      NestResult spec = *part.spec;
      if (isCombine(spec)) {
        spec.yields = static_cast<uint32_t>(leavesOfPart);
        combines.emplace_back(view.combine(part), most);
      }
      specs.insert(specs.end(), isCombine(spec) || most == whole ? 1 : leavesOfPart, spec);
    }
    yields.insert(yields.end(), view.accs(), types::mostLeaves);
    const RegionId body = view.body();
    for (const auto& [r, most] : combines)
      region(r, most == whole, Limits(terminator(f_, r).operands.size(), most));
    region(body, false, yields);
    replaceResults(f_.ops[id], std::move(specs), accs.size());
    accs.insert(accs.end(), units.begin(), units.end());
    f_.ops[id].operands = std::move(accs);
    results(b, id);
  }

  void renumberInouts(const Limits& own) {
    auto first = [&](size_t k, auto&& countOf) {
      uint32_t sum = 0;
      for (size_t i = 0; i < k; ++i) sum += static_cast<uint32_t>(countOf(i));
      return sum;
    };
    std::vector<InoutPair> out;
    for (InoutPair pair : f_.inouts) {
      const uint32_t param = first(pair.param, [&](size_t k) { return count(typeOf(f_.params()[k])); });
      const uint32_t result = first(pair.result, [&](size_t k) { return count(f_.results[k], own[k]); });
      for (uint32_t k = 0; k < count(f_.results[pair.result], own[pair.result]); ++k)
        out.push_back({param + k, result + k});
    }
    f_.inouts = std::move(out);
  }

  const Signatures& signatures_;
};

} // namespace

bool flattenRecords(Module& m) {
  require(m, {State::DerivativesGone, State::FunctionsKnown});
  const std::vector<bool> fixed = fixedSignatures(m);
  Signatures signatures(m.functions.size());
  for (uint32_t i = 0; i < signatures.size(); ++i) {
    if (fixed[i]) continue;
    const Function& f = m.functions[FunctionId(i)];
    signatures[i].emplace(f.results.size(), mostInResults);
    for (InoutPair pair : f.inouts) (*signatures[i])[pair.result] = types::mostLeaves;
  }
  bool changed = changeBodies(m, [&](FunctionId f) { return RecordFlattener(m, f, signatures).run(); });
  changed |= dropReturnedParams(m);
  return removeDeadSignatures(m) || changed;
}

} // namespace melix::transforms
