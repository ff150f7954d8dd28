// Accumulators. A value of type acc(T) is write-only and linear, so it is passed as the addresses of its
// parts: of the elements of each array, and of a slot in the frame for each other part. The nest that begins
// it makes its memory unique once; adds then go straight to memory, through branches, loops, nests and calls.
#include "loops/lower_nest.h"

#include <map>

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

/// Whether different indices on the outermost axis add to different memory: every add has that axis itself as
/// an index, and those to the same field of accumulators of one type have it at the same position.
bool Lower::addsApart(const core::Op& op) const {
  std::map<std::pair<TypeId, std::vector<uint32_t>>, size_t> positions;
  core::ValueId axis = in_.regions[op.regions[0]].params[0];
  auto isApart = [&](const core::Op& add) {
    const auto& path = add.as<core::Path>();
    std::vector<uint32_t> fields;
    size_t step = 0, operand = 2, position = 0;
    while (step < path.size() && path[step].kind == core::StepKind::Field)
      fields.push_back(path[step++].number);
    for (; step < path.size(); ++step, ++position) {
      if (path[step].kind == core::StepKind::All) continue;
      if (path[step].kind != core::StepKind::Index && path[step].kind != core::StepKind::Slice) return false;
      bool found = path[step].kind == core::StepKind::Index && add.operands[operand] == axis;
      if (found)
        return positions.emplace(std::pair(typeOf(add.operands[0]), fields), position).first->second ==
               position;
      ++operand;
    }
    return false;
  };
  std::vector<core::RegionId> regions{op.regions[0]};
  while (!regions.empty()) {
    core::RegionId r = regions.back();
    regions.pop_back();
    for (core::OpId id : in_.regions[r].ops) {
      const core::Op& inner = in_.ops[id];
      regions.insert(regions.end(), inner.regions.begin(), inner.regions.end());
      bool uses = false;
      for (core::ValueId v : inner.operands) uses = uses || types_.kind(typeOf(v)) == TypeKind::Acc;
      if (!uses || inner.kind == OpKind::Yield || !inner.regions.empty()) continue;
      if (inner.kind != OpKind::AddAt || !isApart(inner)) return false;
    }
  }
  return true;
}

} // namespace melix::loops
