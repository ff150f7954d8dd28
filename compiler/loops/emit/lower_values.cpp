// Products, enums, packs; and the way between leaves and stored forms.
#include "loops/emit/lower_values.h"

#include "loops/emit/lower.h"
#include "loops/emit/lower_arrays.h"
#include "loops/emit/lower_records.h"

namespace melix::loops {

namespace {

void storeLeaf(Lower& l, const Place& place, ValueType type, int64_t more, ValueId v, StoreMode mode) {
  Access a = accessAt(place, type, more);
  a.borrowed = mode == StoreMode::Lend;
  ValueId old;
  if (mode == StoreMode::Replace && type.counted()) {
    Access taking = a;
    taking.transfersOwnership = true;
    old = l.b.load(place.base, place.terms, taking);
  }
  l.b.store(place.base, place.terms, a, v);
  if (old) l.b.stmt(StmtKind::Drop, {old});
}

void storeArray(Lower& l, const Place& place, ValueId data, const std::vector<ValueId>& dims,
                StoreMode mode) {
  storeLeaf(l, place, dataType, 0, data, mode);
  for (size_t k = 0; k < dims.size(); ++k)
    storeLeaf(l, place, indexType, 8 + 8 * static_cast<int64_t>(k), dims[k], mode);
}

} // namespace

void lowerMake(Lower& l, const core::Op& op) {
  TypeId type = l.typeOf(op.results[0]);
  if (!l.layouts.inBlock(type)) return l.define(op.results[0], l.leavesOf(op.operands));
  std::vector<std::vector<ValueId>> parts;
  for (core::ValueId v : op.operands) parts.push_back(l.leaves(v));
  l.define(op.results[0], {makeBlock(l, type, parts)});
}

void lowerCapture(Lower& l, const core::Op& op) {
  TypeId type = l.typeOf(op.operands[0]);
  const std::vector<ValueId> all = l.leaves(op.operands[0]);
  if (l.layouts.inBlock(type))
    return l.define(op.results[0], loadStored(l, partOf(l, memoryPlace(l, all[0], type), op.index())));
  l.define(op.results[0], leavesOfPart(l, type, op.index(), all));
}

namespace {

/// Copies a value that lies in memory to fresh memory.
void copyValue(Lower& l, const Place& to, const Place& from) {
  const bool isElements = !from.axes.empty();
  if (l.layouts.isInPlace(to.stored) && (isElements || l.layouts.isInPlace(from.stored)))
    return copyBetween(l, elementsInPlace(l, to), isElements ? from : elementsInPlace(l, from), true);
  if (!l.layouts.isProduct(to.type) || l.layouts.inBlock(to.type))
    return storeStored(l, to, loadStored(l, from), StoreMode::Fresh);
  for (uint32_t k = 0, n = l.layouts.partCount(to.type); k < n; ++k)
    copyValue(l, partOf(l, to, k), partOf(l, from, k));
}

/// Stores a value in fresh memory, from where it lies if it is a view.
void storeValue(Lower& l, const Place& to, core::ValueId v) {
  const std::optional<View> view = l.rep(v).view;
  const bool isRecord = view && view->place.axes.empty();
  if (view && (isRecord || l.layouts.isInPlace(to.stored))) return copyValue(l, to, view->place);
  storeStored(l, to, l.leaves(v), StoreMode::Fresh);
}

} // namespace

void lowerVariant(Lower& l, const core::Op& op) {
  TypeId type = l.typeOf(op.results[0]);
  uint32_t tag = op.index();
  if (op.operands.empty()) return l.define(op.results[0], {l.b.constant(wordType, (uint64_t(tag) << 1) | 1)});
  ValueId node = l.b.value(StmtKind::AllocNode, {}, wordType,
                           AllocAttr{type, l.layouts.nodeBytes(l.layouts.inMemory(type), tag), false});
  l.b.store(node, {}, {scalarType(TypeKind::I32), 4, 0, false, false},
            l.b.constant(scalarType(TypeKind::I32), tag));
  for (uint32_t k = 0; k < op.operands.size(); ++k)
    storeValue(l, fieldPlace(l, node, type, tag, k), op.operands[k]);
  l.define(op.results[0], {node});
}

void lowerPack(Lower& l, const core::Op& op) {
  std::vector<ValueId> out;
  for (types::DimId d : op.dims) out.push_back(l.dim(d));
  for (ValueId v : l.leaves(op.operands[0])) out.push_back(v);
  l.define(op.results[0], out);
}

void lowerUnpack(Lower& l, const core::Op& op) {
  const std::vector<ValueId>& all = l.leaves(op.operands[0]);
  size_t hidden = op.resultDims.size();
  for (size_t k = 0; k < hidden; ++k) l.defineDim(op.resultDims[k], all[k]);
  l.define(op.results[0], {all.begin() + static_cast<long>(hidden), all.end()});
}

void Lower::enterPack(std::span<const ValueId> hidden) {
  std::vector<ValueId> around;
  for (uint32_t k = 0; dims.find(types.boundSym(k)).valid(); ++k)
    around.push_back(dims.find(types.boundSym(k)));
  for (size_t k = 0; k < around.size(); ++k)
    dims.define(types.boundSym(static_cast<uint32_t>(hidden.size() + k)), around[k]);
  for (size_t k = 0; k < hidden.size(); ++k) defineDim(types.boundSym(static_cast<uint32_t>(k)), hidden[k]);
}

Access accessAt(const Place& place, ValueType elem, int64_t more) {
  return {elem, place.scale, place.offset + more, false, false};
}

std::vector<ValueId> loadStored(Lower& l, const Place& place, bool take) {
  TypeId type = place.type;
  TypeKind kind = l.types.kind(type);
  auto one = [&](ValueType leaf, int64_t more) {
    Access a = accessAt(place, leaf, more);
    a.transfersOwnership = take;
    return l.b.load(place.base, place.terms, a);
  };
  if (kind == TypeKind::Str) return {one(dataType, 0), one(indexType, 8)};
  if (l.layouts.isInPlace(place.stored)) return {copyToDense(l, elementsInPlace(l, place))};
  if (l.layouts.inBlock(type)) return {loadBlock(l, place, take)};
  if (l.layouts.isProduct(type)) {
    std::vector<ValueId> out;
    for (uint32_t k = 0, n = l.layouts.partCount(type); k < n; ++k)
      for (ValueId v : loadStored(l, partOf(l, place, k), take)) out.push_back(v);
    return out;
  }
  if (kind == TypeKind::Pack) {
    TypeId inner = l.layouts.packInner(type);
    uint32_t count = l.layouts.packCount(type);
    std::vector<ValueId> out(count);
    const std::vector<types::DimId>& dims = l.types[inner].dims;
    for (uint32_t k = 0; k < count; ++k) {
      int64_t at = 8 * k;
      if (l.layouts.isArrayLeaf(inner)) {
        // The array carries its dims; one of them is the hidden dimension itself.
        size_t axis = 0;
        while (axis < dims.size() && l.types.dims.asSymbol(dims[axis]) != l.types.boundSym(k)) ++axis;
        if (axis == dims.size()) l.fail("an array whose hidden dimension is no axis");
        at = 8 + 8 * static_cast<int64_t>(axis);
      }
      out[k] = one(indexType, at);
    }
    Place part = place;
    part.type = inner;
    part.stored = l.layouts.inMemory(inner);
    part.offset += l.layouts.packOffset(type);
    for (ValueId v : loadStored(l, part, take)) out.push_back(v);
    return out;
  }
  const std::vector<ValueType> leaves = l.layouts.leaves(type);
  if (leaves.empty()) return {};
  return {one(leaves[0], 0)};
}

void storeStored(Lower& l, const Place& place, const std::vector<ValueId>& leaves, StoreMode mode) {
  TypeId type = place.type;
  TypeKind kind = l.types.kind(type);
  if (kind == TypeKind::Str) {
    storeLeaf(l, place, dataType, 0, leaves[0], mode);
    return storeLeaf(l, place, indexType, 8, leaves[1], mode);
  }
  if (l.layouts.isInPlace(place.stored))
    return copyBetween(l, elementsInPlace(l, place), densePlace(l, leaves[0], type), true);
  if (l.layouts.isArrayLeaf(type)) return storeArray(l, place, leaves[0], l.dimsOf(type), mode);
  if (l.layouts.inBlock(type)) return storeBlock(l, place, leaves[0], mode);
  if (l.layouts.isProduct(type)) {
    for (uint32_t k = 0, n = l.layouts.partCount(type); k < n; ++k)
      storeStored(l, partOf(l, place, k), leavesOfPart(l, type, k, leaves), mode);
    return;
  }
  if (kind == TypeKind::Pack) {
    TypeId inner = l.layouts.packInner(type);
    uint32_t count = l.layouts.packCount(type);
    DimValues::Scope scope(l.dims);
    l.enterPack(std::span(leaves).first(count));
    if (l.layouts.packOffset(type) != 0)
      for (uint32_t k = 0; k < count; ++k) storeLeaf(l, place, indexType, 8 * k, leaves[k], mode);
    Place part = place;
    part.type = inner;
    part.stored = l.layouts.inMemory(inner);
    part.offset += l.layouts.packOffset(type);
    storeStored(l, part, {leaves.begin() + count, leaves.end()}, mode);
    return;
  }
  const std::vector<ValueType> types = l.layouts.leaves(type);
  if (!types.empty()) storeLeaf(l, place, types[0], 0, leaves[0], mode);
}

Place memoryPlace(Lower& l, ValueId address, TypeId type) {
  Place place;
  place.inLeaves = false;
  place.base = address;
  place.type = type;
  place.stored = l.layouts.inMemory(type);
  return place;
}

Place fieldPlace(Lower& l, ValueId word, TypeId enumType, uint32_t c, uint32_t k) {
  const StoredType node = l.layouts.inMemory(enumType);
  Place place = memoryPlace(l, word, l.layouts.field(enumType, c, k));
  place.stored = l.layouts.field(node, c, k);
  place.offset = l.layouts.fieldOffset(node, c, k);
  return place;
}

ValueId spill(Lower& l, TypeId type, const std::vector<ValueId>& leaves) {
  if (l.layouts.inBlock(type)) return l.b.pointerOf(leaves[0]);
  ValueId slot = l.b.scratch(std::max(l.layouts.stored(type).size, 8u));
  storeStored(l, memoryPlace(l, slot, type), leaves, StoreMode::Lend);
  return slot;
}

} // namespace melix::loops
