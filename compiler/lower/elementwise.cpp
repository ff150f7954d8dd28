// Element-wise work as nests.
#include "lower/elementwise.h"

#include "core/ir/nest.h"
#include "lower/body.h"
#include "lower/expr.h"
#include "lower/nest.h"
#include "lower/sizes.h"

namespace melix::lower {

using namespace check;

namespace {

/// The element of an argument at a point of `axes`, whose extents are `dims`: trailing axes align, an extent
/// of 1 stretches.
ValueId elementAt(BodyLowering& fn, ValueId argument, const std::vector<DimId>& dims,
                  const std::vector<ValueId>& axes) {
  TypeId type = fn.b.typeOf(argument);
  if (fn.types.kind(type) != TypeKind::Array) return argument;
  const std::vector<DimId>& own = fn.types[type].dims;
  std::vector<ValueId> index;
  for (size_t a = 0; a < own.size(); ++a) {
    size_t at = dims.size() - own.size() + a;
    bool stretched = fn.types.dims.asConstant(own[a]) == 1 && fn.types.dims.asConstant(dims[at]) != 1;
    index.push_back(stretched ? fn.b.integer(0) : axes[at]);
  }
  return fn.b.getAt(argument, index);
}

/// The array of what `element` gives at each point of the array type `type`.
ValueId collected(BodyLowering& fn, TypeId type, FunctionRef<ValueId(const std::vector<ValueId>&)> element) {
  core::NestBuilder nest(fn.b);
  const std::vector<ValueId> axes = nest.openAxes(fn.types[type].dims);
  inRegion(fn, nest.body(), [&] { nest.collect(element(axes)); });
  return nest.one();
}

} // namespace

ValueId lowerElementwise(BodyLowering& fn, const Node& node) {
  const std::vector<LocalId>& elements = node.as<Elementwise>().elements;
  NodeId body = node.children.back();
  std::vector<NodeId> args(node.children.begin(), node.children.end() - 1);
  return fn.after(args, node.type, [&](std::vector<ValueId> v) {
    TypeId type = fn.T(node.type);
    const std::vector<DimId>& dims = fn.types[type].dims;
    auto hasShape = [&](ValueId a) { return fn.types[fn.b.typeOf(a)].dims == dims; };
    if (std::none_of(v.begin(), v.end(), hasShape)) checkShape(fn, dims);
    return collected(fn, type, [&](const std::vector<ValueId>& axes) {
      for (size_t k = 0; k < v.size(); ++k) fn.values[elements[k]] = elementAt(fn, v[k], dims, axes);
      return fn.expr(body);
    });
  });
}

/// One step of a sum or product of integers or of arrays of them, checked under `--check-overflow`.
ValueId reductionStep(BodyLowering& fn, OpKind kind, ValueId left, ValueId right) {
  TypeId type = fn.b.typeOf(left);
  if (fn.types.kind(type) != TypeKind::Array) return applied(fn, {kind, 0}, type, {left, right});
  return collected(fn, type, [&](const std::vector<ValueId>& axes) {
    return reductionStep(fn, kind, fn.b.getAt(left, axes), fn.b.getAt(right, axes));
  });
}

} // namespace melix::lower
