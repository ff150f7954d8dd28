#include "transforms/batch/row_adds.h"

#include "core/ir/flow.h"
#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/batch/accumulators.h"
#include "transforms/walks/distribute_nest.h"

#include <algorithm>
#include <numeric>

namespace melix::transforms {

using namespace core;

RowAdds::RowAdds(Module& m, FunctionId f, OpId nest, const Costs& costs, RegionId around)
    : m_(m), f_(f), nest_(nest), costs_(costs), body_(fn().ops[nest].regions[0]), around_(around) {
  if (around.valid()) aroundOps_.insert(fn().regions[around].ops.begin(), fn().regions[around].ops.end());
  const NestView view(fn(), fn().ops[nest_]);
  own_.insert(fn().regions[body_].ops.begin(), fn().regions[body_].ops.end());
  for (size_t k = 0; k < view.accs(); ++k) sumOf_[view.accParams()[k]] = k;
  for (OpId id : fn().regions[body_].ops) {
    const Op& op = fn().ops[id];
    if (std::ranges::none_of(op.results, [&](ValueId v) { return isSum(v); })) continue;
    adds_.push_back(id);
    for (ValueId v : op.results) sumOf_[v] = sumOf_.at(accumulatorOf(m_, fn(), body_, v));
    for (ValueId each : op.operands) need(each);
    for (RegionId r : op.regions)
      forEachOp(fn(), r, [&](OpId each) {
        for (ValueId v : fn().ops[each].operands) need(v);
      });
  }
}

bool RowAdds::areAlone(const Module& m, const Function& f, RegionId region) {
  auto isSum = [&](ValueId v) { return m.types.kind(f.typeOf(v)) == TypeKind::Acc; };
  return std::ranges::all_of(f.regions[region].ops, [&](OpId id) {
    const Results& results = f.ops[id].results;
    return std::ranges::none_of(results, isSum) || std::ranges::all_of(results, [&](ValueId v) {
             return isSum(v) && f.ops[id].kind != OpKind::Call && accumulatorOf(m, f, region, v).valid();
           });
  });
}

std::vector<ValueId> RowAdds::makeBefore(Builder& b) const {
  NestBuilder nest(b);
  Cloner copy(m_, f_, f_);
  openAxes(nest, copy, fn(), fn().ops[nest_], AxisSet::first(fn().ops[nest_].dims.size()));
  Builder in = b.in(nest.body());
  const std::vector<OpId> ops = fn().regions[body_].ops;
  for (OpId id : ops)
    if (std::ranges::find(adds_, id) == adds_.end() && fn().ops[id].kind != OpKind::Yield) copy.op(id, in);
  const NestView view(fn(), fn().ops[nest_]);
  const std::vector<ValueId> collected(view.yields().begin(), view.yields().end() - view.accs());
  for (ValueId v : collected) nest.collect(copy.value(v));
  for (ValueId v : stored_) nest.collect(copy.value(v));
  const Results results = fn().ops[nest.finish()].results;
  return {results.begin(), results.end()};
}

bool RowAdds::isSum(ValueId v) const { return m_.types.kind(fn().typeOf(v)) == TypeKind::Acc; }

/// A value of the body is stored, unless nothing it is made of varies, or it is a matrix of rows.
void RowAdds::need(ValueId v) {
  const Value& value = fn().values[v];
  if (isSum(v)) return;
  const bool isAround =
      value.def.valid() ? aroundOps_.contains(value.def) : around_.valid() && value.region == around_;
  if (isAround || (!value.def.valid() && value.region == body_)) {
    if (std::ranges::find(stored_, v) == stored_.end()) stored_.push_back(v);
    return;
  }
  if (!value.def.valid()) return;
  if (!own_.contains(value.def) || isCopied_.contains(value.def)) return;
  const Op& op = fn().ops[value.def];
  isCopied_[value.def] = isSameForAll(value.def) || isOuter(op);
  if (!isCopied_[value.def]) return (void)stored_.insert(stored_.end(), op.results.begin(), op.results.end());
  for (ValueId each : op.operands) need(each);
  for (RegionId r : op.regions)
    forEachOp(fn(), r, [&](OpId each) {
      for (ValueId inner : fn().ops[each].operands) need(inner);
    });
}

/// Whether an op makes the same numbers for all rows, of numbers from outside.
bool RowAdds::isSameForAll(OpId id) const {
  const Op& op = fn().ops[id];
  return op.regions.empty() && op.kind != OpKind::Call && op.kind != OpKind::Get && op.resultDims.empty() &&
         std::ranges::all_of(op.results, [&](ValueId v) { return m_.types.isScalar(fn().typeOf(v)); }) &&
         std::ranges::all_of(op.operands, [&](ValueId v) {
           const Value& value = fn().values[v];
           if (!value.def.valid())
             return value.region != body_ && (!around_.valid() || value.region != around_);
           return own_.contains(value.def) ? isSameForAll(value.def) : !aroundOps_.contains(value.def);
         });
}

/// Whether an op makes a matrix of rows, element by element: what it needs is smaller than what it makes.
bool RowAdds::isOuter(const Op& op) const {
  if (op.kind != OpKind::Nest || op.dims.size() < 2 || nestAccs(op) > 0) return false;
  const std::vector<ValueId>& axes = fn().regions[op.regions[0]].params;
  auto isCheap = [&](OpId id) {
    const Op& each = fn().ops[id];
    const bool isPart = std::ranges::any_of(
        axes, [&](ValueId v) { return std::ranges::find(each.operands, v) == each.operands.end(); });
    return each.regions.empty() && each.kind != OpKind::Call && !isExpensive(costs_.ofOp(id)) &&
           (each.kind != OpKind::Get || isPart);
  };
  return std::ranges::all_of(nestResults(op),
                             [](const NestResult& r) { return r.kind == NestResultKind::Collect; }) &&
         std::ranges::all_of(fn().regions[op.regions[0]].ops, isCheap);
}

bool RowAdds::haveProducts() const {
  auto isOfMatrix = [&](OpId id) {
    const Op& op = fn().ops[id];
    if (op.kind == OpKind::AddAt)
      return m_.types.rank(fn().typeOf(op.operands[1])) > 1 && isLarge(op.operands[1]);
    const std::optional<int64_t> points =
        m_.types.dims.asConstant(m_.types.dims.product(std::vector<DimId>(op.dims.begin(), op.dims.end())));
    return op.dims.size() > 1 && (!points || *points > fewPoints);
  };
  return adds_.size() > 1 && std::ranges::all_of(adds_, [&](OpId id) { return isAlone(id); }) &&
         std::ranges::any_of(adds_, isOfMatrix);
}

/// Whether an add can stand in a nest of its own.
bool RowAdds::isAlone(OpId id) const {
  const Op& op = fn().ops[id];
  return op.kind == OpKind::AddAt || (op.kind == OpKind::Nest && op.results.size() == 1);
}

void RowAdds::emit(Builder& b, DimId rows, std::span<const ValueId> arrays,
                   std::vector<ValueId>& sums) const {
  for (OpId id : adds_) {
    if (isAtSameElement(id))
      emitSum(b, rows, id, arrays, sums);
    else if (!isAlone(id) || choiceOf(id).empty())
      emitGroup(b, {{}, rows}, std::span(&id, 1), arrays, sums);
    else
      emitByChoice(b, rows, id, arrays, sums);
  }
}

/// Whether all rows add arrays to the same element of a list.
bool RowAdds::isAtSameElement(OpId id) const {
  const Op& op = fn().ops[id];
  return op.kind == OpKind::AddAt && m_.types.kind(fn().typeOf(op.operands[1])) == TypeKind::Array &&
         isOfNumbers(m_.types, fn().typeOf(op.operands[1])) &&
         std::ranges::any_of(op.as<Path>(), [](const PathStep& s) { return s.kind == StepKind::Element; }) &&
         std::ranges::all_of(std::span(op.operands).subspan(2),
                             [&](ValueId v) { return std::ranges::find(stored_, v) == stored_.end(); });
}

/// The sum of what all rows add, and one add of it.
void RowAdds::emitSum(Builder& b, DimId rows, OpId add, std::span<const ValueId> arrays,
                      std::vector<ValueId>& sums) const {
  const Op op = fn().ops[add];
  NestBuilder nest(b);
  const std::vector<ValueId> point = nest.openAxes(m_.types[fn().typeOf(op.operands[1])].dims);
  const ValueId row = nest.axis(rows);
  Builder in = b.in(nest.body());
  Cloner copy(m_, f_, f_);
  for (size_t k = 0; k < stored_.size(); ++k)
    copy.values[stored_[k]] = in.getAt(arrays[k], std::span(&row, 1));
  std::vector<uint32_t> keep(point.size());
  std::iota(keep.begin(), keep.end(), 0U);
  nest.add(reducing(MonoidKind::Sum, keep), elementAt(in, copy, op.operands[1], point));
  const ValueId sum = nest.one();

  NestBuilder once(b);
  Cloner outside(m_, f_, f_);
  ValueId& accumulator = sums[sumOf_.at(op.operands[0])];
  outside.values[op.operands[0]] = once.accumulator(accumulator);
  outside.values[op.operands[1]] = sum;
  Builder at = b.in(once.body());
  for (OpId id : copiedFor(std::span(&add, 1)))
    if (id == add || isSameForAll(id)) outside.op(id, at);
  once.end(outside.value(op.results[0]));
  accumulator = once.one();
}

/// Whether an array is added to an element of the accumulator, so that it can be added point by point.
bool RowAdds::isPoint(OpId id) const {
  const Op& op = fn().ops[id];
  return op.kind == OpKind::AddAt && m_.types.kind(fn().typeOf(op.operands[1])) == TypeKind::Array &&
         std::ranges::all_of(op.as<Path>(), [](const PathStep& s) {
           return s.kind == StepKind::Index || s.kind == StepKind::Field;
         });
}

/// Whether an op is a nest of adds, with an extent from outside: its points and the rows are axes of one
/// nest.
bool RowAdds::isRowOfAdds(OpId id) const {
  const Op& op = fn().ops[id];
  return op.kind == OpKind::Nest && op.results.size() == 1 && nestAccs(op) == 1 &&
         knowsSizes(m_, fn(), body_, id, {});
}

/// Accumulators of the body that an add continues, also within its regions.
std::vector<ValueId> RowAdds::sumsUsedBy(OpId add) const {
  std::vector<ValueId> out;
  auto look = [&](OpId id) {
    for (ValueId v : fn().ops[id].operands)
      if (sumOf_.contains(v) && std::ranges::find(out, v) == out.end()) out.push_back(v);
  };
  look(add);
  for (RegionId r : fn().ops[add].regions) forEachOp(fn(), r, look);
  return out;
}

/// The ops of the body that are copied for adds, in their order.
std::vector<OpId> RowAdds::copiedFor(std::span<const OpId> adds) const {
  std::unordered_set<OpId> taken;
  auto take = [&](auto& self, OpId id) -> void {
    auto operands = [&](OpId each) {
      for (ValueId v : fn().ops[each].operands) {
        const OpId def = fn().values[v].def;
        const auto copied = def.valid() ? isCopied_.find(def) : isCopied_.end();
        if (copied != isCopied_.end() && copied->second && taken.insert(def).second) self(self, def);
      }
    };
    operands(id);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, operands);
  };
  for (OpId id : adds) take(take, id);
  taken.insert(adds.begin(), adds.end());
  std::vector<OpId> out;
  std::ranges::copy_if(fn().regions[body_].ops, std::back_inserter(out),
                       [&](OpId id) { return taken.contains(id); });
  return out;
}

