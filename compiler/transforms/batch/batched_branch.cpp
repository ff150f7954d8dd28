#include "transforms/batch/batched_branch.h"

#include "core/ir/walk.h"
#include "transforms/batch/accumulators.h"
#include "transforms/walks/distribute_nest.h"
#include "types/leaves.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

BatchedBranch::BatchedBranch(Module& m, FunctionId f, OpId nest, OpId branch, std::span<const OpId> seeds,
                             const Effects& effects, const Costs& costs)
    : m_(m), f_(f), nest_(nest), branch_(branch), body_(fn().ops[nest].regions[0]), effects_(effects),
      costs_(costs), rows_(m, f, nest, effects) {
  for (size_t r = 0; r < op().regions.size(); ++r) {
    bool holds = false;
    forEachOp(fn(), op().regions[r],
              [&](OpId id) { holds = holds || std::ranges::find(seeds, id) != seeds.end(); });
    if (holds) arms_.push_back(armOf(r));
  }
  for (ValueId v : op().results) sumOf_.push_back(rows_.accumulatorOf(v));
}

Refused BatchedBranch::refusal() {
  const AxisVariance body(m_, f_, nest_, effects_, OwnSizes::Copied);
  if (arms_.empty() || op().results.empty()) return Refusal{BatchingKind::GivesNothing};
  const ValueId test = tested();
  if (const Refused late = lateAmong(fn(), body, std::span(&test, 1))) return late;
  isSame_ = body.axesOf(test)->empty();
  if (isSame_) {
    if (!body.readsWithin(test)) return Refusal{BatchingKind::TestOfNoRows};
    arms_.clear();
    for (size_t r = 0; r < op().regions.size(); ++r) arms_.push_back(armOf(r));
  }
  findOpened();
  for (Arm& arm : arms_) findVarying(body, arm);
  if (!continuesSums()) return Refusal{BatchingKind::Nested};
  if (const Refused late = lateAmong(fn(), body, needs())) return late;
  return knowsAllSizes(body) ? Refused() : Refusal{BatchingKind::OwnSize};
}

BatchedBranch::Arm BatchedBranch::armOf(size_t number) const { return {number, {}, {}, {}, {}, {}}; }

/// Finds which ops of an arm make what differs between rows.
void BatchedBranch::findVarying(const AxisVariance& body, Arm& arm) const {
  const Region& region = fn().regions[op().regions[arm.number]];
  auto varies = [&](ValueId v) {
    if (std::ranges::find(region.params, v) != region.params.end()) return true;
    if (isMadeBy(arm, v)) return arm.varies.at(fn().values[v].def);
    const std::optional<AxisSet> axes = body.axesOf(v);
    return !axes || !axes->empty();
  };
  arm.given = fn().ops[region.ops.back()].operands;
  for (OpId id : region.ops) {
    bool any = false;
    auto look = [&](OpId each) { any = any || std::ranges::any_of(fn().ops[each].operands, varies); };
    look(id);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, look);
    arm.varies[id] = any;
  }
}

/// Whether all accumulators that the branch gives and its arms continue are those of the nest.
bool BatchedBranch::continuesSums() const {
  auto isKnown = [&](ValueId v) { return !isAccumulator(m_, fn(), v) || rows_.accumulatorOf(v); };
  return std::ranges::all_of(op().results, isKnown) && std::ranges::all_of(arms_, [&](const Arm& arm) {
           return std::ranges::all_of(sumsOf(arm), isKnown);
         });
}

/// Whether nothing that arms need and give has a size of the row.
bool BatchedBranch::knowsAllSizes(const AxisVariance& body) const {
  auto mayStore = [&](ValueId v) { return hasOuterSizes(m_, fn(), body_, v); };
  auto isOpen = [&](RegionId r) { return fn().regions[r].dimParams.empty(); };
  auto knowsSizesOf = [&](const Arm& arm) {
    return knowsSizes(m_, fn(), body_, branch_, body.slice(needsOf(arm)));
  };
  return op().resultDims.empty() && std::ranges::all_of(op().regions, isOpen) &&
         std::ranges::all_of(op().results, mayStore) && std::ranges::all_of(arms_, knowsSizesOf) &&
         std::ranges::all_of(stored(), mayStore);
}

