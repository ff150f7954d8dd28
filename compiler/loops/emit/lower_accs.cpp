// Accumulators. A value of type acc(T) is write-only and linear, so it is passed as the addresses of its
// parts: of the elements of each array, and of a slot in the frame for each other part. The nest that begins
// it makes its memory unique once; adds then go straight to memory, through branches, loops, nests and calls.
#include "loops/emit/lower.h"

namespace melix::loops {

/// Parts of `type` that are no products, in order: `part(type, first leaf)`.
template <class Part>
void Lower::forAccParts(TypeId type, uint32_t& leaf, const Part& part) {
  if (layouts_.isProduct(type)) {
    for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k)
      forAccParts(layouts_.part(type, k), leaf, part);
    return;
  }
  part(type, leaf);
  leaf += layouts_.leafCount(type);
}

/// The addresses for a value that an accumulator begins with; its leaves become those it has without blocks,
/// and arrays among them unique.
std::vector<ValueId> Lower::openAcc(TypeId type, std::vector<ValueId>& leaves) {
  std::vector<ValueId> flat;
  flatten(type, leaves, flat);
  leaves = std::move(flat);
  std::vector<ValueId> addresses;
  uint32_t first = 0;
  forAccParts(type, first, [&](TypeId part, uint32_t at) {
    if (types_.kind(part) == TypeKind::Array) {
      leaves[at] = b_.value(StmtKind::EnsureUnique, {leaves[at]}, dataType);
      addresses.push_back(b_.pointerOf(leaves[at]));
      return;
    }
    addresses.push_back(b_.scratch(std::max(layouts_.stored(part).size, 8u)));
    storeStored(memoryPlace(addresses.back(), part),
                {leaves.begin() + at, leaves.begin() + at + layouts_.leafCount(part)}, StoreMode::Fresh);
  });
  return addresses;
}

/// The value at last; `leaves` are those that openAcc left.
std::vector<ValueId> Lower::closeAcc(TypeId type, const std::vector<ValueId>& addresses,
                                     std::vector<ValueId> leaves) {
  uint32_t first = 0;
  size_t k = 0;
  forAccParts(type, first, [&](TypeId part, uint32_t at) {
    ValueId address = addresses[k++];
    if (types_.kind(part) == TypeKind::Array) {
      b_.stmt(StmtKind::KeepAlive, {leaves[at]});
      return;
    }
    std::vector<ValueId> value = loadStored(memoryPlace(address, part), true);
    std::copy(value.begin(), value.end(), leaves.begin() + at);
  });
  size_t from = 0;
  return unflatten(type, leaves, from);
}

/// Adds a whole value at the parts whose addresses these are.
void Lower::addToAcc(TypeId type, const ValueId* addresses, const std::vector<ValueId>& leaves) {
  std::vector<ValueId> value;
  flatten(type, leaves, value);
  uint32_t first = 0;
  forAccParts(type, first, [&](TypeId part, uint32_t at) {
    ValueId address = *addresses++;
    if (types_.kind(part) == TypeKind::Array) {
      addStoredArray(densePlace(address, part), densePlace(value[at], part), OpKind::Add);
      b_.stmt(StmtKind::KeepAlive, {value[at]});
      return;
    }
    addStored(memoryPlace(address, part),
              {value.begin() + at, value.begin() + at + layouts_.leafCount(part)});
  });
}

} // namespace melix::loops
