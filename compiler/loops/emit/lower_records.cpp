// Records in one block: products (tuples, structs, known function values) of many leaves, passed and kept by
// pointer. The block holds the stored form and is owned, counted and made unique like that of an array of one
// element, so no op on such a value needs code for more than the parts of one level.
#include "loops/emit/lower.h"

namespace melix::loops {

/// The place of a part of the product in memory at `place`.
Place Lower::partOf(Place place, uint32_t k) {
  place.offset += layouts_.partOffset(place.type, k);
  place.type = layouts_.part(place.type, k);
  return place;
}

/// The leaves of part `k` among those of a product that is in no block.
std::vector<ValueId> Lower::leavesOfPart(TypeId type, uint32_t k, const std::vector<ValueId>& leaves) {
  auto first = leaves.begin() + layouts_.firstLeaf(type, k);
  return {first, first + layouts_.leafCount(layouts_.part(type, k))};
}

/// A block of these parts.
ValueId Lower::makeBlock(TypeId type, const std::vector<std::vector<ValueId>>& parts) {
  Place place = memoryPlace(allocArray(type, {}, false), type);
  for (uint32_t k = 0; k < parts.size(); ++k) storeStored(partOf(place, k), parts[k], StoreMode::Fresh);
  return place.base;
}

/// Copies stored values. `retain`: what is copied gets owners of its own; `release`: what was there loses
/// one.
void Lower::copyStored(const Place& to, const Place& from, ValueId count, bool retain, bool release) {
  StoredForm form = layouts_.stored(to.type);
  ValueId target = b_.addressOf(to.base, to.terms, to.scale, to.offset);
  ValueId source = b_.addressOf(from.base, from.terms, from.scale, from.offset);
  // Retained first: the two may share what they hold.
  if (form.counted && retain)
    b_.stmt(StmtKind::Runtime, {source, count}, {}, RuntimeCall{RuntimeKind::RetainElements, to.type});
  if (form.counted && release)
    b_.stmt(StmtKind::Runtime, {target, count}, {}, RuntimeCall{RuntimeKind::ReleaseElements, to.type});
  b_.stmt(StmtKind::CopyBytes, {target, source, b_.arith(OpKind::Mul, count, b_.integer(form.size))});
  b_.stmt(StmtKind::KeepAlive, {from.base});
  b_.stmt(StmtKind::KeepAlive, {to.base});
}

/// A block of its own for the record in memory.
ValueId Lower::loadBlock(const Place& place, bool take) {
  ValueId data = allocArray(place.type, {}, false);
  copyStored(memoryPlace(data, place.type), place, b_.integer(1), !take, false);
  return data;
}

void Lower::storeBlock(const Place& place, ValueId data, StoreMode mode) {
  copyStored(place, memoryPlace(data, place.type), b_.integer(1), mode != StoreMode::Lend,
             mode == StoreMode::Replace);
}

/// What is never looked at, but may be moved, copied and dropped.
std::vector<ValueId> Lower::undefOf(TypeId type) {
  if (layouts_.inBlock(type)) return {allocArray(type, {}, true)};
  std::vector<ValueId> out;
  if (layouts_.isProduct(type)) {
    for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k)
      for (ValueId v : undefOf(layouts_.part(type, k))) out.push_back(v);
    return out;
  }
  // An immediate word, so that dropping it does nothing.
  for (ValueType leaf : layouts_.leaves(type))
    out.push_back(b_.constant(leaf, leaf.cls == ClassKind::Word ? 1 : 0));
  return out;
}

/// The body of a function that makes a zero, adds or negates: part by part, in the block of `a`.
ValueId Lower::blockTangent(TypeId type, ValueId a, ValueId b, OpKind how) {
  if (how == OpKind::Zero) {
    std::vector<std::vector<ValueId>> zeros;
    for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k)
      zeros.push_back(zeroOf(layouts_.part(type, k)));
    return makeBlock(type, zeros);
  }
  ValueId data = b_.value(StmtKind::EnsureUnique, {a}, dataType);
  for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k) {
    Place to = partOf(memoryPlace(data, type), k);
    std::vector<ValueId> y = b ? loadStored(partOf(memoryPlace(b, type), k)) : std::vector<ValueId>{};
    std::vector<ValueId> x = loadStored(to, true);
    storeStored(to, b ? addLeaves(to.type, x, y, how) : negLeaves(to.type, x), StoreMode::Fresh);
  }
  return data;
}

/// The leaves that the value would have without blocks.
void Lower::flatten(TypeId type, const std::vector<ValueId>& leaves, std::vector<ValueId>& out) {
  if (!layouts_.isProduct(type)) {
    out.insert(out.end(), leaves.begin(), leaves.end());
    return;
  }
  for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k)
    flatten(layouts_.part(type, k),
            layouts_.inBlock(type) ? loadStored(partOf(memoryPlace(leaves[0], type), k))
                                   : leavesOfPart(type, k, leaves),
            out);
}

/// The value again; takes its leaves from `flat`, from `at` on.
std::vector<ValueId> Lower::unflatten(TypeId type, const std::vector<ValueId>& flat, size_t& at) {
  std::vector<ValueId> out;
  if (!layouts_.isProduct(type)) {
    for (uint32_t k = 0, n = layouts_.leafCount(type); k < n; ++k) out.push_back(flat[at++]);
    return out;
  }
  std::vector<std::vector<ValueId>> parts;
  for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k)
    parts.push_back(unflatten(layouts_.part(type, k), flat, at));
  if (layouts_.inBlock(type)) return {makeBlock(type, parts)};
  for (const std::vector<ValueId>& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

} // namespace melix::loops
