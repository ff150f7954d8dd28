#include "transforms/batch/batched_call.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/filler.h"
#include "core/ir/walk.h"
#include "transforms/batch/accumulators.h"
#include "transforms/batch/row_functions.h"
#include "transforms/walks/distribute_nest.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

BatchedCall::BatchedCall(Module& m, FunctionId f, OpId nest, OpId call, const Effects& effects,
                         const Costs& costs, RowFunctions& functions)
    : m_(m), f_(f), nest_(nest), call_(call), body_(fn().ops[nest].regions[0]), effects_(effects),
      costs_(costs), functions_(functions), rows_(m, f, nest, effects) {}

Refused BatchedCall::refusal() {
  const FunctionId callee = op().as<CallAttr>().callee;
  if (const Refused stays = functions_.refusalOf(callee, functions_.isSpeculated(f_))) return stays;
  const AxisVariance body(m_, f_, nest_, effects_, OwnSizes::Copied);
  auto hasOuter = [&](ValueId v) { return hasOuterSizes(m_, fn(), body_, v); };
  std::vector<ValueId> own(op().operands.begin(), op().operands.end());
  std::erase_if(own, [&](ValueId v) { return isShared(v); });
  if (const Refused late = lateAmong(fn(), body, own)) return late;
  if (!knowsSizes(m_, fn(), body_, call_, {}) || !std::ranges::all_of(own, hasOuter) ||
      !std::ranges::all_of(op().results, hasOuter))
    return Refusal{BatchingKind::OwnSize};
  varies_ = variesOf(call_, body);
  findCalls(body);
  const std::vector<ValueId> args = arguments();
  if (std::ranges::find(varies_, true) == varies_.end()) return Refusal{BatchingKind::SameArguments};
  if (!std::ranges::all_of(storedFor(fn(), costs_, body_, args), hasOuter))
    return Refusal{BatchingKind::OwnSize};
  callee_ = functions_.instance(callee, varies_);
  return callee_.valid() ? Refused() : Refusal{BatchingKind::ManyInstances};
}

/// An accumulator of the nest: all rows add to it.
bool BatchedCall::isShared(ValueId v) const { return rows_.accumulatorOf(v).has_value(); }

/// The arguments of the calls that vary.
std::vector<ValueId> BatchedCall::arguments() const {
  std::vector<ValueId> out;
  for (OpId id : calls_)
    for (size_t k = 0; k < varies_.size(); ++k)
      if (varies_[k]) out.push_back(fn().ops[id].operands[k]);
  return out;
}

std::vector<bool> BatchedCall::variesOf(OpId call, const AxisVariance& body) const {
  std::vector<bool> out;
  for (ValueId v : fn().ops[call].operands) {
    const std::optional<AxisSet> axes = body.axesOf(v);
    out.push_back(!isShared(v) && (!axes || !axes->empty() || !body.readsWithin(v)));
  }
  return out;
}

/// The other calls of the same function with the same arguments that do not vary, which need none of the
/// calls found so far.
void BatchedCall::findCalls(const AxisVariance& body) {
  calls_ = {call_};
  std::unordered_set<OpId> later{call_};
  const std::vector<OpId>& ops = fn().regions[body_].ops;
  for (auto at = std::ranges::find(ops, call_); at != ops.end(); ++at) {
    const OpId id = *at;
    bool needs = false;
    auto look = [&](OpId each) {
      for (ValueId v : fn().ops[each].operands) {
        const OpId def = fn().values[v].def;
        needs = needs || (def.valid() && later.contains(def) && !isAccumulator(m_, fn(), v));
      }
    };
    look(id);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, look);
    const bool isOther = id != call_ && (needs || !isSame(id, body));
    if (isOther && functions_.hasEffect(fn(), id)) return; // a check of what comes after it
    if (needs)
      later.insert(id);
    else if (id != call_ && !isOther) {
      calls_.push_back(id);
      later.insert(id);
    }
  }
}