void BatchedBranch::compact(Builder& b) {
  // What all rows test is copied first: afterwards it may be a read of the row's.
  Cloner outside(m_, f_, f_);
  const ValueId test = tested();
  if (isSame_) rows_.copy(b, outside, std::span(&test, 1));
  if (const std::vector<ValueId> live = stored(); !live.empty())
    distribute(b, nest_,
               {AxisSet::first(fn().ops[nest_].dims.size()),
                AxisVariance(m_, f_, nest_, effects_, OwnSizes::Copied).slice(live), live});
  if (isSame_) return leave(b, outside.value(test));
  for (Arm& arm : arms_) {
    findRows(b, arm);
    runArm(b, arm);
  }
  if (std::ranges::any_of(op().results, [&](ValueId v) { return !isAccumulator(m_, fn(), v); })) countRows(b);
  readArms();
}

/// Values of the body of the nest that the arms need, and the condition.
std::vector<ValueId> BatchedBranch::needs() const {
  std::vector<ValueId> out{tested()};
  for (const Arm& arm : arms_) std::ranges::copy(needsOf(arm), std::back_inserter(out));
  return out;
}

std::vector<ValueId> BatchedBranch::needsOf(const Arm& arm) const {
  std::vector<ValueId> out;
  const std::unordered_set<OpId> here(fn().regions[body_].ops.begin(), fn().regions[body_].ops.end());
  forEachOp(fn(), op().regions[arm.number], [&](OpId id) {
    for (ValueId v : fn().ops[id].operands)
      if (const OpId def = fn().values[v].def;
          def.valid() && here.contains(def) && !isAccumulator(m_, fn(), v))
        out.push_back(v);
  });
  return out;
}

/// The accumulators that an arm continues: values from outside of it.
std::vector<ValueId> BatchedBranch::sumsOf(const Arm& arm) const {
  std::unordered_set<OpId> own;
  std::unordered_set<RegionId> regions{op().regions[arm.number]};
  forEachOp(fn(), op().regions[arm.number], [&](OpId id) {
    own.insert(id);
    regions.insert(fn().ops[id].regions.begin(), fn().ops[id].regions.end());
  });
  std::vector<ValueId> out;
  forEachOp(fn(), op().regions[arm.number], [&](OpId id) {
    for (ValueId v : fn().ops[id].operands) {
      const Value& value = fn().values[v];
      const bool isOwn = value.def.valid() ? own.contains(value.def) : regions.contains(value.region);
      if (!isOwn && isAccumulator(m_, fn(), v) && std::ranges::find(out, v) == out.end()) out.push_back(v);
    }
  });
  return out;
}

std::vector<ValueId> BatchedBranch::stored() const { return storedFor(fn(), costs_, body_, needs()); }

/// Copies what makes the values for the row at this position.
Cloner BatchedBranch::rowAt(Builder& in, ValueId position, std::span<const ValueId> values) const {
  Cloner copy(m_, f_, f_);
  rows_.enter(in, copy, position);
  rows_.copy(in, copy, values);
  return copy;
}

/// The types of the parts of a payload that a branch may give: where records are flat, their leaves.
std::vector<types::Leaf> BatchedBranch::leavesOf(ValueId payload) const {
  const TypeId type = fn().typeOf(payload);
  return m_.recordsFlat ? types::leavesOf(m_.types, type) : std::vector<types::Leaf>{{type, {}}};
}

/// A match of an enum or number that gives whether it is the arm's case.
ValueId BatchedBranch::isCase(Builder& in, ValueId tested, const Arm& arm) const {
  const OpId made = matchOf(in, tested, {m_.types.boolean()},
                            [&](Builder& each, size_t r) { return Operands{each.boolean(r == arm.number)}; });
  return in.result(made);
}

