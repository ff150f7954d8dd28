// Builders and reductions as nests.
#include "core/nest.h"
#include "lower/body.h"

#include <limits>

namespace melix::lower {

using namespace check;

/// A reduction that needs an element, as its panic names it.
static const char* reductionName(NestKind kind) {
  switch (kind) {
  case NestKind::ArgMax: return "argmax";
  case NestKind::ArgMin: return "argmin";
  case NestKind::Max: return "max";
  default: return "min";
  }
}

core::NestResult BodyLowering::resultOf(NestKind kind, size_t axes) {
  core::NestResult r;
  r.kind = kind == NestKind::Collect ? core::NestResultKind::Collect : core::NestResultKind::Reduce;
  if (kind == NestKind::Collect)
    for (uint32_t k = 0; k < axes; ++k) r.keep.push_back(k);
  switch (kind) {
  case NestKind::Prod: r.monoid = core::MonoidKind::Prod; break;
  case NestKind::Min: r.monoid = core::MonoidKind::Min; break;
  case NestKind::Max: r.monoid = core::MonoidKind::Max; break;
  case NestKind::Any: r.monoid = core::MonoidKind::Or; break;
  case NestKind::All: r.monoid = core::MonoidKind::And; break;
  case NestKind::ArgMin: r.monoid = core::MonoidKind::ArgMin; break;
  case NestKind::ArgMax: r.monoid = core::MonoidKind::ArgMax; break;
  case NestKind::Reduce: r.monoid = core::MonoidKind::Combine; break;
  default: r.monoid = core::MonoidKind::Sum; break;
  }
  if (kind == NestKind::ArgMin || kind == NestKind::ArgMax) r.results = static_cast<uint32_t>(axes);
  return r;
}

/// What a filtered-out element contributes to a reduction.
ValueId BodyLowering::monoidUnit(NestKind kind, TypeId type) {
  if (kind == NestKind::Sum) return types_.isScalar(type) ? b_.constant(type, 0) : b_.zero(type);
  if (kind == NestKind::Any || kind == NestKind::All) return b_.boolean(kind == NestKind::All);
  TypeKind k = types_.kind(type);
  if (types::isFloatKind(k)) {
    double inf = std::numeric_limits<double>::infinity();
    return b_.number(type, kind == NestKind::Prod                              ? 1.0
                           : kind == NestKind::Max || kind == NestKind::ArgMax ? -inf
                                                                               : inf);
  }
  if (kind == NestKind::Prod) return b_.constant(type, 1);
  unsigned bits = types::scalarBits(k);
  bool isSigned = types::scalarClass(k) == types::ScalarClass::SInt;
  uint64_t all = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1, top = uint64_t(1) << (bits - 1);
  bool least = kind == NestKind::Max || kind == NestKind::ArgMax;
  return b_.constant(type, least ? (isSigned ? top : 0) : (isSigned ? top - 1 : all));
}

/// The positions that pass a filter, counted over all axes together in row-major order: int[n], n decided
/// here.
ValueId BodyLowering::positions(const Nest& ref, NodeId filter) {
  core::NestResult result;
  result.kind = core::NestResultKind::Filter;
  result.yields = 2;
  core::Op op = core::nestOf({result});
  op.dims = {flatExtent(ref)};
  RegionId outer = b_.region, region = b_.newRegion();
  Values before = values_;
  types::DimSubst dimsBefore = dimMap_;
  b_.region = region;
  ValueId i = flatParam(ref);
  bool leaves = exitsIn(filter, true, {});
  if (leaves) values_[exit_] = b_.integer(static_cast<int64_t>(core::exits::on));
  ValueId keep = orFiller(cast(expr(filter), types_.boolean()), types_.boolean());
  if (leaves) keep = b_.select(exitIs(core::exits::on), keep, b_.boolean(true)); // it leaves there again
  b_.yield({keep, i});
  b_.region = outer;
  values_ = before;
  dimMap_ = dimsBefore;
  op.regions = {region};
  op.resultDims = {b_.newDim("n")};
  TypeId type = types_.array(types_.int64(), {types_.dims.symbol(op.resultDims[0])});
  return b_.one(std::move(op), type);
}

DimId BodyLowering::flatExtent(const Nest& ref) {
  std::vector<DimId> dims;
  for (const NestAxis& axis : ref.axes) dims.push_back(D(axis.extent));
  return types_.dims.product(dims);
}

/// One parameter for all axes; the indices of the axes are found from it.
ValueId BodyLowering::flatParam(const Nest& ref) {
  if (ref.axes.size() == 1) return axisParam(ref.axes[0]);
  ValueId flat = b_.param(types_.int64());
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

ValueId BodyLowering::axisParam(const NestAxis& axis) {
  ValueId i = b_.param(types_.int64(), instance_.locals[axis.index].name);
  define(axis.index, i);
  return i;
}

/// The region of a builder or reduction: what it yields, and the type of an element.
TypeId BodyLowering::nestBody(const Node& node, const NestBody& shape) {
  const Nest& ref = node.as<Nest>();
  if (shape.positions) {
    ValueId j = b_.param(types_.int64());
    defineAxes(ref, b_.getAt(shape.positions, std::vector<ValueId>{j}));
  } else if (shape.filter) {
    flatParam(ref);
  } else {
    for (const NestAxis& axis : ref.axes) axisParam(axis);
  }
  if (shape.leaves) values_[exit_] = b_.integer(static_cast<int64_t>(core::exits::on));
  std::vector<ValueId> out;
  ValueId value = nestValue(node, shape, out);
  if (shape.leaves) {
    int64_t never = std::numeric_limits<int64_t>::max();
    out.push_back(b_.select(exitIs(core::exits::on), b_.integer(never), flatIndex(ref)));
  }
  b_.yield(std::move(out));
  return b_.typeOf(value);
}

/// The value of the body where the filter lets it pass; `out` is what the region yields for it.
ValueId BodyLowering::nestValue(const Node& node, const NestBody& shape, std::vector<ValueId>& out) {
  const Nest& ref = node.as<Nest>();
  TypeId type = instance_.nodes[node.children[0]].type;
  if (!ref.filtered || shape.positions) {
    bool again = ref.filtered && exitsIn(node.children[1], true, {});
    Make body = [&] { return expr(node.children[0]); };
    ValueId value =
        again ? after({node.children[1]}, type, [&](std::vector<ValueId>) { return body(); }) : body();
    out = {orFiller(value, type)};
    return out[0];
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
  out = shape.filter ? std::vector<ValueId>{keep, value} : std::vector<ValueId>{value};
  if (shape.counts) out.push_back(b_.select(keep, b_.integer(1), b_.integer(0)));
  return value;
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

/// A value of a type, of which only its sizes matter: its arrays may be read, since reads move.
ValueId BodyLowering::filler(TypeId type) {
  const types::Type& t = types_[type];
  if (t.kind == TypeKind::Tuple || t.kind == TypeKind::Struct) {
    std::vector<ValueId> parts;
    size_t count =
        t.kind == TypeKind::Tuple ? t.parts.size() : types_.recordInfo(t.record).cases[0].fields.size();
    for (uint32_t k = 0; k < count; ++k)
      parts.push_back(filler(t.kind == TypeKind::Tuple ? t.parts[k] : types_.fieldType(type, 0, k)));
    return b_.make(type, std::move(parts));
  }
  if (t.kind == TypeKind::Pack) {
    core::Op op = Builder::simple(OpKind::Pack, {});
    op.dims.assign(t.number, types_.dims.constant(0));
    op.operands = {filler(types_.openPack(type, op.dims))};
    return b_.one(std::move(op), type);
  }
  bool empty =
      std::any_of(t.dims.begin(), t.dims.end(), [&](DimId d) { return types_.dims.asConstant(d) == 0; });
  if (t.kind == TypeKind::Array && empty)
    return b_.zero(type); // its elements may hold such arrays themselves
  if (t.kind != TypeKind::Array) return types_.kind(type) == TypeKind::Bool ? b_.boolean(false) : undef(type);
  return collected(type, [&](const std::vector<ValueId>&) { return filler(types_.element(type)); });
}

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
  shape.leaves = exitsIn(node.children[0], true, {}) || (ref.filtered && exitsIn(node.children[1], true, {}));
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

/// The op without regions and results; the unit of a user's monoid is computed before it.
core::Op BodyLowering::nestOp(const Node& node, NestBody& shape, const std::vector<DimId>& dims) {
  const Nest& ref = node.as<Nest>();
  core::NestResult result = resultOf(ref.kind, dims.size());
  if (shape.filter) {
    result.kind = core::NestResultKind::Filter;
    result.keep = {};
    result.yields = 2;
  }
  if (shape.checkedStep) result.monoid = core::MonoidKind::Combine;
  if (result.monoid == core::MonoidKind::Combine) result.combineRegion = 1;
  std::vector<core::NestResult> results{result};
  if (shape.counts) results.push_back(resultOf(NestKind::Sum, dims.size()));
  if (shape.leaves) results.push_back(resultOf(NestKind::Min, dims.size()));
  core::Op op = core::nestOf(std::move(results));
  op.dims = dims;
  if (ref.kind == NestKind::Reduce) {
    shape.unit = expr(node.children[node.children.size() - 2]);
    op.operands = {shape.unit};
  } else if (shape.checkedStep) {
    op.operands = {monoidUnit(ref.kind, T(instance_.nodes[node.children[0]].type))};
  }
  return op;
}

/// The body, and how a user's monoid combines; the type of an element.
TypeId BodyLowering::nestRegions(const Node& node, const NestBody& shape, core::Op& op) {
  const Nest& ref = node.as<Nest>();
  RegionId outer = b_.region;
  Values before = values_;
  types::DimSubst dimsBefore = dimMap_;
  auto region = [&](const std::function<void()>& fill) {
    b_.region = b_.newRegion();
    op.regions.push_back(b_.region);
    fill();
    values_ = before;
    dimMap_ = dimsBefore;
  };
  TypeId yielded;
  region([&] { yielded = nestBody(node, shape); });
  if (ref.kind == NestKind::Reduce)
    region([&] {
      values_[ref.left] = b_.param(yielded);
      values_[ref.right] = b_.param(yielded);
      b_.yield({cast(expr(node.children.back()), yielded)});
    });
  else if (shape.checkedStep)
    region([&] {
      ValueId left = b_.param(yielded), right = b_.param(yielded);
      b_.yield({step(*shape.checkedStep, left, right)});
    });
  b_.region = outer;
  return yielded;
}

/// The types of what the nest itself gives; the size of a filtered builder is defined by the op.
std::vector<TypeId> BodyLowering::nestTypes(const Node& node, const NestBody& shape, core::Op& op,
                                            TypeId yielded) {
  const Nest& ref = node.as<Nest>();
  if (ref.kind == NestKind::ArgMax || ref.kind == NestKind::ArgMin)
    return std::vector<TypeId>(op.dims.size(), types_.int64());
  if (shape.filter) {
    op.resultDims = {b_.newDim("n")};
    dimMap_[node.resultDims[0]] = types_.dims.symbol(op.resultDims[0]);
    return {T(node.type)};
  }
  if (ref.kind != NestKind::Collect) return {yielded};
  std::vector<DimId> all = op.dims;
  if (types_.kind(yielded) == TypeKind::Array)
    for (DimId d : types_[yielded].dims) all.push_back(d);
  return {types_.array(types_.element(yielded), std::move(all))};
}

/// The value of the expression from the first `own` results of the op.
ValueId BodyLowering::nestResult(const Node& node, const NestBody& shape, core::OpId made, size_t own) {
  const Nest& ref = node.as<Nest>();
  if (shape.counts)
    check(core::CheckKind::NotEmpty, {}, {types_.dims.symbol(b_.bindDim(b_.result(made, own), "n"))},
          reductionName(ref.kind));
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
  hoist(n);
  NestBody shape = shapeOf(node, dims);
  core::Op op = nestOp(node, shape, dims);
  TypeId yielded = nestRegions(node, shape, op);
  // What the nest gives: its own results, the number of elements that passed, where control left.
  std::vector<TypeId> resultTypes = nestTypes(node, shape, op, yielded);
  size_t own = resultTypes.size();
  resultTypes.insert(resultTypes.end(), size_t(shape.counts) + size_t(shape.leaves), types_.int64());
  bool isArray = types_.kind(resultTypes[0]) == TypeKind::Array;
  if (isArray && !shape.filter) checkShape(types_[resultTypes[0]].dims);
  if (shape.needsOne && !shape.counts)
    check(core::CheckKind::NotEmpty, {}, {types_.dims.product(dims)}, reductionName(ref.kind));
  core::OpId made = b_.append(std::move(op), std::span<const TypeId>(resultTypes));
  if (shape.leaves) leaveAt(node, b_.result(made, resultTypes.size() - 1));
  hoisted_ = hoistedBefore;
  auto finish = [&] { return nestResult(node, shape, made, own); };
  return shape.leaves ? guarded(node.type, finish) : finish();
}

} // namespace melix::lower
