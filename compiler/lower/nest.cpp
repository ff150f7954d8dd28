// Builders and reductions as nests.
#include "core/ir/nest.h"
#include "lower/nest.h"

#include "core/analysis/evaluate.h"
#include "core/ir/filler.h"
#include "lower/body.h"
#include "lower/call.h"
#include "lower/control.h"
#include "lower/elementwise.h"
#include "lower/expr.h"
#include "lower/hoist.h"
#include "lower/loops.h"
#include "lower/sizes.h"

#include <array>
#include <limits>

namespace melix::lower {

using namespace check;

namespace {

struct NestBody {
  bool filter = false;               ///< yields (bool, value)
  bool counts = false;               ///< yields 1 for elements that pass the filter, after the value
  bool leaves = false;               ///< `?` in the body: yields the position where control left, last
  bool needsOne = false;             ///< there is no result without an element
  ValueId positions;                 ///< the positions that passed the filter, when these are found first
  ValueId unit;                      ///< of a user's monoid
  std::optional<OpKind> checkedStep; ///< an integer sum or product that must not wrap

  /// Whether it yields its value alone, at each point, by a monoid that is known.
  bool isPlain() const {
    return !filter && !counts && !leaves && !needsOne && !positions && !unit && !checkedStep;
  }
};

std::vector<ValueId> pointBody(BodyLowering& fn, NodeId n, const NestBody& shape, std::span<const DimId> dims,
                               core::NestBuilder& made, size_t rows);

/// The result of a nest over so many axes.
core::NestResult specOf(const Nest& ref, size_t axes) {
  return ref.reduction ? core::reducing(*ref.reduction) : core::collecting(axes);
}

/// What a filtered-out element contributes to a reduction.
ValueId monoidUnit(BodyLowering& fn, MonoidKind monoid, TypeId type) {
  if (!fn.types.isScalar(type)) return fn.b.zero(type);
  return fn.b.constant(type, core::unitOf(monoid, fn.types.kind(type)));
}

DimId flatExtent(BodyLowering& fn, const Nest& ref) {
  std::vector<DimId> dims;
  for (const NestAxis& axis : ref.axes) dims.push_back(fn.D(axis.extent));
  return fn.types.dims.product(dims);
}

/// The indices of the axes at the row-major position `flat`.
std::vector<ValueId> unflatten(BodyLowering& fn, const Nest& ref, ValueId flat) {
  std::vector<ValueId> indices(ref.axes.size(), flat);
  ValueId rest = flat;
  for (size_t k = ref.axes.size(); k-- > 0;) {
    DimId extent = fn.D(ref.axes[k].extent);
    indices[k] = k > 0 ? fn.b.binary(OpKind::IRem, rest, fn.b.dimValue(extent)) : rest;
    if (k > 0) rest = fn.b.binary(OpKind::IDiv, rest, fn.b.dimValue(extent));
  }
  return indices;
}

void defineAxes(BodyLowering& fn, const Nest& ref, ValueId flat) {
  const std::vector<ValueId> indices = unflatten(fn, ref, flat);
  for (size_t k = 0; k < indices.size(); ++k) fn.define(ref.axes[k].index, indices[k]);
}

/// One parameter for all axes; the indices of the axes are found from it.
ValueId flatParam(BodyLowering& fn, core::NestBuilder& made, const Nest& ref) {
  if (ref.axes.size() == 1) return axisParam(fn, made, fn.D(ref.axes[0].extent), ref.axes[0].index);
  ValueId flat = made.axis(flatExtent(fn, ref));
  defineAxes(fn, ref, flat);
  return flat;
}

/// The positions that pass a filter, counted over all axes together in row-major order: int[n], n decided
/// here.
ValueId positions(BodyLowering& fn, const Nest& ref, NodeId filter) {
  core::NestBuilder made(fn.b);
  ValueId keep, i;
  inRegion(fn, made.body(), [&] {
    i = flatParam(fn, made, ref);
    bool leaves = exitsIn(fn.instance, filter);
    if (leaves) fn.values[fn.exits.code] = fn.b.integer(static_cast<int64_t>(core::exits::on));
    keep = orFiller(fn, fn.cast(fn.expr(filter), fn.types.boolean()), fn.types.boolean());
    if (leaves)
      keep = fn.b.select(exitIs(fn, core::exits::on), keep, fn.b.boolean(true)); // it leaves there again
  });
  made.add(core::filtering(), std::array{keep, i}, {{}, {}, fn.b.newDim("n")});
  return made.one();
}

/// What a builder or reduction gives over its last axes, at a point of those in front.
ValueId rowOf(BodyLowering& fn, NodeId n, const NestBody& shape, std::span<const DimId> dims, size_t rows) {
  core::NestBuilder made(fn.b);
  ValueId value;
  inRegion(fn, made.body(), [&] { value = pointBody(fn, n, shape, dims, made, rows)[0]; });
  made.add(specOf(fn.instance.nodes[n].as<Nest>(), made.axes().size()), value);
  return made.one();
}

/// The value of the body where the filter lets it pass, as the region yields it.
std::vector<ValueId> nestValue(BodyLowering& fn, const Node& node, const NestBody& shape) {
  const Nest& ref = node.as<Nest>();
  TypeId type = fn.instance.nodes[node.children[0]].type;
  if (!ref.filtered || shape.positions) {
    bool again = ref.filtered && exitsIn(fn.instance, node.children[1]);
    Make body = [&] { return fn.expr(node.children[0]); };
    ValueId value =
        again ? fn.after({node.children[1]}, type, [&](std::vector<ValueId>) { return body(); }) : body();
    return {orFiller(fn, value, type)};
  }
  ValueId keep = orFiller(fn, fn.cast(fn.expr(node.children[1]), fn.types.boolean()), fn.types.boolean());
  ValueId value = branches(
      fn, Builder::simple(OpKind::If, {keep}),
      {[&](RegionId) { return orFiller(fn, fn.expr(node.children[0]), type); },
       [&](RegionId) {
         TypeId t = fn.T(type);
         return shape.filter ? fn.b.undef(t) : shape.unit ? shape.unit : monoidUnit(fn, *ref.reduction, t);
       }},
      type, {});
  std::vector<ValueId> out = shape.filter ? std::vector<ValueId>{keep, value} : std::vector<ValueId>{value};
  if (shape.counts) out.push_back(fn.b.select(keep, fn.b.integer(1), fn.b.integer(0)));
  return out;
}

/// The body over the last axes, `dims`, of a builder or reduction. The first `rows` of these stand around the
/// others if something is computed ahead then.
std::vector<ValueId> pointBody(BodyLowering& fn, NodeId n, const NestBody& shape, std::span<const DimId> dims,
                               core::NestBuilder& made, size_t rows) {
  const Nest& ref = fn.instance.nodes[n].as<Nest>();
  const size_t around = ref.axes.size() - dims.size();
  size_t open = 0;
  auto openTo = [&](size_t end) {
    for (; open < end; ++open) axisParam(fn, made, dims[open], ref.axes[around + open].index);
  };
  while (rows > 0) {
    openTo(open + rows);
    const size_t before = fn.hoisting.ahead.size();
    rows = hoist(fn, n, around + open);
    if (fn.hoisting.ahead.size() > before) return {rowOf(fn, n, shape, dims.subspan(open), rows)};
  }
  openTo(dims.size());
  return nestValue(fn, fn.instance.nodes[n], shape);
}

/// The row-major position of the point at hand.
ValueId flatIndex(BodyLowering& fn, const Nest& ref) {
  ValueId flat = fn.values.at(ref.axes[0].index);
  for (size_t k = 1; k < ref.axes.size(); ++k) {
    flat = fn.b.binary(OpKind::Mul, flat, fn.b.dimValue(fn.D(ref.axes[k].extent)));
    flat = fn.b.binary(OpKind::Add, flat, fn.values.at(ref.axes[k].index));
  }
  return flat;
}

/// The body of a builder or reduction over `dims`: what it yields.
std::vector<ValueId> nestBody(BodyLowering& fn, NodeId n, const NestBody& shape,
                              const std::vector<DimId>& dims, core::NestBuilder& made, size_t rows) {
  const Node& node = fn.instance.nodes[n];
  const Nest& ref = node.as<Nest>();
  if (shape.isPlain()) return pointBody(fn, n, shape, dims, made, rows);
  if (shape.positions) {
    ValueId j = made.axis(dims[0]);
    defineAxes(fn, ref, fn.b.getAt(shape.positions, std::vector<ValueId>{j}));
  } else if (shape.filter) {
    flatParam(fn, made, ref);
  } else {
    for (size_t k = 0; k < dims.size(); ++k) axisParam(fn, made, dims[k], ref.axes[k].index);
  }
  if (shape.leaves) fn.values[fn.exits.code] = fn.b.integer(static_cast<int64_t>(core::exits::on));
  std::vector<ValueId> out = nestValue(fn, node, shape);
  if (shape.leaves) {
    int64_t never = std::numeric_limits<int64_t>::max();
    out.push_back(fn.b.select(exitIs(fn, core::exits::on), fn.b.integer(never), flatIndex(fn, ref)));
  }
  return out;
}

/// Leaves as the body does at the first position where it does: it runs there once more (rule 13).
void leaveAt(BodyLowering& fn, const Node& node, ValueId position) {
  const Nest& ref = node.as<Nest>();
  ValueId left = fn.b.compare(ops::CmpKind::Lt, position, fn.b.integer(std::numeric_limits<int64_t>::max()));
  auto body = [&](RegionId) {
    fn.expr(node.children[0]);
    return fn.unit();
  };
  auto again = [&](RegionId) {
    defineAxes(fn, ref, position);
    if (!ref.filtered) return body({});
    return fn.after({node.children[1]}, fn.types.unit(), [&](std::vector<ValueId> keep) {
      return branches(fn, Builder::simple(OpKind::If, {keep[0]}), {body, [&](RegionId) { return fn.unit(); }},
                      fn.types.unit(), {});
    });
  };
  branches(fn, Builder::simple(OpKind::If, {left}), {again, [&](RegionId) { return fn.unit(); }},
           fn.types.unit(), {});
}

/// The operation of an integer sum or product each step of which is checked under `--check-overflow`.
std::optional<OpKind> checkedStep(BodyLowering& fn, std::optional<MonoidKind> monoid, TypeId type) {
  TypeId element = fn.types.kind(type) == TypeKind::Array ? fn.types.element(type) : type;
  const bool adds = monoid == MonoidKind::Sum || monoid == MonoidKind::Prod;
  return adds && checksOverflow(fn, element) ? core::infoOf(*monoid).op : std::nullopt;
}

/// What the body of a nest yields. Where a filter decides the positions first, their number takes the place
/// of `dims`.
NestBody shapeOf(BodyLowering& fn, const Node& node, std::vector<DimId>& dims) {
  const Nest& ref = node.as<Nest>();
  NestBody shape;
  const bool collects = !ref.reduction;
  const bool arg = ref.isPosition();
  shape.leaves =
      exitsIn(fn.instance, node.children[0]) || (ref.filtered && exitsIn(fn.instance, node.children[1]));
  shape.filter = ref.filtered && collects;
  if (ref.filtered && arg) {
    shape.positions = positions(fn, ref, node.children[1]);
    dims = fn.types[fn.b.typeOf(shape.positions)].dims;
  } else if (shape.filter) {
    dims = {flatExtent(fn, ref)};
  }
  const bool extremum = ref.reduction && core::infoOf(*ref.reduction).position;
  shape.needsOne = arg || (extremum && !fn.types.isFloat(fn.instance.nodes[node.children[0]].type));
  shape.counts = shape.needsOne && ref.filtered && !shape.positions;
  shape.checkedStep = checkedStep(fn, ref.reduction, fn.T(fn.instance.nodes[node.children[0]].type));
  return shape;
}

/// The unit of a monoid that is a combination written in Core, computed before the nest: the user's, or that
/// of a checked step. None for others.
ValueId unitBefore(BodyLowering& fn, const Node& node, const NestBody& shape) {
  const Nest& ref = node.as<Nest>();
  if (ref.reduction == MonoidKind::Combine) return fn.expr(node.children[node.children.size() - 2]);
  return shape.checkedStep ? monoidUnit(fn, *ref.reduction, fn.T(fn.instance.nodes[node.children[0]].type))
                           : ValueId::none();
}

/// The region in which two values of a type are combined.
RegionId combination(BodyLowering& fn, const Node& node, const NestBody& shape, TypeId yielded) {
  const Nest& ref = node.as<Nest>();
  const RegionId region = fn.b.newRegion();
  inRegion(fn, region, [&] {
    ValueId left = fn.b.param(yielded), right = fn.b.param(yielded);
    if (shape.checkedStep) {
      fn.b.yield({reductionStep(fn, *shape.checkedStep, left, right)});
      return;
    }
    fn.values[ref.left] = left;
    fn.values[ref.right] = right;
    fn.b.yield({fn.cast(fn.expr(node.children.back()), yielded)});
  });
  return region;
}

/// Adds the results of the nest whose body yields `out`: its own first, then the number of elements that
/// passed, then where control left. The type of the first.
TypeId addResults(BodyLowering& fn, const Node& node, const NestBody& shape, std::span<const ValueId> out,
                  core::NestBuilder& made) {
  const Nest& ref = node.as<Nest>();
  const size_t axes = made.axes().size();
  core::NestResult spec = shape.filter ? core::filtering() : specOf(ref, axes);
  if (shape.checkedStep) spec.monoid = core::MonoidKind::Combine;
  const auto yields = out.first(core::yieldsOf(spec));
  const TypeId yielded = fn.b.typeOf(yields.back());
  core::NestOwn own;
  if (shape.unit) own = {{shape.unit}, combination(fn, node, shape, yielded), {}};
  if (shape.filter) {
    own.size = fn.b.newDim("n");
    fn.sizes.known[node.resultDims[0]] = fn.types.dims.symbol(own.size);
  }
  made.add(spec, yields, own);
  size_t next = yields.size();
  if (shape.counts) made.add(core::reducing(MonoidKind::Sum), out[next++]);
  if (shape.leaves) made.add(core::reducing(MonoidKind::Min), out[next]);
  return made.type(0);
}

/// The value of the expression from the first `own` results of the op.
ValueId nestResult(BodyLowering& fn, const Node& node, const NestBody& shape, core::OpId made, size_t own) {
  const Nest& ref = node.as<Nest>();
  if (shape.counts)
    fn.check(core::CheckKind::NotEmpty, {}, {fn.types.dims.symbol(fn.b.bindDim(fn.b.result(made, own), "n"))},
             std::string(core::infoOf(*ref.reduction).builtin));
  if (!ref.reduction) return fn.cast(fn.b.result(made), fn.T(node.type));
  std::vector<ValueId> parts;
  if (shape.positions)
    parts = unflatten(fn, ref, fn.b.getAt(shape.positions, std::vector<ValueId>{fn.b.result(made)}));
  else
    for (size_t k = 0; k < own; ++k) parts.push_back(fn.b.result(made, k));
  return parts.size() == 1 ? parts[0] : fn.b.make(fn.T(node.type), std::move(parts));
}

} // namespace

/// Lowers in a region: values and sizes that are known there only are forgotten behind it.
void inRegion(BodyLowering& fn, RegionId region, FunctionRef<void()> fill) {
  const RegionId outer = std::exchange(fn.b.region, region);
  const Values before = fn.values;
  const types::DimSubst dimsBefore = fn.sizes.known;
  fill();
  fn.values = before;
  fn.sizes.known = dimsBefore;
  fn.b.region = outer;
}

/// A further axis of a nest whose body is the region at hand; `index` is its parameter there.
ValueId axisParam(BodyLowering& fn, core::NestBuilder& made, DimId extent, LocalId index) {
  ValueId i = made.axis(extent, fn.instance.locals[index].name);
  fn.define(index, i);
  return i;
}

/// `value`, or one that nobody reads where control left the body at hand.
ValueId orFiller(BodyLowering& fn, ValueId value, TypeId type) {
  FlowKind flow = fn.exits.flow;
  fn.exits.flow = FlowKind::On;
  if (flow == FlowKind::On) return value;
  if (flow == FlowKind::Off) return filler(fn, fn.T(type));
  return branches(fn, Builder::simple(OpKind::If, {exitIs(fn, core::exits::on)}),
                  {[&](RegionId) { return value; }, [&](RegionId) { return filler(fn, fn.T(type)); }}, type,
                  {});
}

/// Arrays of it may be read, since reads move.
ValueId filler(BodyLowering& fn, TypeId type) { return core::filler(fn.b, type); }

ValueId lowerNest(BodyLowering& fn, NodeId n) {
  const Node& node = fn.instance.nodes[n];
  const Nest& ref = node.as<Nest>();
  // Over no axes the domain is one point (rule 28): the body alone.
  const bool onePoint = ref.axes.empty() && !ref.filtered && !ref.isPosition();
  if (onePoint) return fn.expr(node.children[0]);
  std::vector<DimId> dims;
  for (const NestAxis& axis : ref.axes) dims.push_back(fn.D(axis.extent));
  const bool keepsAll = !ref.reduction && !ref.filtered;
  keepsAll ? checkExtents(fn, ref.axes) : checkCounts(fn, ref.axes);
  auto hoistedBefore = fn.hoisting.ahead;
  const size_t rows = hoist(fn, n);
  NestBody shape = shapeOf(fn, node, dims);
  shape.unit = unitBefore(fn, node, shape);
  core::NestBuilder made(fn.b);
  std::vector<ValueId> out;
  inRegion(fn, made.body(), [&] { out = nestBody(fn, n, shape, dims, made, rows); });
  const TypeId type = addResults(fn, node, shape, out, made);
  const size_t all = made.results(), own = all - size_t(shape.counts) - size_t(shape.leaves);
  if (fn.types.kind(type) == TypeKind::Array && !shape.filter) checkShape(fn, fn.types[type].dims);
  if (shape.needsOne && !shape.counts)
    fn.check(core::CheckKind::NotEmpty, {}, {fn.types.dims.product(dims)},
             std::string(core::infoOf(*ref.reduction).builtin));
  const core::OpId op = made.finish();
  if (shape.leaves) leaveAt(fn, node, fn.b.result(op, all - 1));
  fn.hoisting.ahead = hoistedBefore;
  auto finish = [&] { return nestResult(fn, node, shape, op, own); };
  return shape.leaves ? fn.guarded(node.type, finish) : finish();
}

} // namespace melix::lower