bool BatchedCall::isSame(OpId other, const AxisVariance& body) const {
  const Op &a = op(), &b = fn().ops[other];
  if (b.kind != OpKind::Call || b.as<CallAttr>().callee != a.as<CallAttr>().callee || a.dims != b.dims ||
      variesOf(other, body) != varies_)
    return false;
  for (size_t k = 0; k < varies_.size(); ++k) {
    if (isShared(a.operands[k])) {
      if (rows_.accumulatorOf(a.operands[k]) != rows_.accumulatorOf(b.operands[k])) return false;
      continue;
    }
    if (!body.axesOf(b.operands[k]) || !hasOuterSizes(m_, fn(), body_, b.operands[k]) ||
        (!varies_[k] && a.operands[k] != b.operands[k]))
      return false;
  }
  return true;
}

void BatchedCall::leave(Builder& b) {
  // What is the same for all rows is copied first: afterwards it may be a read of the row's.
  Cloner outside(m_, f_, f_);
  for (size_t k = 0; k < varies_.size(); ++k)
    if (const ValueId v = op().operands[k]; !varies_[k] && !isShared(v))
      rows_.copy(b, outside, std::span(&v, 1));
  if (const std::vector<ValueId> live = storedFor(fn(), costs_, body_, arguments()); !live.empty())
    distribute(b, nest_,
               {AxisSet::first(fn().ops[nest_].dims.size()),
                AxisVariance(m_, f_, nest_, effects_, OwnSizes::Copied).slice(live), live});
  const Op call = op();
  const DimId rows =
      m_.types.dims.mul(rows_.count(), m_.types.dims.constant(static_cast<int64_t>(calls_.size())));
  const std::vector<ValueId> columns = collectArguments(b, rows);
  // Accumulators are continued in the body of a nest, here one of a single point.
  NestBuilder point(b);
  Op made = Builder::simple(OpKind::Call, {}, CallAttr{callee_});
  std::vector<uint32_t> numbers;
  size_t column = 0;
  for (size_t k = 0; k < varies_.size(); ++k) {
    const ValueId v = call.operands[k];
    if (const std::optional<uint32_t> sum = rows_.accumulatorOf(v)) {
      numbers.push_back(*sum);
      made.operands.push_back(point.accumulator(fn().ops[nest_].operands[*sum]));
    } else {
      made.operands.push_back(varies_[k] ? columns[column++] : outside.value(v));
    }
  }
  made.dims = call.dims;
  made.dims.push_back(rows);
  made.loc = call.loc;
  Builder in = numbers.empty() ? b : b.in(point.body());
  const bool isRecursive = functions_.isRecursive(call.as<CallAttr>().callee);
  const std::vector<ValueId> given = isRecursive ? inParts(in, made, rows) : guarded(in, made, rows);
  readBy(numbers.empty() ? given : endPoint(point, numbers, given));
}

/// Ends the nest around the call: its accumulators go on in the original. Gives the other results.
std::vector<ValueId> BatchedCall::endPoint(NestBuilder& point, std::span<const uint32_t> numbers,
                                           std::span<const ValueId> given) {
  std::vector<ValueId> ends(numbers.size()), out;
  for (size_t k = 0; k < given.size(); ++k) {
    const std::optional<uint32_t> sum = rows_.accumulatorOf(op().results[k]);
    if (sum)
      ends[static_cast<size_t>(std::ranges::find(numbers, *sum) - numbers.begin())] = given[k];
    else
      point.collect(given[k]);
  }
  for (ValueId v : ends) point.end(v);
  const Results results = fn().ops[point.finish()].results;
  size_t next = 0, sum = results.size() - numbers.size();
  for (size_t k = 0; k < given.size(); ++k)
    out.push_back(isShared(op().results[k]) ? ValueId() : results[next++]);
  for (uint32_t number : numbers) fn().ops[nest_].operands[number] = results[sum++];
  return out;
}