/// Opens the payload of the arm's case, for its region.
void BatchedBranch::open(Builder& in, Cloner& copy, const Arm& arm) const {
  const std::vector<ValueId> payload = fn().regions[op().regions[arm.number]].params;
  std::vector<TypeId> types;
  for (ValueId v : payload)
    for (const types::Leaf& leaf : leavesOf(v)) types.push_back(leaf.type);
  const OpId made = matchOf(in, copy.value(tested()), types, [&](Builder& each, size_t r) {
    Operands out;
    if (r != arm.number)
      for (TypeId type : types) out.push_back(each.undef(type));
    const std::vector<ValueId> params = fn().regions[each.region].params;
    for (size_t k = 0; r == arm.number && k < payload.size(); ++k)
      for (const types::Leaf& leaf : leavesOf(payload[k])) {
        Path path;
        for (uint32_t part : leaf.path) path.push_back({StepKind::Field, part, {}, 1});
        out.push_back(path.empty() ? params[k] : each.get(params[k], path, {}));
      }
    return out;
  });
  const Results opened = fn().ops[made].results;
  std::span<const ValueId> leaves(opened.begin(), opened.size());
  auto make = [&](auto& self, TypeId type) -> ValueId {
    if (!m_.recordsFlat || !types::isFlattened(m_.types, type)) {
      const ValueId leaf = leaves.front();
      leaves = leaves.subspan(1);
      return leaf;
    }
    Operands parts;
    for (uint32_t k = 0; k < types::partsOf(m_.types, type); ++k)
      parts.push_back(self(self, types::partOf(m_.types, type, k)));
    return in.make(type, std::move(parts));
  };
  for (ValueId v : payload) copy.values[v] = make(make, fn().typeOf(v));
}

/// A match like the branch, whose regions give these values.
OpId BatchedBranch::matchOf(Builder& in, ValueId tested, const std::vector<TypeId>& types,
                            FunctionRef<Operands(Builder&, size_t)> give) const {
  Op match = Builder::simple(OpKind::Match, {tested}, op().as<MatchAttr>());
  for (size_t r = 0; r < op().regions.size(); ++r) {
    Builder each = in.in(in.newRegion());
    for (ValueId v : std::vector<ValueId>(fn().regions[op().regions[r]].params))
      each.param(fn().typeOf(v), fn().values[v].hint);
    each.yield(give(each, r));
    match.regions.push_back(each.region);
  }
  return in.append(std::move(match), types);
}

/// Whether a row takes the arm.
ValueId BatchedBranch::takes(Builder& in, ValueId tested, const Arm& arm) const {
  if (op().kind == OpKind::If) return arm.number == 0 ? tested : in.unary(OpKind::Not, tested);
  return isCase(in, tested, arm);
}

void BatchedBranch::findRows(Builder& b, Arm& arm) const {
  NestBuilder rows(b);
  const ValueId position = rows.axis(rows_.count());
  Builder in = b.in(rows.body());
  const ValueId test = tested();
  const Cloner copy = rowAt(in, position, std::span(&test, 1));
  rows.add(filtering(), std::array{takes(in, copy.value(test), arm), position}, {{}, {}, b.newDim("m")});
  arm.rows = rows.one();
}

/// Finds which results rows do nothing with but open them.
void BatchedBranch::findOpened() {
  std::unordered_set<ValueId> whole;
  forEachOp(fn(), body_, [&](OpId id) {
    const Op& use = fn().ops[id];
    const bool opens = use.kind == OpKind::Match || use.kind == OpKind::Get;
    for (size_t k = opens ? 1 : 0; k < use.operands.size(); ++k) whole.insert(use.operands[k]);
  });
  for (ValueId v : op().results) isOpened_.push_back(!whole.contains(v));
}

/// How rows of an arm keep a value of which it makes a result. A value that is the same for all rows stays
/// within what is built of it: it would be stored for each.
PartKind BatchedBranch::kindOf(const Arm& arm, ValueId v) const {
  const OpId def = fn().values[v].def;
  if (!isMadeBy(arm, v)) return PartKind::Outside;
  auto isForRow = [&](ValueId part) { return !isMadeBy(arm, part) || arm.varies.at(fn().values[part].def); };
  const Op& made = fn().ops[def];
  return builds(made.kind) && std::ranges::all_of(made.operands, isForRow) ? PartKind::Built
                                                                           : PartKind::Stored;
}

bool BatchedBranch::isMadeBy(const Arm& arm, ValueId v) const {
  const OpId def = fn().values[v].def;
  return def.valid() && arm.varies.contains(def);
}

/// The values that rows of an arm store for a result of the branch.
std::vector<ValueId> BatchedBranch::partsOf(const Arm& arm, size_t result) const {
  if (!isOpened_[result]) return {arm.given[result]};
  return storedParts(fn(), arm.given[result], [&](ValueId v) { return kindOf(arm, v); });
}

