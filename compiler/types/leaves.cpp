#include "types/leaves.h"

namespace melix::types {

bool isProduct(const TypeStore& types, TypeId type) {
  const TypeKind kind = types.kind(type);
  return kind == TypeKind::Tuple || kind == TypeKind::Struct || kind == TypeKind::Known;
}

uint32_t partsOf(const TypeStore& types, TypeId product) {
  const Type& t = types[product];
  const bool isStruct = t.kind == TypeKind::Struct;
  return static_cast<uint32_t>(isStruct ? types.recordInfo(t.record).cases[0].fields.size() : t.parts.size());
}

TypeId partOf(TypeStore& types, TypeId product, uint32_t k) {
  return types.kind(product) == TypeKind::Struct ? types.fieldType(product, 0, k) : types[product].parts[k];
}

namespace {

/// Parts without leaves, `()` say, cost a visit all the same.
size_t countLeaves(TypeStore& types, TypeId type, size_t most, size_t& visits) {
  if (!isProduct(types, type)) return 1;
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
  if (!isProduct(types, type)) return false;
  const size_t count = leafCount(types, type, most);
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

std::vector<Leaf> leavesOf(TypeStore& types, TypeId type, size_t most) {
  std::vector<Leaf> out;
  addLeaves(types, {type, {}}, most, out);
  return out;
}

} // namespace melix::types
