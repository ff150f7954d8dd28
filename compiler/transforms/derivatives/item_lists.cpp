#include "transforms/derivatives/item_lists.h"

#include <algorithm>

namespace melix::transforms {

namespace {

/// Of an array, in bytes: to copy more takes longer than a block (docs/decisions/residuals.md).
constexpr int64_t mostBytes = 256;

bool isArray(const types::TypeStore& types, const types::Leaf& leaf) {
  return types.kind(leaf.type) == TypeKind::Array;
}

DimId numbersIn(types::TypeStore& types, const types::Leaf& leaf) {
  if (!isArray(types, leaf)) return types.dims.constant(1);
  return types.dims.product(std::vector<DimId>(types[leaf.type].dims));
}

/// Whether the numbers of a leaf are at most so many bytes, whatever the sizes are.
bool isSmall(types::TypeStore& types, const types::Leaf& leaf) {
  if (!isArray(types, leaf)) return true;
  const int64_t bytes = std::max(1u, types::scalarBits(types.kind(types.element(leaf.type))) / 8);
  const DimId most = types.dims.constant(mostBytes / bytes);
  return types.dims.atLeast(types.dims.sub(most, numbersIn(types, leaf)), 0);
}

/// The leaves of an item that is numbers and small arrays of numbers, of sizes known outside of the loop;
/// none of another.
std::vector<types::Leaf> numbersOf(types::TypeStore& types, const ResidualItem& item) {
  // Enums are still whole here, flat ones too.
  const bool hasCases = types.isMadeWith(item.type, [](TypeKind kind) { return kind == TypeKind::Enum; });
  if (!item.hidden.empty() || hasCases) return {};
  std::vector<types::Leaf> leaves = types::leavesOf(types, item.type);
  const bool areNumbers = std::ranges::all_of(leaves, [&](const types::Leaf& leaf) {
    return types.isScalar(types.element(leaf.type)) && isSmall(types, leaf);
  });
  return areNumbers ? leaves : std::vector<types::Leaf>();
}

ItemLists::Row* rowOf(ItemLists& lists, TypeId number) {
  const auto found = std::ranges::find(lists.rows, number, &ItemLists::Row::number);
  return found == lists.rows.end() ? nullptr : &*found;
}

void add(types::TypeStore& types, ItemLists& lists, size_t item, const types::Leaf& leaf) {
  const TypeId number = types.element(leaf.type);
  ItemLists::Row* row = rowOf(lists, number);
  if (!row) row = &lists.rows.emplace_back(number, std::vector<ItemLists::Part>(), types.dims.constant(0));
  row->parts.push_back({item, leaf, row->size});
  row->size = types.dims.add(row->size, numbersIn(types, leaf));
}

} // namespace

ItemLists itemListsOf(types::TypeStore& types, std::span<const ResidualItem> items) {
  ItemLists lists;
  std::vector<size_t> others;
  for (size_t k = 0; k < items.size(); ++k) {
    const std::vector<types::Leaf> leaves = numbersOf(types, items[k]);
    if (std::ranges::none_of(leaves, [&](const types::Leaf& leaf) { return isArray(types, leaf); })) {
      others.push_back(k);
      continue;
    }
    for (const types::Leaf& leaf : leaves) add(types, lists, k, leaf);
  }
  // A number beside arrays of such is like one more of them.
  for (size_t k : others)
    if (rowOf(lists, items[k].type))
      add(types, lists, k, {items[k].type, {}});
    else
      lists.records.push_back(k);
  return lists;
}

TypeId recordOfItems(types::TypeStore& types, std::span<const ResidualItem> items, const ItemLists& lists) {
  std::vector<TypeId> parts;
  for (size_t k : lists.records) parts.push_back(items[k].type);
  return parts.size() == 1 ? parts[0] : types.tuple(parts);
}

namespace {

/// The leaf of a value: of an array of records the array of their leaves.
ValueId leafOf(Emit& e, ValueId x, std::span<const uint32_t> path) {
  if (path.empty()) return x;
  const TypeId type = e.typeOf(x);
  if (e.types().kind(type) != TypeKind::Array)
    return leafOf(e, e.kid(x, path[0], types::partOf(e.types(), type, path[0])), path.subspan(1));
  const TypeId element = e.types().element(type);
  return e.arrayOf(std::vector<DimId>(e.types()[type].dims), [&](Emit& b, const std::vector<ValueId>& axes) {
    return leafOf(b, b.getAt(x, axes, element), path);
  });
}

} // namespace

ValueId pushLeaf(Emit& e, ValueId numbers, ValueId item, const types::Leaf& leaf) {
  const TypeId list = e.typeOf(numbers);
  ValueId x = leafOf(e, item, leaf.path);
  const TypeId type = e.typeOf(x);
  if (e.types().kind(type) != TypeKind::Array) return e.one(Emit::simple(OpKind::Push, {numbers, x}), list);
  const DimId size = e.dims().product(std::vector<DimId>(e.types()[type].dims));
  if (e.types().rank(type) > 1)
    x = e.one(Emit::simple(OpKind::Reshape, {x}), e.types().array(e.types().element(type), {size}));
  Emit b = e.in(e.newRegion());
  const ValueId i = b.param(e.types().int64());
  const ValueId before = b.param(list);
  b.yield({b.one(Emit::simple(OpKind::Push, {before, b.getAt(x, std::span(&i, 1), e.types().element(type))}),
                 list)});
  Op each = Emit::simple(OpKind::For, {e.dimValue(size), numbers}, LoopAttr{});
  each.regions.push_back(b.region);
  return e.one(std::move(each), list);
}

namespace {

/// Puts an item together, its leaves in order.
class ItemReader {
public:
  explicit ItemReader(std::span<const LeafNumbers> leaves) : leaves_(leaves) {}

  ValueId read(Emit& e, TypeId type) {
    types::TypeStore& types = e.types();
    if (types.isScalar(type)) return number(e, leaves_[next_++], type);
    if (types.kind(type) != TypeKind::Array) {
      std::vector<ValueId> parts;
      for (uint32_t k = 0, n = types::partsOf(types, type); k < n; ++k)
        parts.push_back(read(e, types::partOf(types, type, k)));
      return e.make(type, std::move(parts));
    }
    const std::vector<DimId> dims = types[type].dims;
    const size_t outer = axes_.size();
    const ValueId array = e.arrayOf(dims, [&](Emit& b, const std::vector<ValueId>& axes) {
      axes_.insert(axes_.end(), axes.begin(), axes.end());
      dims_.insert(dims_.end(), dims.begin(), dims.end());
      return read(b, types.element(type));
    });
    axes_.resize(outer);
    dims_.resize(outer);
    return array;
  }

private:
  /// The element of a leaf at the axes so far, which are in row-major order.
  ValueId number(Emit& e, const LeafNumbers& leaf, TypeId type) {
    ValueId at = leaf.at;
    if (!axes_.empty()) {
      ValueId index = axes_[0];
      for (size_t k = 1; k < axes_.size(); ++k) index = e.add(e.mul(index, e.dimValue(dims_[k])), axes_[k]);
      at = e.add(at, index);
    }
    return e.get(leaf.list, {PathStep{StepKind::Element, 0, {}, 1}}, std::span(&at, 1), type);
  }

  std::span<const LeafNumbers> leaves_;
  size_t next_ = 0;
  std::vector<ValueId> axes_; ///< of the arrays around
  std::vector<DimId> dims_;
};

} // namespace

ValueId itemOf(Emit& e, TypeId type, std::span<const LeafNumbers> leaves) {
  return ItemReader(leaves).read(e, type);
}

} // namespace melix::transforms
