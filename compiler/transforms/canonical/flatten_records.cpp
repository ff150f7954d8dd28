#include "transforms/canonical/flatten_records.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/call_graph.h"
#include "core/ir/flow.h"
#include "core/ir/nest_results.h"
#include "core/ir/same_path.h"
#include "core/ir/walk.h"
#include "core/ir/work.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/canonical/enum_slots.h"
#include "transforms/canonical/flat_elements.h"
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

class RecordFlattener : FlatElements {
public:
  RecordFlattener(Module& m, FunctionId id, const Signatures& signatures)
      : FlatElements(m, id), signatures_(signatures) {}

  bool run() {
    if (!hasRecords() && !entersRecords()) return false;
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
  bool hasRecords() const {
    for (uint32_t i = 0; i < f_.values.size(); ++i)
      if (isFlat(typeOf(ValueId(i)), mostInResults)) return true;
    return false;
  }
  /// Whether a path goes through an array of records that lies in memory.
  bool entersRecords() {
    bool any = false;
    forEachOp(f_, [&](OpId id) {
      const Op& op = f_.ops[id];
      const auto* path = std::get_if<Path>(&op.attr);
      any |= path && !samePath(fieldsFirst(m_.types, typeOf(op.operands[0]), *path), *path);
    });
    return any;
  }

  // --- regions

  /// `mostOf` says of each value that the region yields how far it is split; of all if it is empty.
  void region(RegionId r, bool keepsParams, const Limits& mostOf = {}) {
    const size_t checksBefore = checked_.mark();
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
    checked_.undo(checksBefore);
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
    checked_.note(f_.ops[id]);
    const FlattenRule rule = flattenRuleOf(f_.ops[id].kind);
    switch (rule) {
    case FlattenRule::Leaf:
    case FlattenRule::Memory: memory(b, id); break;
    case FlattenRule::Elements: elements(b, id); break;
    case FlattenRule::Parts: parts(b, id); break;
    case FlattenRule::Case: caseOf(b, id); break;
    case FlattenRule::Place: place(b, id); break;
    case FlattenRule::Each: each(b, id); break;
    case FlattenRule::Call: call(b, id); break;
    case FlattenRule::Region: structured(b, id); break;
    case FlattenRule::Gone: assert(false && "the states that are required end these"); break;
    }
    if (rule == FlattenRule::Each || rule == FlattenRule::Place || rule == FlattenRule::Elements)
      noteWritten(id_, id, id_, before);
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
      const Within at = within(typeOf(op.operands[0]), {{StepKind::Field, op.index(), {}, 1}});
      setLeaves(result, leaves(op.operands[0]).subspan(at.first, count(at.type)));
      return;
    }
    if (op.kind == OpKind::Capture || !isFlat(typeOf(result))) return memory(b, id);
    Operands all;
    for (ValueId v : op.operands) append(v, all);
    setLeaves(result, all);
  }
  void caseOf(Builder& b, OpId id) {
    const Op op = f_.ops[id];
    if (!isFlat(typeOf(op.results[0]))) return memory(b, id);
    Operands fields;
    for (ValueId v : op.operands) append(v, fields);
    setLeaves(op.results[0], slotsOfCase(b, typeOf(op.results[0]), op.index(), fields));
  }
  void each(Builder& b, OpId id) {
    const Op op = f_.ops[id];
    const ValueId result = op.results[0];
    if (!isFlat(typeOf(result))) return memory(b, id);
    if (op.kind == OpKind::ArrayOf)
      checkLeavesFit(b, {&m_.types[typeOf(result)].dims[0], 1}, typeOf(op.operands[0]));
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
    while (isFlat(at.type) && at.steps < path.size() && path[at.steps].kind == StepKind::Field) {
      const uint32_t field = path[at.steps++].number;
      for (uint32_t k = 0; k < field; ++k) at.first += count(types::partOf(m_.types, at.type, k));
      at.type = types::partOf(m_.types, at.type, field);
    }
    return at;
  }
  void place(Builder& b, OpId id) {
    const Op& op = f_.ops[id];
    const ValueId root = op.operands[0], result = op.results[0];
    const ValueId moved = op.kind == OpKind::Get ? result : op.operands[1];
    if (!isFlat(typeOf(root)) && !isFlat(typeOf(moved))) return inMemory(b, id);
    const Place all = placeOf(op);
    const Path path = fieldsFirst(m_.types, typeOf(root), all.path);
    const Within at = within(typeOf(root), path);
    Place rest{Path(path.begin() + static_cast<std::ptrdiff_t>(at.steps), path.end()), {}};
    for (ValueId v : all.indices) rest.indices.push_back(one(v));
    if (op.kind != OpKind::Get) return update(b, id, at, rest);
    const std::span<const ValueId> of = leaves(root).subspan(at.first);
    std::vector<ValueId> found;
    for (size_t k = 0; isFlat(at.type) && k < count(at.type); ++k)
      found.push_back(b.get(of[k], rest.path, rest.indices));
    if (!isFlat(at.type)) load(b, of[0], typeOf(result), rest, found);
    if (!isFlat(typeOf(result)) && !rest.path.empty()) f_.values[found[0]].hint = f_.values[result].hint;
    setLeaves(result, found);
  }
  /// A path that goes into memory alone, and what is there is no record.
  void inMemory(Builder& b, OpId id) {
    f_.ops[id].as<Path>() = fieldsFirst(m_.types, typeOf(f_.ops[id].operands[0]), f_.ops[id].as<Path>());
    memory(b, id);
  }
  void update(Builder& b, OpId id, const Within& at, const Place& rest) {
    const bool adds = f_.ops[id].kind == OpKind::AddAt;
    const ValueId root = f_.ops[id].operands[0], value = f_.ops[id].operands[1];
    std::vector<ValueId> now(leaves(root).begin(), leaves(root).end());
    auto put = [&](ValueId& leaf, ValueId by, const Place& place) {
      const NameId hint = f_.values[leaf].hint;
      leaf = adds ? b.addAt(leaf, by, place.path, place.indices) : b.set(leaf, by, place.path, place.indices);
      if (!f_.values[leaf].hint.valid()) f_.values[leaf].hint = hint;
    };
    const std::span<const ValueId> by = leaves(value);
    ValueId& memory = now[at.first];
    const std::vector<Leaf> parts = types::leavesOf(m_.types, typeOf(value));
    // Whether a record in memory lies there in one piece.
    auto isWhole = [&] {
      return !isFlat(typeOf(value)) ||
             leafPlace(typeOf(memory), rest, parts[0]).path.back().kind == StepKind::Field;
    };
    if (isFlat(at.type))
      for (size_t k = 0; k < by.size(); ++k) put(now[at.first + k], by[k], rest);
    else if (isWhole())
      put(memory, stored(b, value), rest);
    else
      for (size_t k = 0; k < by.size(); ++k) put(memory, by[k], leafPlace(typeOf(memory), rest, parts[k]));
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
    const bool isMatch = f_.ops[id].kind == OpKind::Match;
    if (f_.ops[id].kind == OpKind::Nest) return nest(b, id);
    if (isMatch && isFlat(typeOf(f_.ops[id].operands[0]))) return match(b, id);
    Operands operands;
    for (ValueId v : f_.ops[id].operands) append(v, operands);
    if (f_.ops[id].kind == OpKind::For) {
      uint32_t stacked = 0;
      for (ValueId v : LoopView(f_, f_.ops[id]).stackYields()) stacked += count(typeOf(v));
      f_.ops[id].as<LoopAttr>().collects = stacked;
    }
    for (RegionId r : Regions(f_.ops[id].regions)) region(r, isMatch);
    f_.ops[id].operands = std::move(operands);
    results(b, id);
  }

