// Products, enums, packs; and the way between leaves and stored forms.
#include "loops/emit/lower.h"

namespace melix::loops {

void Lower::lowerMake(const core::Op& op) {
  TypeId type = typeOf(op.results[0]);
  if (!layouts_.inBlock(type)) return define(op.results[0], leavesOf(op.operands));
  std::vector<std::vector<ValueId>> parts;
  for (core::ValueId v : op.operands) parts.push_back(leaves(v));
  define(op.results[0], {makeBlock(type, parts)});
}

void Lower::lowerCapture(const core::Op& op) {
  TypeId type = typeOf(op.operands[0]);
  const std::vector<ValueId> all = leaves(op.operands[0]);
  if (layouts_.inBlock(type))
    return define(op.results[0], loadStored(partOf(memoryPlace(all[0], type), op.index())));
  define(op.results[0], leavesOfPart(type, op.index(), all));
}

void Lower::lowerVariant(const core::Op& op) {
  TypeId type = typeOf(op.results[0]);
  uint32_t tag = op.index();
  if (op.operands.empty()) return define(op.results[0], {b_.constant(wordType, (uint64_t(tag) << 1) | 1)});
  std::vector<std::vector<ValueId>> fields;
  for (core::ValueId v : op.operands) fields.push_back(leaves(v));
  ValueId node =
      b_.value(StmtKind::AllocNode, {}, wordType, AllocAttr{type, layouts_.nodeBytes(type, tag), false});
  b_.store(node, {}, {scalarType(TypeKind::I32), 4, 0, false, false},
           b_.constant(scalarType(TypeKind::I32), tag));
  for (uint32_t k = 0; k < op.operands.size(); ++k) {
    Place place;
    place.inLeaves = false;
    place.base = node;
    place.type = typeOf(op.operands[k]);
    place.offset = layouts_.fieldOffset(type, tag, k);
    storeStored(place, fields[k], StoreMode::Fresh);
  }
  define(op.results[0], {node});
}

void Lower::lowerPack(const core::Op& op) {
  std::vector<ValueId> out;
  for (types::DimId d : op.dims) out.push_back(dim(d));
  for (ValueId v : leaves(op.operands[0])) out.push_back(v);
  define(op.results[0], out);
}

void Lower::lowerUnpack(const core::Op& op) {
  const std::vector<ValueId>& all = leaves(op.operands[0]);
  size_t hidden = op.resultDims.size();
  for (size_t k = 0; k < hidden; ++k) defineDim(op.resultDims[k], all[k]);
  define(op.results[0], {all.begin() + static_cast<long>(hidden), all.end()});
}

void Lower::enterPack(std::span<const ValueId> hidden) {
  std::vector<ValueId> around;
  for (uint32_t k = 0; dims_.find(types_.boundSym(k)).valid(); ++k)
    around.push_back(dims_.find(types_.boundSym(k)));
  for (size_t k = 0; k < around.size(); ++k)
    dims_.define(types_.boundSym(static_cast<uint32_t>(hidden.size() + k)), around[k]);
  for (size_t k = 0; k < hidden.size(); ++k) defineDim(types_.boundSym(static_cast<uint32_t>(k)), hidden[k]);
}

// --- stored forms
// ---------------------------------------------------------------------------------------------------

Access Lower::access(const Place& place, ValueType elem, int64_t more) const {
  return {elem, place.scale, place.offset + more, false, false};
}

std::vector<ValueId> Lower::loadStored(const Place& place, bool take) {
  TypeId type = place.type;
  TypeKind kind = types_.kind(type);
  auto one = [&](ValueType leaf, int64_t more) {
    Access a = access(place, leaf, more);
    a.transfersOwnership = take;
    return b_.load(place.base, place.terms, a);
  };
  if (kind == TypeKind::Str) return {one(dataType, 0), one(indexType, 8)};
  if (layouts_.inBlock(type)) return {loadBlock(place, take)};
  if (layouts_.isProduct(type)) {
    std::vector<ValueId> out;
    for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k)
      for (ValueId v : loadStored(partOf(place, k), take)) out.push_back(v);
    return out;
  }
  if (kind == TypeKind::Pack) {
    TypeId inner = layouts_.packInner(type);
    uint32_t count = layouts_.packCount(type);
    std::vector<ValueId> out(count);
    const std::vector<types::DimId>& dims = types_[inner].dims;
    for (uint32_t k = 0; k < count; ++k) {
      int64_t at = 8 * k;
      if (types_.kind(inner) == TypeKind::Array) {
        // The array carries its dims; one of them is the hidden dimension itself.
        size_t axis = 0;
        while (axis < dims.size() && types_.dims.asSymbol(dims[axis]) != types_.boundSym(k)) ++axis;
        if (axis == dims.size()) fail("an array whose hidden dimension is no axis");
        at = 8 + 8 * static_cast<int64_t>(axis);
      }
      out[k] = one(indexType, at);
    }
    Place part = place;
    part.type = inner;
    part.offset += layouts_.packOffset(type);
    for (ValueId v : loadStored(part, take)) out.push_back(v);
    return out;
  }
  const std::vector<ValueType> leaves = layouts_.leaves(type);
  if (leaves.empty()) return {};
  return {one(leaves[0], 0)};
}

