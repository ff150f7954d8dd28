// Element-wise work as nests.
#include "core/ir/nest.h"
#include "lower/body.h"

namespace melix::lower {

using namespace check;

/// The element of an argument at a point of `axes`, whose extents are `dims`: trailing axes align, an extent
/// of 1 stretches.
ValueId BodyLowering::elementAt(ValueId argument, const std::vector<DimId>& dims,
                                const std::vector<ValueId>& axes) {
  TypeId type = b_.typeOf(argument);
  if (types_.kind(type) != TypeKind::Array) return argument;
  const std::vector<DimId>& own = types_[type].dims;
  std::vector<ValueId> index;
  for (size_t a = 0; a < own.size(); ++a) {
    size_t at = dims.size() - own.size() + a;
    bool stretched = types_.dims.asConstant(own[a]) == 1 && types_.dims.asConstant(dims[at]) != 1;
    index.push_back(stretched ? b_.integer(0) : axes[at]);
  }
  return b_.getAt(argument, index);
}

/// The array of what `element` gives at each point of the array type `type`.
ValueId BodyLowering::collected(TypeId type,
                                const std::function<ValueId(const std::vector<ValueId>&)>& element) {
  core::NestBuilder nest(b_);
  const std::vector<ValueId> axes = nest.openAxes(types_[type].dims);
  inRegion(nest.body(), [&] { nest.collect(element(axes)); });
  return nest.one();
}

ValueId BodyLowering::elementwise(const Node& node) {
  const std::vector<LocalId>& elements = node.as<Elementwise>().elements;
  NodeId body = node.children.back();
  std::vector<NodeId> args(node.children.begin(), node.children.end() - 1);
  return after(args, node.type, [&](std::vector<ValueId> v) {
    TypeId type = T(node.type);
    const std::vector<DimId>& dims = types_[type].dims;
    auto hasShape = [&](ValueId a) { return types_[b_.typeOf(a)].dims == dims; };
    if (std::none_of(v.begin(), v.end(), hasShape)) checkShape(dims);
    return collected(type, [&](const std::vector<ValueId>& axes) {
      for (size_t k = 0; k < v.size(); ++k) values_[elements[k]] = elementAt(v[k], dims, axes);
      return expr(body);
    });
  });
}

/// One step of a sum or product of integers or of arrays of them, checked under `--check-overflow`.
ValueId BodyLowering::step(OpKind kind, ValueId left, ValueId right) {
  TypeId type = b_.typeOf(left);
  if (types_.kind(type) != TypeKind::Array) return applied({kind, 0}, type, {left, right});
  return collected(type, [&](const std::vector<ValueId>& axes) {
    return step(kind, b_.getAt(left, axes), b_.getAt(right, axes));
  });
}

} // namespace melix::lower
