// Accumulators. A value of type acc(T) is write-only and linear, so it is passed as the addresses of its
// parts: of the elements of each array, and of a slot in the frame for each other part. The nest that begins
// it makes its memory unique once; adds then go straight to memory, through branches, loops, nests and calls.
#include "loops/emit/lower_accs.h"

#include "loops/emit/lower.h"
#include "loops/emit/lower_arrays.h"
#include "loops/emit/lower_records.h"
#include "loops/emit/lower_values.h"

namespace melix::loops {

namespace {

/// Parts of `type` that are no products, in order: `part(type, first leaf)`.
template <class Part>
void forAccParts(Layouts& layouts, TypeId type, uint32_t& leaf, const Part& part) {
  if (layouts.isProduct(type)) {
    for (uint32_t k = 0, n = layouts.partCount(type); k < n; ++k)
      forAccParts(layouts, layouts.part(type, k), leaf, part);
    return;
  }
  part(type, leaf);
  leaf += layouts.leafCount(type);
}

} // namespace

/// The addresses for a value that an accumulator begins with; its leaves become those it has without blocks,
/// and arrays among them unique.
std::vector<ValueId> openAcc(Lower& l, TypeId type, std::vector<ValueId>& leaves) {
  std::vector<ValueId> flat;
  flatten(l, type, leaves, flat);
  leaves = std::move(flat);
  std::vector<ValueId> addresses;
  uint32_t first = 0;
  forAccParts(l.layouts, type, first, [&](TypeId part, uint32_t at) {
    if (l.types.kind(part) == TypeKind::Array) {
      leaves[at] = l.b.value(StmtKind::EnsureUnique, {leaves[at]}, dataType);
      addresses.push_back(l.b.pointerOf(leaves[at]));
      return;
    }
    addresses.push_back(l.b.scratch(std::max(l.layouts.stored(part).size, 8u)));
    storeStored(l, memoryPlace(l, addresses.back(), part),
                {leaves.begin() + at, leaves.begin() + at + l.layouts.leafCount(part)}, StoreMode::Fresh);
  });
  return addresses;
}

/// The value at last; `leaves` are those that openAcc left.
std::vector<ValueId> closeAcc(Lower& l, TypeId type, const std::vector<ValueId>& addresses,
                              std::vector<ValueId> leaves) {
  uint32_t first = 0;
  size_t k = 0;
  forAccParts(l.layouts, type, first, [&](TypeId part, uint32_t at) {
    ValueId address = addresses[k++];
    if (l.types.kind(part) == TypeKind::Array) {
      l.b.stmt(StmtKind::KeepAlive, {leaves[at]});
      return;
    }
    std::vector<ValueId> value = loadStored(l, memoryPlace(l, address, part), true);
    std::copy(value.begin(), value.end(), leaves.begin() + at);
  });
  size_t from = 0;
  return unflatten(l, type, leaves, from);
}

/// Adds a whole value at the parts whose addresses these are.
void addToAcc(Lower& l, TypeId type, const ValueId* addresses, const std::vector<ValueId>& leaves) {
  std::vector<ValueId> value;
  flatten(l, type, leaves, value);
  uint32_t first = 0;
  forAccParts(l.layouts, type, first, [&](TypeId part, uint32_t at) {
    ValueId address = *addresses++;
    if (l.types.kind(part) == TypeKind::Array) {
      addStoredArray(l, densePlace(l, address, part), densePlace(l, value[at], part), OpKind::Add);
      l.b.stmt(StmtKind::KeepAlive, {value[at]});
      return;
    }
    addStored(l, memoryPlace(l, address, part),
              {value.begin() + at, value.begin() + at + l.layouts.leafCount(part)});
  });
}

} // namespace melix::loops
