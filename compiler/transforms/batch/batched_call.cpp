#include "transforms/batch/batched_call.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/filler.h"
#include "core/ir/walk.h"
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
  if (const Refused stays = functions_.refusalOf(callee)) return stays;
  const AxisVariance body(m_, f_, nest_, effects_, OwnSizes::Copied);
  auto hasOuter = [&](ValueId v) { return hasOuterSizes(m_, fn(), body_, v); };
  if (const Refused late = lateAmong(fn(), body, op().operands)) return late;
  if (!knowsSizes(m_, fn(), body_, call_, {}) || !std::ranges::all_of(op().operands, hasOuter) ||
      !std::ranges::all_of(op().results, hasOuter))
    return Refusal{BatchingKind::OwnSize};
  varies_ = variesOf(call_, body);
  findCalls(body);
  std::vector<ValueId> args;
  for (OpId id : calls_) args.insert(args.end(), fn().ops[id].operands.begin(), fn().ops[id].operands.end());
  if (std::ranges::find(varies_, true) == varies_.end()) return Refusal{BatchingKind::SameArguments};
  if (!std::ranges::all_of(storedFor(fn(), costs_, body_, args), hasOuter))
    return Refusal{BatchingKind::OwnSize};
  callee_ = functions_.instance(callee, varies_);
  return callee_.valid() ? Refused() : Refusal{BatchingKind::ManyInstances};
}

std::vector<bool> BatchedCall::variesOf(OpId call, const AxisVariance& body) const {
  std::vector<bool> out;
  for (ValueId v : fn().ops[call].operands) {
    const std::optional<AxisSet> axes = body.axesOf(v);
    out.push_back(!axes || !axes->empty() || !body.readsWithin(v));
  }
  return out;
}

/// The other calls of the same function with the same arguments that do not vary, which need none of the
/// calls found so far.
void BatchedCall::findCalls(const AxisVariance& body) {
  calls_ = {call_};
  // Rows of rows that recurse would be as many as all calls of a depth together.
  if (functions_.isRecursive(op().as<CallAttr>().callee)) return;
  std::unordered_set<OpId> later{call_};
  const std::vector<OpId>& ops = fn().regions[body_].ops;
  for (auto at = std::ranges::find(ops, call_); at != ops.end(); ++at) {
    const OpId id = *at;
    bool needs = false;
    auto look = [&](OpId each) {
      for (ValueId v : fn().ops[each].operands) {
        const OpId def = fn().values[v].def;
        needs = needs || (def.valid() && later.contains(def));
      }
    };
    look(id);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, look);
    if (needs)
      later.insert(id);
    else if (id != call_ && isSame(id, body)) {
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
  for (size_t k = 0; k < varies_.size(); ++k)
    if (!body.axesOf(b.operands[k]) || !hasOuterSizes(m_, fn(), body_, b.operands[k]) ||
        (!varies_[k] && a.operands[k] != b.operands[k]))
      return false;
  return true;
}

void BatchedCall::leave(Builder& b) {
  std::vector<ValueId> args;
  for (OpId id : calls_) args.insert(args.end(), fn().ops[id].operands.begin(), fn().ops[id].operands.end());
  if (const std::vector<ValueId> live = storedFor(fn(), costs_, body_, args); !live.empty())
    distribute(b, nest_,
               {AxisSet::first(fn().ops[nest_].dims.size()),
                AxisVariance(m_, f_, nest_, effects_, OwnSizes::Copied).slice(live), live});
  const Op call = op();
  const DimId rows =
      m_.types.dims.mul(rows_.count(), m_.types.dims.constant(static_cast<int64_t>(calls_.size())));
  const std::vector<ValueId> columns = collectArguments(b, rows);
  Op made = Builder::simple(OpKind::Call, {}, CallAttr{callee_});
  Cloner outside(m_, f_, f_);
  size_t column = 0;
  for (size_t k = 0; k < varies_.size(); ++k) {
    if (varies_[k]) {
      made.operands.push_back(columns[column++]);
      continue;
    }
    rows_.copy(b, outside, std::span(&call.operands[k], 1));
    made.operands.push_back(outside.value(call.operands[k]));
  }
  made.dims = call.dims;
  made.dims.push_back(rows);
  made.loc = call.loc;
  readBy(guarded(b, std::move(made), rows, call));
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

/// The call, if there are rows: recursion over no rows would not end.
std::vector<ValueId> BatchedCall::guarded(Builder& b, Op made, DimId rows, const Op& call) const {
  std::vector<TypeId> types;
  for (ValueId v : call.results)
    types.push_back(nestResultType(m_.types, collecting(1), std::span(&rows, 1), fn().typeOf(v)));
  Op branch = Builder::simple(OpKind::If, {b.compare(ops::CmpKind::Gt, b.dimValue(rows), b.integer(0))});
  branch.loc = call.loc;
  Builder some = b.in(b.newRegion()), none = b.in(b.newRegion());
  const OpId id = some.append(std::move(made), types);
  for (OpId each : calls_) noteCopy(f_, each, f_, id);
  some.yield(Operands(fn().ops[id].results.begin(), fn().ops[id].results.end()));
  Operands empty;
  for (TypeId type : types) empty.push_back(filler(none, type));
  none.yield(empty);
  branch.regions = {some.region, none.region};
  const Results results = fn().ops[b.append(std::move(branch), types)].results;
  return {results.begin(), results.end()};
}

/// Reads of the results stand for the calls.
void BatchedCall::readBy(std::span<const ValueId> results) {
  const std::vector<OpId> ops = std::move(fn().regions[body_].ops);
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
      const ValueId read = in.getAt(results[k], std::span(&row, 1));
      takeOver(fn(), fn().values[read].def, std::span(&of[k], 1));
    }
  }
}

} // namespace melix::transforms