/// An element of an array of the body: one of a matrix of rows is computed where it is needed.
ValueId RowAdds::elementAt(Builder& in, Cloner& copy, ValueId array, std::span<const ValueId> point) const {
  const OpId def = fn().values[array].def;
  const auto isCopied = def.valid() ? isCopied_.find(def) : isCopied_.end();
  if (isCopied == isCopied_.end() || !isCopied->second || fn().ops[def].kind != OpKind::Nest)
    return in.getAt(copy.value(array), point);
  const Op nest = fn().ops[def];
  const uint32_t number = fn().values[array].index;
  const std::vector<uint32_t>& axes = nestResults(nest)[number].keep;
  const std::vector<ValueId> params = fn().regions[nest.regions[0]].params;
  for (size_t k = 0; k < axes.size(); ++k) copy.values[params[axes[k]]] = point[k];
  return copy.body(nest.regions[0], in).values[number];
}

void RowAdds::emitGroup(Builder& b, const RowSet& rows, std::span<const OpId> adds,
                        std::span<const ValueId> arrays, std::vector<ValueId>& sums,
                        const std::unordered_map<ValueId, ValueId>& known) const {
  NestBuilder nest(b);
  const ValueId place = nest.axis(rows.size);
  const Op first = fn().ops[adds[0]];
  const bool isPoint = adds.size() == 1 && this->isPoint(adds[0]);
  const bool isRow = adds.size() == 1 && isRowOfAdds(adds[0]);
  std::vector<ValueId> point;
  if (isPoint) point = nest.openAxes(m_.types[fn().typeOf(first.operands[1])].dims);
  if (isRow) point = nest.openAxes(first.dims);

  std::vector<size_t> numbers;
  Cloner copy(m_, f_, f_);
  const NestView view(fn(), fn().ops[nest_]);
  auto enter = [&](ValueId v) {
    const size_t k = sumOf_.at(v);
    if (std::ranges::find(numbers, k) != numbers.end()) return;
    numbers.push_back(k);
    copy.values[v] = nest.accumulator(sums[k]);
  };
  for (OpId id : adds)
    for (ValueId v : sumsUsedBy(id)) enter(v);
  Builder in = b.in(nest.body());
  const ValueId row = rows.at.valid() ? in.getAt(rows.at, std::span(&place, 1)) : place;
  for (size_t k = 0; k < stored_.size(); ++k) {
    const auto same = known.find(stored_[k]);
    copy.values[stored_[k]] = same != known.end() ? same->second : in.getAt(arrays[k], std::span(&row, 1));
  }
  std::unordered_map<size_t, ValueId> last;
  for (OpId id : copiedFor(adds)) {
    if (isPoint && id == adds[0]) {
      Op add = Builder::simple(OpKind::AddAt, {}, first.as<Path>());
      for (ValueId v : first.operands) add.operands.push_back(copy.value(v));
      add.operands[1] = elementAt(in, copy, first.operands[1], point);
      add.as<Path>().insert(add.as<Path>().end(), point.size(), PathStep{StepKind::Index, 0, {}, 1});
      add.operands.insert(add.operands.end(), point.begin(), point.end());
      copy.values[first.results[0]] = in.one(std::move(add), in.typeOf(copy.value(first.operands[0])));
    } else if (isRow && id == adds[0]) {
      const std::vector<ValueId> params = fn().regions[first.regions[0]].params;
      for (size_t k = 0; k < point.size(); ++k) copy.values[params[k]] = point[k];
      copy.values[params.back()] = copy.value(first.operands[0]);
      copy.values[first.results[0]] = copy.body(first.regions[0], in).values[0];
    } else {
      copy.op(id, in);
    }
    for (ValueId v : fn().ops[id].results)
      if (isSum(v)) last[sumOf_.at(v)] = copy.value(v);
  }
  for (size_t k : numbers) nest.end(last.at(k));
  const OpId made = nest.finish();
  for (size_t k = 0; k < numbers.size(); ++k) sums[numbers[k]] = b.result(made, k);
}

} // namespace melix::transforms
