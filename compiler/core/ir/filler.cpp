#include "core/ir/filler.h"

#include "core/ir/nest.h"

#include <algorithm>

namespace melix::core {

namespace {

ValueId ofParts(Builder& b, TypeId type) {
  types::TypeStore& types = b.types();
  const bool isTuple = types.kind(type) == TypeKind::Tuple;
  const size_t count =
      isTuple ? types[type].parts.size() : types.recordInfo(types[type].record).cases[0].fields.size();
  Operands parts;
  for (uint32_t k = 0; k < count; ++k)
    parts.push_back(filler(b, isTuple ? types[type].parts[k] : types.fieldType(type, 0, k)));
  return b.make(type, std::move(parts));
}

ValueId ofPack(Builder& b, TypeId type) {
  Op op = Builder::simple(OpKind::Pack, {});
  op.dims.resize(b.types()[type].number, b.dims().constant(0));
  op.operands = {filler(b, b.types().openPack(type, op.dims))};
  return b.one(std::move(op), type);
}

/// A negative size counts as 0: the check of it has not run where a filler stands.
ValueId ofArray(Builder& b, TypeId type) {
  types::DimStore& dims = b.dims();
  std::vector<DimId> extents(b.types()[type].dims.begin(), b.types()[type].dims.end());
  for (DimId& d : extents) d = dims.nonNegative(d);
  const TypeId element = b.types().element(type);
  const bool isEmpty = std::ranges::any_of(extents, [&](DimId d) { return dims.asConstant(d) == 0; });
  if (isEmpty || b.types().isScalar(element)) // no elements that hold such arrays
    return b.castDims(b.zero(b.types().array(element, extents)), type);
  NestBuilder nest(b);
  nest.openAxes(extents);
  Builder body = b.in(nest.body());
  nest.collect(filler(body, element));
  return b.castDims(nest.one(), type);
}

} // namespace

ValueId filler(Builder& b, TypeId type) {
  switch (b.types().kind(type)) {
  case TypeKind::Tuple:
  case TypeKind::Struct: return ofParts(b, type);
  case TypeKind::Pack: return ofPack(b, type);
  case TypeKind::Array: return ofArray(b, type);
  case TypeKind::Bool: return b.boolean(false);
  default: return b.undef(type);
  }
}

} // namespace melix::core
