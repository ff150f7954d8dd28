#include "transforms/batch/rows.h"

#include "transforms/batch/accumulators.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

Rows::Rows(Module& m, FunctionId f, OpId nest, const Effects& effects)
    : m_(m), f_(f), nest_(nest), effects_(effects) {}

std::span<const ValueId> Rows::axes() const {
  return std::span(fn().regions[fn().ops[nest_].regions[0]].params).first(fn().ops[nest_].dims.size());
}

DimId Rows::count() const {
  const Dims& extents = fn().ops[nest_].dims;
  return m_.types.dims.product(std::vector<DimId>(extents.begin(), extents.end()));
}

RowNest Rows::open(Builder& b) const {
  RowNest made{NestBuilder(b), Cloner(m_, f_, f_), {}};
  openAxes(made.nest, made.copy, fn(), fn().ops[nest_], AxisSet::first(fn().ops[nest_].dims.size()));
  for (ValueId axis : axes()) made.indices.push_back(made.copy.value(axis));
  return made;
}

RowNest Rows::open(Builder& b, const RowSet& set) const {
  RowNest made{NestBuilder(b), Cloner(m_, f_, f_), {}};
  made.indices = {made.nest.axis(set.size)};
  Builder in = b.in(made.nest.body());
  enter(in, made.copy, set.at.valid() ? in.getAt(set.at, made.indices) : made.indices[0]);
  return made;
}

RowNest Rows::openWith(Builder& b, const RowSet& set, std::span<const ValueId> values) const {
  RowNest made = open(b, set);
  Builder in = b.in(made.nest.body());
  copy(in, made.copy, values);
  return made;
}

void Rows::enter(Builder& in, Cloner& copy, ValueId position) const {
  const Dims extents = fn().ops[nest_].dims;
  ValueId rest = position;
  for (size_t k = extents.size(); k-- > 0;) {
    const ValueId extent = k > 0 ? in.dimValue(extents[k]) : ValueId();
    copy.values[axes()[k]] = k > 0 ? in.binary(OpKind::IRem, rest, extent) : rest;
    if (k > 0) rest = in.binary(OpKind::IDiv, rest, extent);
  }
}

void Rows::copy(Builder& in, Cloner& copy, std::span<const ValueId> values) const {
  const AxisVariance body(m_, f_, nest_, effects_, OwnSizes::Copied);
  for (OpId id : body.slice(values)) copy.op(id, in);
}

ValueId Rows::positionOf(Builder& in) const { return positionOf(in, Cloner(m_, f_, f_)); }

ValueId Rows::positionOf(Builder& in, const Cloner& copy) const {
  const Dims extents = fn().ops[nest_].dims;
  std::vector<ValueId> at;
  for (ValueId axis : axes()) at.push_back(copy.value(axis));
  ValueId position = at[0];
  for (size_t k = 1; k < at.size(); ++k)
    position = in.binary(OpKind::Add, in.binary(OpKind::Mul, position, in.dimValue(extents[k])), at[k]);
  return position;
}

std::optional<uint32_t> Rows::accumulatorOf(ValueId v) const {
  const NestView nest(fn(), fn().ops[nest_]);
  if (!isAccumulator(m_, fn(), v)) return std::nullopt;
  const auto at = std::ranges::find(nest.accParams(), transforms::accumulatorOf(m_, fn(), nest.body(), v));
  if (at == nest.accParams().end()) return std::nullopt;
  return static_cast<uint32_t>(at - nest.accParams().begin());
}

std::vector<ValueId> Rows::flat(Builder& b, std::span<const ValueId> arrays) const {
  std::vector<ValueId> out(arrays.begin(), arrays.end());
  const size_t axes = fn().ops[nest_].dims.size();
  if (axes == 1) return out;
  for (ValueId& v : out) {
    const types::Type& type = m_.types[b.typeOf(v)];
    std::vector<DimId> dims(type.dims.begin() + static_cast<ptrdiff_t>(axes), type.dims.end());
    dims.insert(dims.begin(), count());
    const TypeId flat = m_.types.array(m_.types.element(b.typeOf(v)), std::move(dims));
    v = b.one(Builder::simple(OpKind::Reshape, {v}), flat);
  }
  return out;
}

Refused lateAmong(const Function& f, const AxisVariance& body, std::span<const ValueId> values) {
  for (ValueId v : values)
    if (!body.axesOf(v)) {
      const OpId def = f.values[v].def;
      return Refusal{BatchingKind::LateValue, def.valid() ? f.ops[def].loc : LocId()};
    }
  return std::nullopt;
}

} // namespace melix::transforms
