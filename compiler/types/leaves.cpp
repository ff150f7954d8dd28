#include "types/leaves.h"

#include "types/flat_enums.h"

#include <algorithm>

namespace melix::types {

bool hasParts(TypeStore& types, TypeId type) {
  switch (types.kind(type)) {
  case TypeKind::Tuple:
  case TypeKind::Struct:
  case TypeKind::Known: return true;
  default: return flatEnum(types, type) != nullptr;
  }
}

uint32_t partsOf(TypeStore& types, TypeId product) {
  const Type& t = types[product];
  switch (t.kind) {
  case TypeKind::Array: return partsOf(types, t.parts[0]);
  case TypeKind::Struct: return static_cast<uint32_t>(types.recordInfo(t.record).cases[0].fields.size());
  case TypeKind::Enum: return static_cast<uint32_t>(1 + flatEnum(types, product)->slots.size());
  default: return static_cast<uint32_t>(t.parts.size());
  }
}

TypeId partOf(TypeStore& types, TypeId product, uint32_t k) {
  switch (types.kind(product)) {
  case TypeKind::Array: {
    const std::vector<DimId> dims = types[product].dims;
    return types.array(partOf(types, types.element(product), k), dims);
  }
  case TypeKind::Struct: return types.fieldType(product, 0, k);
  case TypeKind::Enum: {
    const FlatEnum& flat = *flatEnum(types, product);
    return k == 0 ? flat.tag : withSizesOf(types, product, flat.slots[k - 1]);
  }
  default: return types[product].parts[k];
  }
}

namespace {

/// Parts without leaves, `()` say, cost a visit all the same.
size_t countLeaves(TypeStore& types, TypeId type, size_t most, size_t& visits) {
  if (types.kind(type) == TypeKind::Array) {
    const size_t inElement = countLeaves(types, types.element(type), mostLeaves, visits);
    if (visits == 0) return most + 1;
    return inElement == 0 || inElement > mostLeaves ? 1 : inElement;
  }
  if (!hasParts(types, type)) return 1;
  size_t sum = 0;
  for (uint32_t k = 0, n = partsOf(types, type); k < n && sum <= most; ++k) {
    if (visits == 0) return most + 1;
    --visits;
    sum += countLeaves(types, partOf(types, type, k), most - sum, visits);
  }
  return sum;
}

} // namespace

size_t leafCount(TypeStore& types, TypeId type, size_t most) {
  size_t visits = 16 * (most + 1);
  return countLeaves(types, type, most, visits);
}

bool isFlattened(TypeStore& types, TypeId type, size_t most) {
  if (types.kind(type) == TypeKind::Acc) type = types[type].parts[0];
  const TypeId element = types.element(type);
  if (!hasParts(types, element)) return false;
  if (element != type) most = std::min(most, mostLeaves);
  const size_t count = leafCount(types, element, most);
  return count > 0 && count <= most;
}

namespace {

void addLeaves(TypeStore& types, Leaf at, size_t most, std::vector<Leaf>& out) {
  if (!isFlattened(types, at.type, most)) return out.push_back(std::move(at));
  const bool isAcc = types.kind(at.type) == TypeKind::Acc;
  const TypeId product = isAcc ? types[at.type].parts[0] : at.type;
  for (uint32_t k = 0, n = partsOf(types, product); k < n; ++k) {
    const TypeId part = partOf(types, product, k);
    Leaf inner{isAcc ? types.acc(part) : part, at.path};
    inner.path.push_back(k);
    addLeaves(types, std::move(inner), most, out);
  }
}

} // namespace

std::optional<uint64_t> bytesInPlace(const TypeStore& types, TypeId array) {
  const Type& t = types[array];
  if (t.kind != TypeKind::Array || !types.isScalar(t.parts[0])) return std::nullopt;
  uint64_t bytes = scalarBits(types.kind(t.parts[0])) / 8;
  for (DimId d : t.dims) {
    const std::optional<int64_t> size = types.dims.asConstant(d);
    if (!size || *size < 0) return std::nullopt;
    bytes =
        std::min(bytes * std::min(static_cast<uint64_t>(*size), mostBytesInPlace + 1), mostBytesInPlace + 1);
  }
  return bytes <= mostBytesInPlace ? std::optional(bytes) : std::nullopt;
}

std::vector<Leaf> leavesOf(TypeStore& types, TypeId type, size_t most) {
  std::vector<Leaf> out;
  addLeaves(types, {type, {}}, most, out);
  return out;
}

} // namespace melix::types