  /// The tag selects the region, and the fields of its case are slots.
  void match(Builder& b, OpId id) {
    const Op op = f_.ops[id];
    const TypeId type = typeOf(op.operands[0]);
    const std::vector<uint32_t>& regionOf = op.as<MatchAttr>().regionOf;
    for (uint32_t c = 0; c < regionOf.size(); ++c) {
      const RegionId r = op.regions[regionOf[c]];
      const std::vector<ValueId> params = std::exchange(f_.regions[r].params, {});
      if (params.empty()) continue;
      const std::vector<ValueId> fields = fieldsInSlots(m_, type, c, leaves(op.operands[0]));
      size_t next = 0;
      for (ValueId v : params) {
        const size_t own = count(typeOf(v));
        setLeaves(v, std::span(fields).subspan(next, own));
        next += own;
      }
    }
    for (RegionId r : op.regions) region(r, false);
    f_.ops[id].operands = {leaves(op.operands[0])[0]};
    results(b, id);
  }

  void nest(Builder& b, OpId id) {
    const NestView view(f_, f_.ops[id]);
    Operands accs, units;
    for (ValueId v : view.accOperands()) append(v, accs);
    std::vector<NestResult> specs;
    std::vector<Rows> rows;
    uint32_t result = 0, yielded = 0;
    for (const NestPart& part : view.parts()) {
      for (ValueId v : view.units(part)) append(v, units);
      NestResult spec = *part.spec;
      uint32_t values = 0;
      for (ValueId v : view.yields(part)) values += count(typeOf(v));
      const bool isFilter = spec.kind == NestResultKind::Filter;
      if (isFilter) --values, ++yielded; // the condition
      if (!isCombine(spec)) rowsOf(b, view, part, {{}, 0, result, yielded, {}}, rows);
      result += isPosition(spec) ? part.results.count : values;
      yielded += values;
      if (isFilter || isCombine(spec)) spec.yields = values;
      specs.insert(specs.end(), isFilter || isCombine(spec) ? 1 : values, spec);
    }
    for (RegionId r : Regions(f_.ops[id].regions)) region(r, false);
    replaceResults(f_.ops[id], std::move(specs), accs.size());
    accs.insert(accs.end(), units.begin(), units.end());
    f_.ops[id].operands = std::move(accs);
    results(b, id);
    for (const Rows& r : rows) castRows(b, id, r);
  }

  void elements(Builder& b, OpId id) {
    const Op op = f_.ops[id];
    if (op.kind == OpKind::ToArray && isFlat(typeOf(op.results[0]))) return toArray(b, op);
    if (op.kind == OpKind::ToList && isFlat(typeOf(op.operands[0]))) return toList(b, op);
    memory(b, id);
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
  m.recordsFlat = true;
  changed |= dropReturnedParams(m);
  return removeDeadSignatures(m) || changed;
}

} // namespace melix::transforms