/// The arguments that vary, of all rows: of the first call, then of the next.
std::vector<ValueId> BatchedCall::collectArguments(Builder& b, DimId rows) const {
  NestBuilder nest(b);
  const ValueId at = nest.axis(rows);
  Builder in = b.in(nest.body());
  const size_t count = static_cast<size_t>(std::ranges::count(varies_, true));
  auto copied = [&](OpId call, ValueId position, Builder& to) {
    Cloner copy(m_, f_, f_);
    rows_.enter(to, copy, position);
    std::vector<ValueId> out;
    for (size_t k = 0; k < varies_.size(); ++k)
      if (varies_[k]) out.push_back(fn().ops[call].operands[k]);
    rows_.copy(to, copy, out);
    for (ValueId& v : out) v = copy.value(v);
    return out;
  };
  std::vector<ValueId> values;
  if (calls_.size() == 1) {
    values = copied(calls_[0], at, in);
  } else {
    const ValueId each = in.dimValue(rows_.count()), position = in.binary(OpKind::IRem, at, each);
    Op choice = Builder::simple(OpKind::Match, {in.binary(OpKind::IDiv, at, each)}, MatchAttr{});
    std::vector<TypeId> types;
    for (size_t k = 0; k < calls_.size(); ++k) {
      Builder arm = in.in(in.newRegion());
      const std::vector<ValueId> out = copied(calls_[k], position, arm);
      types.clear();
      for (ValueId v : out) types.push_back(in.typeOf(v));
      arm.yield(Operands(out.begin(), out.end()));
      choice.regions.push_back(arm.region);
      choice.as<MatchAttr>().regionOf.push_back(static_cast<uint32_t>(k));
    }
    const OpId made = in.append(std::move(choice), types);
    for (size_t k = 0; k < count; ++k) values.push_back(in.result(made, k));
  }
  for (ValueId v : values) nest.collect(v);
  const Results results = fn().ops[nest.finish()].results;
  return {results.begin(), results.end()};
}

/// The results of the call for so many rows.
std::vector<TypeId> BatchedCall::resultTypes(DimId rows) const {
  std::vector<TypeId> types;
  for (ValueId v : op().results)
    types.push_back(isShared(v)
                        ? fn().typeOf(v)
                        : nestResultType(m_.types, collecting(1), std::span(&rows, 1), fn().typeOf(v)));
  return types;
}

/// The results of a call of no rows: accumulators as they are, all else is any value.
Operands BatchedCall::nothing(Builder& b, const Op& made, DimId rows) const {
  Operands out;
  const std::vector<TypeId> types = resultTypes(rows);
  for (size_t k = 0; k < types.size(); ++k) {
    const auto pair = std::ranges::find(m_.functions[callee_].inouts, k, &InoutPair::result);
    out.push_back(isShared(op().results[k]) ? made.operands[pair->param] : filler(b, types[k]));
  }
  return out;
}

/// The call, if there are rows: recursion over no rows would not end.
std::vector<ValueId> BatchedCall::guarded(Builder& b, const Op& made, DimId rows) const {
  Op branch = Builder::simple(OpKind::If, {b.compare(ops::CmpKind::Gt, b.dimValue(rows), b.integer(0))});
  branch.loc = made.loc;
  Builder some = b.in(b.newRegion()), none = b.in(b.newRegion());
  some.yield(append(some, made, rows));
  none.yield(nothing(none, made, rows));
  branch.regions = {some.region, none.region};
  const Results results = fn().ops[b.append(std::move(branch), resultTypes(rows))].results;
  return {results.begin(), results.end()};
}

Operands BatchedCall::append(Builder& b, const Op& made, DimId rows) const {
  const OpId id = b.append(Op(made), resultTypes(rows));
  for (OpId each : calls_) noteCopy(f_, each, f_, id);
  const Results results = fn().ops[id].results;
  return {results.begin(), results.end()};
}

