// Builders and reductions as nests.
#include "core/ir/nest.h"
#include "core/analysis/evaluate.h"
#include "core/ir/filler.h"
#include "lower/body.h"

#include <array>
#include <limits>

namespace melix::lower {

using namespace check;

/// A reduction that needs an element, as its panic names it.
/// What a reduction combines by; a builder has none.
static core::MonoidKind monoidOf(NestKind kind) {
  switch (kind) {
  case NestKind::Prod: return core::MonoidKind::Prod;
  case NestKind::Min: return core::MonoidKind::Min;
  case NestKind::Max: return core::MonoidKind::Max;
  case NestKind::Any: return core::MonoidKind::Or;
  case NestKind::All: return core::MonoidKind::And;
  case NestKind::ArgMin: return core::MonoidKind::ArgMin;
  case NestKind::ArgMax: return core::MonoidKind::ArgMax;
  case NestKind::Reduce: return core::MonoidKind::Combine;
  default: return core::MonoidKind::Sum;
  }
}

core::NestResult BodyLowering::resultOf(NestKind kind, size_t axes) {
  if (kind == NestKind::Collect) return core::collecting(axes);
  return core::reducing(monoidOf(kind));
}

/// What a filtered-out element contributes to a reduction.
ValueId BodyLowering::monoidUnit(NestKind kind, TypeId type) {
  if (!types_.isScalar(type)) return b_.zero(type);
  return b_.constant(type, core::unitOf(monoidOf(kind), types_.kind(type)));
}

/// Lowers in a region: values and sizes that are known there only are forgotten behind it.
void BodyLowering::inRegion(RegionId region, const std::function<void()>& fill) {
  const RegionId outer = std::exchange(b_.region, region);
  const Values before = values_;
  const types::DimSubst dimsBefore = dimMap_;
  fill();
  values_ = before;
  dimMap_ = dimsBefore;
  b_.region = outer;
}

/// The positions that pass a filter, counted over all axes together in row-major order: int[n], n decided
/// here.
ValueId BodyLowering::positions(const Nest& ref, NodeId filter) {
  core::NestBuilder made(b_);
  ValueId keep, i;
  inRegion(made.body(), [&] {
    i = flatParam(made, ref);
    bool leaves = exitsIn(instance_, filter);
    if (leaves) values_[exit_] = b_.integer(static_cast<int64_t>(core::exits::on));
    keep = orFiller(cast(expr(filter), types_.boolean()), types_.boolean());
    if (leaves) keep = b_.select(exitIs(core::exits::on), keep, b_.boolean(true)); // it leaves there again
  });
  made.add(core::filtering(), std::array{keep, i}, {{}, {}, b_.newDim("n")});
  return made.one();
}

DimId BodyLowering::flatExtent(const Nest& ref) {
  std::vector<DimId> dims;
  for (const NestAxis& axis : ref.axes) dims.push_back(D(axis.extent));
  return types_.dims.product(dims);
}

/// One parameter for all axes; the indices of the axes are found from it.
ValueId BodyLowering::flatParam(core::NestBuilder& made, const Nest& ref) {
  if (ref.axes.size() == 1) return axisParam(made, D(ref.axes[0].extent), ref.axes[0].index);
  ValueId flat = made.axis(flatExtent(ref));
  defineAxes(ref, flat);
  return flat;
}

void BodyLowering::defineAxes(const Nest& ref, ValueId flat) {
  const std::vector<ValueId> indices = unflatten(ref, flat);
  for (size_t k = 0; k < indices.size(); ++k) define(ref.axes[k].index, indices[k]);
}

/// The indices of the axes at the row-major position `flat`.
std::vector<ValueId> BodyLowering::unflatten(const Nest& ref, ValueId flat) {
  std::vector<ValueId> indices(ref.axes.size(), flat);
  ValueId rest = flat;
  for (size_t k = ref.axes.size(); k-- > 0;) {
    DimId extent = D(ref.axes[k].extent);
    indices[k] = k > 0 ? b_.binary(OpKind::IRem, rest, b_.dimValue(extent)) : rest;
    if (k > 0) rest = b_.binary(OpKind::IDiv, rest, b_.dimValue(extent));
  }
  return indices;
}

/// A further axis of a nest whose body is the region at hand; `index` is its parameter there.
ValueId BodyLowering::axisParam(core::NestBuilder& made, DimId extent, LocalId index) {
  ValueId i = made.axis(extent, instance_.locals[index].name);
  define(index, i);
  return i;
}

/// The body of a builder or reduction over `dims`: what it yields.
std::vector<ValueId> BodyLowering::nestBody(NodeId n, const NestBody& shape, const std::vector<DimId>& dims,
                                            core::NestBuilder& made, size_t rows) {
  const Node& node = instance_.nodes[n];
  const Nest& ref = node.as<Nest>();
  if (shape.isPlain()) return pointBody(n, shape, dims, made, rows);
  if (shape.positions) {
    ValueId j = made.axis(dims[0]);
    defineAxes(ref, b_.getAt(shape.positions, std::vector<ValueId>{j}));
  } else if (shape.filter) {
    flatParam(made, ref);
  } else {
    for (size_t k = 0; k < dims.size(); ++k) axisParam(made, dims[k], ref.axes[k].index);
  }
  if (shape.leaves) values_[exit_] = b_.integer(static_cast<int64_t>(core::exits::on));
  std::vector<ValueId> out = nestValue(node, shape);
  if (shape.leaves) {
    int64_t never = std::numeric_limits<int64_t>::max();
    out.push_back(b_.select(exitIs(core::exits::on), b_.integer(never), flatIndex(ref)));
  }
  return out;
}

/// The body over the last axes, `dims`, of a builder or reduction. The first `rows` of these stand around the
/// others if something is computed ahead then.
std::vector<ValueId> BodyLowering::pointBody(NodeId n, const NestBody& shape, std::span<const DimId> dims,
                                             core::NestBuilder& made, size_t rows) {
  const Nest& ref = instance_.nodes[n].as<Nest>();
  const size_t around = ref.axes.size() - dims.size();
  size_t open = 0;
  auto openTo = [&](size_t end) {
    for (; open < end; ++open) axisParam(made, dims[open], ref.axes[around + open].index);
  };
  while (rows > 0) {
    openTo(open + rows);
    const size_t before = hoisted_.size();
    rows = hoist(n, around + open);
    if (hoisted_.size() > before) return {rowOf(n, shape, dims.subspan(open), rows)};
  }
  openTo(dims.size());
  return nestValue(instance_.nodes[n], shape);
}

/// What a builder or reduction gives over its last axes, at a point of those in front.
ValueId BodyLowering::rowOf(NodeId n, const NestBody& shape, std::span<const DimId> dims, size_t rows) {
  core::NestBuilder made(b_);
  ValueId value;
  inRegion(made.body(), [&] { value = pointBody(n, shape, dims, made, rows)[0]; });
  made.add(resultOf(instance_.nodes[n].as<Nest>().kind, made.axes().size()), value);
  return made.one();
}

/// The value of the body where the filter lets it pass, as the region yields it.
std::vector<ValueId> BodyLowering::nestValue(const Node& node, const NestBody& shape) {
  const Nest& ref = node.as<Nest>();
  TypeId type = instance_.nodes[node.children[0]].type;
  if (!ref.filtered || shape.positions) {
    bool again = ref.filtered && exitsIn(instance_, node.children[1]);
    Make body = [&] { return expr(node.children[0]); };
    ValueId value =
        again ? after({node.children[1]}, type, [&](std::vector<ValueId>) { return body(); }) : body();
    return {orFiller(value, type)};
  }
  ValueId keep = orFiller(cast(expr(node.children[1]), types_.boolean()), types_.boolean());
  ValueId value =
      branches(Builder::simple(OpKind::If, {keep}),
               {[&](RegionId) { return orFiller(expr(node.children[0]), type); },
                [&](RegionId) {
                  TypeId t = T(type);
                  return shape.filter ? b_.undef(t) : shape.unit ? shape.unit : monoidUnit(ref.kind, t);
                }},
               type, {});
  std::vector<ValueId> out = shape.filter ? std::vector<ValueId>{keep, value} : std::vector<ValueId>{value};
  if (shape.counts) out.push_back(b_.select(keep, b_.integer(1), b_.integer(0)));
  return out;
}

/// `value`, or one that nobody reads where control left the body at hand.
ValueId BodyLowering::orFiller(ValueId value, TypeId type) {
  FlowKind flow = flow_;
  flow_ = FlowKind::On;
  if (flow == FlowKind::On) return value;
  if (flow == FlowKind::Off) return filler(T(type));
  return branches(Builder::simple(OpKind::If, {exitIs(core::exits::on)}),
                  {[&](RegionId) { return value; }, [&](RegionId) { return filler(T(type)); }}, type, {});
}

/// Arrays of it may be read, since reads move.
ValueId BodyLowering::filler(TypeId type) { return core::filler(b_, type); }

/// The row-major position of the point at hand.
ValueId BodyLowering::flatIndex(const Nest& ref) {
  ValueId flat = values_.at(ref.axes[0].index);
  for (size_t k = 1; k < ref.axes.size(); ++k) {
    flat = b_.binary(OpKind::Mul, flat, b_.dimValue(D(ref.axes[k].extent)));
    flat = b_.binary(OpKind::Add, flat, values_.at(ref.axes[k].index));
  }
  return flat;
}

/// Leaves as the body does at the first position where it does: it runs there once more (rule 13).
void BodyLowering::leaveAt(const Node& node, ValueId position) {
  const Nest& ref = node.as<Nest>();
  ValueId left = b_.compare(ops::CmpKind::Lt, position, b_.integer(std::numeric_limits<int64_t>::max()));
  auto body = [&](RegionId) {
    expr(node.children[0]);
    return unit();
  };
  auto again = [&](RegionId) {
    defineAxes(ref, position);
    if (!ref.filtered) return body({});
    return after({node.children[1]}, types_.unit(), [&](std::vector<ValueId> keep) {
      return branches(Builder::simple(OpKind::If, {keep[0]}), {body, [&](RegionId) { return unit(); }},
                      types_.unit(), {});
    });
  };
  branches(Builder::simple(OpKind::If, {left}), {again, [&](RegionId) { return unit(); }}, types_.unit(), {});
}

/// The operation of an integer sum or product each step of which is checked under `--check-overflow`.
std::optional<OpKind> BodyLowering::checkedStep(NestKind kind, TypeId type) {
  TypeId element = types_.kind(type) == TypeKind::Array ? types_.element(type) : type;
  if ((kind != NestKind::Sum && kind != NestKind::Prod) || !checksOverflow(element)) return std::nullopt;
  return kind == NestKind::Sum ? OpKind::Add : OpKind::Mul;
}

/// What the body of a nest yields. Where a filter decides the positions first, their number takes the place
/// of `dims`.
BodyLowering::NestBody BodyLowering::shapeOf(const Node& node, std::vector<DimId>& dims) {
  const Nest& ref = node.as<Nest>();
  NestBody shape;
  bool collects = ref.kind == NestKind::Collect;
  bool arg = ref.kind == NestKind::ArgMax || ref.kind == NestKind::ArgMin;
  shape.leaves =
      exitsIn(instance_, node.children[0]) || (ref.filtered && exitsIn(instance_, node.children[1]));
  shape.filter = ref.filtered && collects;
  if (ref.filtered && arg) {
    shape.positions = positions(ref, node.children[1]);
    dims = types_[b_.typeOf(shape.positions)].dims;
  } else if (shape.filter) {
    dims = {flatExtent(ref)};
  }
  bool extremum = ref.kind == NestKind::Max || ref.kind == NestKind::Min;
  shape.needsOne = arg || (extremum && !types_.isFloat(instance_.nodes[node.children[0]].type));
  shape.counts = shape.needsOne && ref.filtered && !shape.positions;
  shape.checkedStep = checkedStep(ref.kind, T(instance_.nodes[node.children[0]].type));
  return shape;
}

/// The unit of a monoid that is a combination written in Core, computed before the nest: the user's, or that
/// of a checked step. None for others.
ValueId BodyLowering::unitBefore(const Node& node, const NestBody& shape) {
  const Nest& ref = node.as<Nest>();
  if (ref.kind == NestKind::Reduce) return expr(node.children[node.children.size() - 2]);
  return shape.checkedStep ? monoidUnit(ref.kind, T(instance_.nodes[node.children[0]].type))
                           : ValueId::none();
}

/// The region in which two values of a type are combined.
RegionId BodyLowering::combination(const Node& node, const NestBody& shape, TypeId yielded) {
  const Nest& ref = node.as<Nest>();
  const RegionId region = b_.newRegion();
  inRegion(region, [&] {
    ValueId left = b_.param(yielded), right = b_.param(yielded);
    if (shape.checkedStep) {
      b_.yield({step(*shape.checkedStep, left, right)});
      return;
    }
    values_[ref.left] = left;
    values_[ref.right] = right;
    b_.yield({cast(expr(node.children.back()), yielded)});
  });
  return region;
}

/// Adds the results of the nest whose body yields `out`: its own first, then the number of elements that
/// passed, then where control left. The type of the first.
TypeId BodyLowering::addResults(const Node& node, const NestBody& shape, std::span<const ValueId> out,
                                core::NestBuilder& made) {
  const Nest& ref = node.as<Nest>();
  const size_t axes = made.axes().size();
  core::NestResult spec = shape.filter ? core::filtering() : resultOf(ref.kind, axes);
  if (shape.checkedStep) spec.monoid = core::MonoidKind::Combine;
  const auto yields = out.first(core::yieldsOf(spec));
  const TypeId yielded = b_.typeOf(yields.back());
  core::NestOwn own;
  if (shape.unit) own = {{shape.unit}, combination(node, shape, yielded), {}};
  if (shape.filter) {
    own.size = b_.newDim("n");
    dimMap_[node.resultDims[0]] = types_.dims.symbol(own.size);
  }
  made.add(spec, yields, own);
  size_t next = yields.size();
  if (shape.counts) made.add(resultOf(NestKind::Sum, axes), out[next++]);
  if (shape.leaves) made.add(resultOf(NestKind::Min, axes), out[next]);
  return made.type(0);
}

/// The value of the expression from the first `own` results of the op.
ValueId BodyLowering::nestResult(const Node& node, const NestBody& shape, core::OpId made, size_t own) {
  const Nest& ref = node.as<Nest>();
  if (shape.counts)
    check(core::CheckKind::NotEmpty, {}, {types_.dims.symbol(b_.bindDim(b_.result(made, own), "n"))},
          std::string(core::infoOf(monoidOf(ref.kind)).builtin));
  if (ref.kind == NestKind::Collect) return cast(b_.result(made), T(node.type));
  std::vector<ValueId> parts;
  if (shape.positions)
    parts = unflatten(ref, b_.getAt(shape.positions, std::vector<ValueId>{b_.result(made)}));
  else
    for (size_t k = 0; k < own; ++k) parts.push_back(b_.result(made, k));
  return parts.size() == 1 ? parts[0] : b_.make(T(node.type), std::move(parts));
}

ValueId BodyLowering::nest(NodeId n) {
  const Node& node = instance_.nodes[n];
  const Nest& ref = node.as<Nest>();
  // Over no axes the domain is one point (rule 28): the body alone.
  bool onePoint =
      ref.axes.empty() && !ref.filtered && ref.kind != NestKind::ArgMax && ref.kind != NestKind::ArgMin;
  if (onePoint) return expr(node.children[0]);
  std::vector<DimId> dims;
  for (const NestAxis& axis : ref.axes) dims.push_back(D(axis.extent));
  bool keepsAll = ref.kind == NestKind::Collect && !ref.filtered;
  keepsAll ? checkExtents(ref.axes) : checkCounts(ref.axes);
  auto hoistedBefore = hoisted_;
  const size_t rows = hoist(n);
  NestBody shape = shapeOf(node, dims);
  shape.unit = unitBefore(node, shape);
  core::NestBuilder made(b_);
  std::vector<ValueId> out;
  inRegion(made.body(), [&] { out = nestBody(n, shape, dims, made, rows); });
  const TypeId type = addResults(node, shape, out, made);
  const size_t all = made.results(), own = all - size_t(shape.counts) - size_t(shape.leaves);
  if (types_.kind(type) == TypeKind::Array && !shape.filter) checkShape(types_[type].dims);
  if (shape.needsOne && !shape.counts)
    check(core::CheckKind::NotEmpty, {}, {types_.dims.product(dims)},
          std::string(core::infoOf(monoidOf(ref.kind)).builtin));
  const core::OpId op = made.finish();
  if (shape.leaves) leaveAt(node, b_.result(op, all - 1));
  hoisted_ = hoistedBefore;
  auto finish = [&] { return nestResult(node, shape, op, own); };
  return shape.leaves ? guarded(node.type, finish) : finish();
}

} // namespace melix::lower