void BatchedBranch::runArm(Builder& b, Arm& arm) const {
  NestBuilder rows(b);
  const ValueId at = rows.axis(m_.types[b.typeOf(arm.rows)].dims[0]);
  Operands& sums = fn().ops[nest_].operands;
  const std::vector<ValueId> continued = sumsOf(arm);
  std::vector<uint32_t> numbers;
  std::vector<ValueId> params;
  for (ValueId v : continued) {
    numbers.push_back(*rows_.accumulatorOf(v));
    params.push_back(rows.accumulator(sums[numbers.back()]));
  }
  Builder in = b.in(rows.body());
  const ValueId position = in.getAt(arm.rows, std::span(&at, 1));
  std::vector<ValueId> needed = needsOf(arm);
  const std::vector<ValueId>& payload = fn().regions[op().regions[arm.number]].params;
  if (!payload.empty()) needed.push_back(tested());
  Cloner copy = rowAt(in, position, needed);
  if (!payload.empty()) open(in, copy, arm);
  for (size_t k = 0; k < params.size(); ++k) copy.values[continued[k]] = params[k];
  std::vector<ValueId> ends = params;
  const std::vector<ValueId> yields = copy.body(op().regions[arm.number], in).values;
  for (size_t k = 0; k < yields.size(); ++k) {
    if (sumOf_[k])
      ends[static_cast<size_t>(std::ranges::find(numbers, *sumOf_[k]) - numbers.begin())] = yields[k];
    else
      for (ValueId v : partsOf(arm, k)) rows.collect(copy.value(v));
  }
  for (ValueId v : ends) rows.end(v);
  const Results results = fn().ops[rows.finish()].results;
  arm.results.assign(results.begin(), results.end() - static_cast<ptrdiff_t>(numbers.size()));
  for (size_t k = 0; k < numbers.size(); ++k) sums[numbers[k]] = results[arm.results.size() + k];
}

/// A running count for each arm.
void BatchedBranch::countRows(Builder& b) {
  Op loop = Builder::simple(OpKind::For, {b.dimValue(rows_.count())}, LoopAttr{});
  for (size_t k = 0; k < arms_.size(); ++k) loop.operands.push_back(b.integer(0));
  Builder in = b.in(b.newRegion());
  const ValueId position = in.param(m_.types.int64()), test = tested();
  std::vector<ValueId> counts;
  for (size_t k = 0; k < arms_.size(); ++k) counts.push_back(in.param(m_.types.int64()));
  const Cloner copy = rowAt(in, position, std::span(&test, 1));
  Operands yields;
  for (size_t k = 0; k < arms_.size(); ++k)
    yields.push_back(in.select(takes(in, copy.value(test), arms_[k]),
                               in.binary(OpKind::Add, counts[k], in.integer(1)), counts[k]));
  yields.insert(yields.end(), counts.begin(), counts.end());
  in.yield(yields);
  loop.regions = {in.region};
  loop.as<LoopAttr>().collects = static_cast<uint32_t>(arms_.size());
  loop.resultDims = {b.newDim("n")};
  std::vector<TypeId> types(arms_.size(), m_.types.int64());
  const TypeId stack = m_.types.array(m_.types.int64(), {m_.types.dims.symbol(loop.resultDims[0])}),
               byRow = m_.types.array(m_.types.int64(), {rows_.count()});
  types.resize(2 * arms_.size(), stack);
  const OpId made = b.append(std::move(loop), types);
  for (size_t k = 0; k < arms_.size(); ++k)
    arms_[k].before = b.castDims(b.result(made, arms_.size() + k), byRow);
}

/// The arms of the branch read what stands before the nest.
void BatchedBranch::readArms() {
  for (const Arm& arm : arms_) {
    const RegionId region = op().regions[arm.number];
    std::vector<ValueId> passed(sumOf_.size()); // by results: the accumulator as it is before
    for (ValueId v : sumsOf(arm))
      for (size_t k = 0; k < passed.size(); ++k)
        if (sumOf_[k] && rows_.accumulatorOf(v) == sumOf_[k]) passed[k] = v;
    fn().regions[region].ops.clear();
    Builder in(m_, f_, region, op().loc);
    ValueId at;
    if (!arm.results.empty()) {
      const ValueId position = rows_.positionOf(in);
      at = in.getAt(arm.before, std::span(&position, 1));
    }
    Operands yields;
    size_t next = 0;
    auto read = [&] { return in.getAt(arm.results[next++], std::span(&at, 1)); };
    auto kind = [&](ValueId v) { return kindOf(arm, v); };
    for (size_t k = 0; k < arm.given.size(); ++k)
      if (sumOf_[k])
        yields.push_back(passed[k]);
      else
        yields.push_back(isOpened_[k] ? rebuild(in, arm.given[k], kind, read) : read());
    in.yield(yields);
  }
}