/// The call, or calls of a part of the rows each: what a depth of recursion holds is bounded.
std::vector<ValueId> BatchedCall::inParts(Builder& b, const Op& made, DimId rows) const {
  const ValueId all = b.dimValue(rows), most = b.integer(mostRows);
  Op branch = Builder::simple(OpKind::If, {b.compare(ops::CmpKind::Le, all, most)});
  branch.loc = made.loc;
  Builder whole = b.in(b.newRegion()), parts = b.in(b.newRegion());
  const std::vector<ValueId> given = guarded(whole, made, rows);
  whole.yield(Operands(given.begin(), given.end()));
  const std::vector<TypeId> types = resultTypes(rows);
  Op loop = Builder::simple(
      OpKind::For,
      {parts.binary(OpKind::IDiv, parts.binary(OpKind::Add, all, parts.integer(mostRows - 1)), most)},
      LoopAttr{});
  for (ValueId v : nothing(parts, made, rows)) loop.operands.push_back(v);
  Builder in = parts.in(parts.newRegion());
  const ValueId from = in.binary(OpKind::Mul, in.param(m_.types.int64()), most);
  std::vector<ValueId> carried;
  for (TypeId type : types) carried.push_back(in.param(type));
  const DimId size =
      m_.types.dims.symbol(in.bindDim(in.binary(OpKind::Min, most, in.binary(OpKind::Sub, all, from)), "m"));
  const Path part{PathStep{StepKind::Slice, 0, size, 1}};
  Op call = made;
  call.dims.back() = size;
  for (size_t k = 0; k < varies_.size(); ++k)
    if (varies_[k]) call.operands[k] = in.get(call.operands[k], part, std::span(&from, 1));
  for (const InoutPair& pair : m_.functions[callee_].inouts) call.operands[pair.param] = carried[pair.result];
  Operands yields = append(in, call, size);
  for (size_t k = 0; k < yields.size(); ++k)
    if (!isShared(op().results[k])) yields[k] = in.set(carried[k], yields[k], part, std::span(&from, 1));
  in.yield(yields);
  loop.regions = {in.region};
  const Results ends = fn().ops[parts.append(std::move(loop), types)].results;
  parts.yield(Operands(ends.begin(), ends.end()));
  branch.regions = {whole.region, parts.region};
  const Results results = fn().ops[b.append(std::move(branch), types)].results;
  return {results.begin(), results.end()};
}

/// Reads of the results stand for the calls. What continued their accumulators continues those before.
void BatchedCall::readBy(std::span<const ValueId> results) {
  const std::vector<OpId> ops = std::move(fn().regions[body_].ops);
  std::unordered_map<ValueId, ValueId> passed;
  fn().regions[body_].ops.clear();
  for (OpId id : ops) {
    const auto at = std::ranges::find(calls_, id);
    if (at == calls_.end()) {
      fn().regions[body_].ops.push_back(id);
      continue;
    }
    Builder in(m_, f_, body_, fn().ops[id].loc);
    ValueId row = rows_.positionOf(in);
    if (at != calls_.begin())
      row = in.binary(OpKind::Add, row,
                      in.binary(OpKind::Mul, in.integer(at - calls_.begin()), in.dimValue(rows_.count())));
    const Results of = fn().ops[id].results;
    for (size_t k = 0; k < of.size(); ++k) {
      if (isShared(of[k])) {
        passed[of[k]] = continuedAs(m_, fn(), of[k]);
        continue;
      }
      const ValueId read = in.getAt(results[k], std::span(&row, 1));
      takeOver(fn(), fn().values[read].def, std::span(&of[k], 1));
    }
  }
  forEachOp(fn(), body_, [&](OpId id) {
    for (ValueId& v : fn().ops[id].operands)
      for (auto by = passed.find(v); by != passed.end(); by = passed.find(v)) v = by->second;
  });
}

} // namespace melix::transforms
