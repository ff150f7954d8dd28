#include "transforms/batch/batched_call.h"

#include "core/analysis/effect_audit.h"
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
  varies_ = variesOf(body);
  const std::vector<ValueId> args = arguments();
  if (std::ranges::find(varies_, true) == varies_.end()) return Refusal{BatchingKind::SameArguments};
  if (!std::ranges::all_of(storedFor(fn(), costs_, body_, args), hasOuter))
    return Refusal{BatchingKind::OwnSize};
  if (keepsMatrices(args)) return Refusal{BatchingKind::MoreAxes};
  callee_ = functions_.instance(callee, varies_);
  return callee_.valid() ? Refused() : Refusal{BatchingKind::ManyInstances};
}

/// Whether rows would store matrices which they share by reference now, as those that a gradient needs. A
/// matrix that is read from an array of all rows is there anyway.
bool BatchedCall::keepsMatrices(std::span<const ValueId> args) const {
  auto isMatrix = [&](ValueId v) {
    return m_.types.kind(fn().typeOf(v)) == TypeKind::Array && m_.types.rank(fn().typeOf(v)) > 1;
  };
  auto isRead = [&](ValueId v) {
    const OpId def = fn().values[v].def;
    return def.valid() && fn().ops[def].kind == OpKind::Get;
  };
  return std::ranges::any_of(op().results, isMatrix) ||
         std::ranges::any_of(args, [&](ValueId v) { return isMatrix(v) && !isRead(v); });
}

/// An accumulator of the nest: all rows add to it.
bool BatchedCall::isShared(ValueId v) const { return rows_.accumulatorOf(v).has_value(); }

/// The arguments that vary.
std::vector<ValueId> BatchedCall::arguments() const {
  std::vector<ValueId> out;
  for (size_t k = 0; k < varies_.size(); ++k)
    if (varies_[k]) out.push_back(op().operands[k]);
  return out;
}

std::vector<bool> BatchedCall::variesOf(const AxisVariance& body) const {
  std::vector<bool> out;
  for (ValueId v : op().operands) {
    const std::optional<AxisSet> axes = body.axesOf(v);
    out.push_back(!isShared(v) && (!axes || !axes->empty() || !body.readsWithin(v)));
  }
  return out;
}

RowCall BatchedCall::leave(Builder& b) {
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
  const std::vector<ValueId> columns = collectArguments(b);
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
  made.dims.push_back(rows_.count());
  made.loc = call.loc;
  Builder in = numbers.empty() ? b : b.in(point.body());
  RowCall out{{},
              in.append(std::move(made), resultTypes()),
              varies_,
              functions_.isRecursive(call.as<CallAttr>().callee)};
  noteCopy(f_, call_, f_, out.call);
  out.op = numbers.empty() ? out.call : endPoint(point, numbers, out.call);
  readBy(fn().ops[out.op], numbers);
  return out;
}

/// Ends the nest around the call: its accumulators go on in the original.
OpId BatchedCall::endPoint(NestBuilder& point, std::span<const uint32_t> numbers, OpId call) {
  const Results given = fn().ops[call].results;
  std::vector<ValueId> ends(numbers.size());
  for (size_t k = 0; k < given.size(); ++k) {
    const std::optional<uint32_t> sum = rows_.accumulatorOf(op().results[k]);
    if (sum)
      ends[static_cast<size_t>(std::ranges::find(numbers, *sum) - numbers.begin())] = given[k];
    else
      point.collect(given[k]);
  }
  for (ValueId v : ends) point.end(v);
  const OpId nest = point.finish();
  const Results results = fn().ops[nest].results;
  for (size_t k = 0; k < numbers.size(); ++k)
    fn().ops[nest_].operands[numbers[k]] = results[results.size() - numbers.size() + k];
  return nest;
}

/// The arguments that vary, of all rows.
std::vector<ValueId> BatchedCall::collectArguments(Builder& b) const {
  RowNest made = rows_.openWith(b, rows_.all(), arguments());
  for (ValueId v : arguments()) made.nest.collect(made.copy.value(v));
  const Results results = fn().ops[made.nest.finish()].results;
  return {results.begin(), results.end()};
}

/// The results of the call for all rows.
std::vector<TypeId> BatchedCall::resultTypes() const {
  const DimId rows = rows_.count();
  std::vector<TypeId> types;
  for (ValueId v : op().results)
    types.push_back(isShared(v)
                        ? fn().typeOf(v)
                        : nestResultType(m_.types, collecting(1), std::span(&rows, 1), fn().typeOf(v)));
  return types;
}

/// Reads of the results of `made` stand for the call. What continued its accumulators continues those before.
void BatchedCall::readBy(const Op& made, std::span<const uint32_t> numbers) {
  const std::vector<ValueId> columns(made.results.begin(),
                                     made.results.end() - static_cast<ptrdiff_t>(numbers.size()));
  const std::vector<OpId> ops = std::exchange(fn().regions[body_].ops, {});
  std::unordered_map<ValueId, ValueId> passed;
  for (OpId id : ops) {
    if (id != call_) {
      fn().regions[body_].ops.push_back(id);
      continue;
    }
    Builder in(m_, f_, body_, fn().ops[id].loc);
    const ValueId row = rows_.positionOf(in);
    size_t column = 0;
    for (ValueId v : Results(fn().ops[id].results)) {
      if (isShared(v)) {
        passed[v] = continuedAs(m_, fn(), v);
        continue;
      }
      const ValueId read = in.getAt(columns[column++], std::span(&row, 1));
      takeOver(fn(), fn().values[read].def, std::span(&v, 1));
    }
  }
  forEachOp(fn(), body_, [&](OpId id) {
    for (ValueId& v : fn().ops[id].operands)
      if (const auto by = passed.find(v); by != passed.end()) v = by->second;
  });
}

} // namespace melix::transforms