/// All rows take the same arm: the branch stands before the nest, with a nest over all rows in each arm.
void BatchedBranch::leave(Builder& b, ValueId tested) {
  std::vector<uint32_t> numbers; // of the accumulators that arms continue
  for (const Arm& arm : arms_)
    for (ValueId v : sumsOf(arm))
      if (const uint32_t k = *rows_.accumulatorOf(v); std::ranges::find(numbers, k) == numbers.end())
        numbers.push_back(k);
  Op made = Builder::simple(op().kind, {}, op().attr);
  made.operands = {tested};
  made.loc = op().loc;
  std::vector<TypeId> types;
  for (const Arm& arm : arms_) {
    Builder each = b.in(b.newRegion());
    const Operands given = runForAll(each, arm, numbers);
    types.clear();
    for (ValueId v : given) types.push_back(b.typeOf(v));
    each.yield(given);
    made.regions.push_back(each.region);
  }
  const Results results = fn().ops[b.append(std::move(made), types)].results;
  for (size_t k = 0; k < numbers.size(); ++k)
    fn().ops[nest_].operands[numbers[k]] = results[results.size() - numbers.size() + k];
  readAll(results);
}

/// A nest over all rows of what an arm gives them, then these accumulators.
Operands BatchedBranch::runForAll(Builder& b, const Arm& arm, std::span<const uint32_t> numbers) const {
  RowNest rows = rows_.open(b);
  std::vector<ValueId> ends;
  for (uint32_t k : numbers) ends.push_back(rows.nest.accumulator(fn().ops[nest_].operands[k]));
  Builder in = b.in(rows.nest.body());
  const RegionId region = op().regions[arm.number];
  for (ValueId v : std::vector<ValueId>(fn().regions[region].params))
    rows.copy.values[v] = b.param(fn().typeOf(v), fn().values[v].hint);
  rows_.copy(in, rows.copy, needsOf(arm));
  auto numberOf = [&](uint32_t sum) {
    return static_cast<size_t>(std::ranges::find(numbers, sum) - numbers.begin());
  };
  for (ValueId v : sumsOf(arm)) rows.copy.values[v] = ends[numberOf(*rows_.accumulatorOf(v))];
  const std::vector<ValueId> yields = rows.copy.body(region, in).values;
  for (size_t k = 0; k < yields.size(); ++k) {
    if (sumOf_[k])
      ends[numberOf(*sumOf_[k])] = yields[k];
    else
      rows.nest.collect(yields[k]);
  }
  for (ValueId v : ends) rows.nest.end(v);
  const Results results = fn().ops[rows.nest.finish()].results;
  return {results.begin(), results.end()};
}

/// Reads of these arrays stand for the branch.
void BatchedBranch::readAll(std::span<const ValueId> arrays) {
  const std::vector<OpId> ops = std::exchange(fn().regions[body_].ops, {});
  std::unordered_map<ValueId, ValueId> passed;
  const std::span<const ValueId> params(fn().regions[body_].params);
  const std::vector<ValueId> axes(params.begin(),
                                  params.begin() + static_cast<ptrdiff_t>(fn().ops[nest_].dims.size()));
  const Results of = op().results;
  for (OpId id : ops) {
    if (id != branch_) {
      fn().regions[body_].ops.push_back(id);
      continue;
    }
    Builder in(m_, f_, body_, op().loc);
    for (size_t k = 0, next = 0; k < of.size(); ++k) {
      if (sumOf_[k]) {
        for (const Arm& arm : arms_)
          for (ValueId v : sumsOf(arm))
            if (rows_.accumulatorOf(v) == sumOf_[k]) passed[of[k]] = v;
        continue;
      }
      const ValueId read = in.getAt(arrays[next++], axes);
      takeOver(fn(), fn().values[read].def, std::span(&of[k], 1));
    }
  }
  forEachOp(fn(), body_, [&](OpId id) {
    for (ValueId& v : fn().ops[id].operands)
      if (const auto by = passed.find(v); by != passed.end()) v = by->second;
  });
}

} // namespace melix::transforms
