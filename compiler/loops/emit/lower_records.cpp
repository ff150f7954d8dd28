// Records in one block: products (tuples, structs, known function values) of many leaves, passed and kept by
// pointer. The block holds the stored form and is owned, counted and made unique like that of an array of one
// element, so no op on such a value needs code for more than the parts of one level.
#include "loops/emit/lower_records.h"

#include "loops/emit/lower.h"
#include "loops/emit/lower_arrays.h"
#include "loops/emit/lower_values.h"

namespace melix::loops {

/// The place of a part of the product in memory at `place`.
Place partOf(Lower& l, Place place, uint32_t k) {
  place.offset += l.layouts.partOffset(place.stored, k);
  place.type = l.layouts.part(place.type, k);
  place.stored = l.layouts.part(place.stored, k);
  return place;
}

/// The leaves of part `k` among those of a product that is in no block.
std::vector<ValueId> leavesOfPart(Lower& l, TypeId type, uint32_t k, const std::vector<ValueId>& leaves) {
  auto first = leaves.begin() + l.layouts.firstLeaf(type, k);
  return {first, first + l.layouts.leafCount(l.layouts.part(type, k))};
}

/// A block of these parts.
ValueId makeBlock(Lower& l, TypeId type, const std::vector<std::vector<ValueId>>& parts) {
  Place place = memoryPlace(l, allocArray(l, type, {}, false), type);
  for (uint32_t k = 0; k < parts.size(); ++k) storeStored(l, partOf(l, place, k), parts[k], StoreMode::Fresh);
  return place.base;
}

/// Copies stored values. `retain`: what is copied gets owners of its own; `release`: what was there loses
/// one.
void copyStored(Lower& l, const Place& to, const Place& from, ValueId count, bool retain, bool release) {
  StoredForm form = l.layouts.stored(to.stored);
  ValueId target = l.b.addressOf(to.base, to.terms, to.scale, to.offset);
  ValueId source = l.b.addressOf(from.base, from.terms, from.scale, from.offset);
  // Retained first: the two may share what they hold.
  if (form.counted && retain)
    l.b.stmt(StmtKind::Runtime, {source, count}, {}, RuntimeCall{RuntimeKind::RetainElements, to.type});
  if (form.counted && release)
    l.b.stmt(StmtKind::Runtime, {target, count}, {}, RuntimeCall{RuntimeKind::ReleaseElements, to.type});
  l.b.stmt(StmtKind::CopyBytes, {target, source, l.b.arith(OpKind::Mul, count, l.b.integer(form.size))});
  l.b.stmt(StmtKind::KeepAlive, {from.base});
  l.b.stmt(StmtKind::KeepAlive, {to.base});
}

/// A block of its own for the record in memory.
ValueId loadBlock(Lower& l, const Place& place, bool take) {
  ValueId data = allocArray(l, place.type, {}, false);
  copyStored(l, memoryPlace(l, data, place.type), place, l.b.integer(1), !take, false);
  return data;
}

void storeBlock(Lower& l, const Place& place, ValueId data, StoreMode mode) {
  copyStored(l, place, memoryPlace(l, data, place.type), l.b.integer(1), mode != StoreMode::Lend,
             mode == StoreMode::Replace);
}

/// What is never looked at, but may be moved, copied and dropped.
std::vector<ValueId> undefOf(Lower& l, TypeId type) {
  if (l.layouts.inBlock(type)) return {allocArray(l, type, {}, true)};
  std::vector<ValueId> out;
  if (l.layouts.isProduct(type)) {
    for (uint32_t k = 0, n = l.layouts.partCount(type); k < n; ++k)
      for (ValueId v : undefOf(l, l.layouts.part(type, k))) out.push_back(v);
    return out;
  }
  // An immediate word, so that dropping it does nothing.
  for (ValueType leaf : l.layouts.leaves(type))
    out.push_back(l.b.constant(leaf, leaf.cls == ClassKind::Word ? 1 : 0));
  return out;
}

/// The body of a function that makes a zero, adds or negates: part by part, in the block of `a`.
ValueId blockTangent(Lower& l, TypeId type, ValueId a, ValueId b, OpKind how) {
  if (how == OpKind::Zero) {
    std::vector<std::vector<ValueId>> zeros;
    for (uint32_t k = 0, n = l.layouts.partCount(type); k < n; ++k)
      zeros.push_back(zeroOf(l, l.layouts.part(type, k)));
    return makeBlock(l, type, zeros);
  }
  ValueId data = l.b.value(StmtKind::EnsureUnique, {a}, dataType);
  for (uint32_t k = 0, n = l.layouts.partCount(type); k < n; ++k) {
    Place to = partOf(l, memoryPlace(l, data, type), k);
    std::vector<ValueId> y =
        b ? loadStored(l, partOf(l, memoryPlace(l, b, type), k)) : std::vector<ValueId>{};
    std::vector<ValueId> x = loadStored(l, to, true);
    storeStored(l, to, b ? addLeaves(l, to.type, x, y, how) : negLeaves(l, to.type, x), StoreMode::Fresh);
  }
  return data;
}

/// The leaves that the value would have without blocks.
void flatten(Lower& l, TypeId type, const std::vector<ValueId>& leaves, std::vector<ValueId>& out) {
  if (!l.layouts.isProduct(type)) {
    out.insert(out.end(), leaves.begin(), leaves.end());
    return;
  }
  for (uint32_t k = 0, n = l.layouts.partCount(type); k < n; ++k)
    flatten(l, l.layouts.part(type, k),
            l.layouts.inBlock(type) ? loadStored(l, partOf(l, memoryPlace(l, leaves[0], type), k))
                                    : leavesOfPart(l, type, k, leaves),
            out);
}

/// The value again; takes its leaves from `flat`, from `at` on.
std::vector<ValueId> unflatten(Lower& l, TypeId type, const std::vector<ValueId>& flat, size_t& at) {
  std::vector<ValueId> out;
  if (!l.layouts.isProduct(type)) {
    for (uint32_t k = 0, n = l.layouts.leafCount(type); k < n; ++k) out.push_back(flat[at++]);
    return out;
  }
  std::vector<std::vector<ValueId>> parts;
  for (uint32_t k = 0, n = l.layouts.partCount(type); k < n; ++k)
    parts.push_back(unflatten(l, l.layouts.part(type, k), flat, at));
  if (l.layouts.inBlock(type)) return {makeBlock(l, type, parts)};
  for (const std::vector<ValueId>& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

} // namespace melix::loops