void Lower::storeLeaf(const Place& place, ValueType type, int64_t more, ValueId v, StoreMode mode) {
  Access a = access(place, type, more);
  a.borrowed = mode == StoreMode::Lend;
  ValueId old;
  if (mode == StoreMode::Replace && type.counted()) {
    Access taking = a;
    taking.transfersOwnership = true;
    old = b_.load(place.base, place.terms, taking);
  }
  b_.store(place.base, place.terms, a, v);
  if (old) b_.stmt(StmtKind::Drop, {old});
}

void Lower::storeArray(const Place& place, TypeId type, ValueId data, const std::vector<ValueId>& dims,
                       StoreMode mode) {
  (void)type;
  storeLeaf(place, dataType, 0, data, mode);
  for (size_t k = 0; k < dims.size(); ++k)
    storeLeaf(place, indexType, 8 + 8 * static_cast<int64_t>(k), dims[k], mode);
}

void Lower::storeStored(const Place& place, const std::vector<ValueId>& leaves, StoreMode mode) {
  TypeId type = place.type;
  TypeKind kind = types_.kind(type);
  if (kind == TypeKind::Str) {
    storeLeaf(place, dataType, 0, leaves[0], mode);
    return storeLeaf(place, indexType, 8, leaves[1], mode);
  }
  if (kind == TypeKind::Array) return storeArray(place, type, leaves[0], dimsOf(type), mode);
  if (layouts_.inBlock(type)) return storeBlock(place, leaves[0], mode);
  if (layouts_.isProduct(type)) {
    for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k)
      storeStored(partOf(place, k), leavesOfPart(type, k, leaves), mode);
    return;
  }
  if (kind == TypeKind::Pack) {
    TypeId inner = layouts_.packInner(type);
    uint32_t count = layouts_.packCount(type);
    DimScope scope(*this);
    enterPack(std::span(leaves).first(count));
    if (layouts_.packOffset(type) != 0)
      for (uint32_t k = 0; k < count; ++k) storeLeaf(place, indexType, 8 * k, leaves[k], mode);
    Place part = place;
    part.type = inner;
    part.offset += layouts_.packOffset(type);
    storeStored(part, {leaves.begin() + count, leaves.end()}, mode);
    return;
  }
  const std::vector<ValueType> types = layouts_.leaves(type);
  if (!types.empty()) storeLeaf(place, types[0], 0, leaves[0], mode);
}

Place Lower::memoryPlace(ValueId address, TypeId type) {
  Place place;
  place.inLeaves = false;
  place.base = address;
  place.type = type;
  return place;
}

ValueId Lower::spill(TypeId type, const std::vector<ValueId>& leaves) {
  if (layouts_.inBlock(type)) return b_.pointerOf(leaves[0]);
  ValueId slot = b_.scratch(std::max(layouts_.stored(type).size, 8u));
  storeStored(memoryPlace(slot, type), leaves, StoreMode::Lend);
  return slot;
}

} // namespace melix::loops
