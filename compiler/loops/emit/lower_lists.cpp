// Lists. An update goes through a slot of the frame that holds the list's word while the runtime works on it.
#include "loops/emit/lower.h"

namespace melix::loops {

ValueId Lower::listSlot(ValueId list) {
  ValueId slot = b_.scratch(8);
  b_.store(slot, {}, {dataType, 8, 0, false, false}, list);
  return slot;
}

ValueId Lower::takeSlot(ValueId slot) { return b_.load(slot, {}, {dataType, 8, 0, true, false}); }

void Lower::lowerListOf(const core::Op& op) {
  TypeId elem = types_[typeOf(op.results[0])].parts[0];
  if (op.operands.empty()) return define(op.results[0], {b_.zero(dataType)});
  if (const std::string& bytes = facts_->literals.bytesOf(op); !bytes.empty()) {
    ValueId from = b_.pointerOf(b_.value(StmtKind::Text, {}, dataType, bytes));
    return define(op.results[0],
                  {b_.value(StmtKind::Runtime, {from, b_.integer(static_cast<int64_t>(op.operands.size()))},
                            dataType, RuntimeCall{RuntimeKind::ListFromArray, elem})});
  }
  ValueId slot = listSlot(b_.zero(dataType));
  ValueId count = b_.integer(static_cast<int64_t>(op.operands.size()));
  b_.stmt(StmtKind::Runtime, {slot, count}, {}, RuntimeCall{RuntimeKind::ListReserve, elem});
  // There is room for all, so that each is stored where it goes, without a question: literals may be long.
  ValueId block = b_.load(slot, {}, {addressType, 8, 0, false, false});
  for (size_t k = 0; k < op.operands.size(); ++k) {
    Place place;
    place.type = typeOf(op.results[0]);
    std::vector<ValueId> root{block};
    enterList(place, root, b_.integer(static_cast<int64_t>(k)), false);
    storeStored(place, leaves(op.operands[k]), StoreMode::Fresh);
  }
  b_.store(block, {}, {indexType, 8, 0, false, false}, count);
  define(op.results[0], {takeSlot(slot)});
}

void Lower::lowerLength(const core::Op& op) {
  const std::vector<ValueId>& x = leaves(op.operands[0]);
  TypeId type = typeOf(op.operands[0]);
  if (types_.kind(type) == TypeKind::Str) return define(op.results[0], {x[1]});
  define(op.results[0], {b_.value(StmtKind::Runtime, {x[0]}, indexType,
                                  RuntimeCall{RuntimeKind::ListLength, types_[type].parts[0]})});
}

void Lower::lowerPush(const core::Op& op) {
  TypeId elem = types_[typeOf(op.operands[0])].parts[0];
  const std::vector<ValueId> x = leaves(op.operands[1]);
  ValueId slot = listSlot(leaf(op.operands[0]));
  ValueId at = b_.value(StmtKind::Runtime, {slot}, addressType, RuntimeCall{RuntimeKind::ListPush, elem});
  storeStored(memoryPlace(at, elem), x, StoreMode::Fresh);
  define(op.results[0], {takeSlot(slot)});
}

void Lower::lowerPop(const core::Op& op) {
  TypeId elem = types_[typeOf(op.operands[0])].parts[0];
  ValueId slot = listSlot(leaf(op.operands[0]));
  ValueId length = b_.value(StmtKind::Runtime, {b_.load(slot, {}, {addressType, 8, 0, false, false})},
                            indexType, RuntimeCall{RuntimeKind::ListLength, elem});
  ValueId some = b_.compare(ops::CmpKind::Gt, length, b_.integer(0));
  b_.stmt(StmtKind::Check, {some}, {}, Message{"pop of an empty list"});
  ValueId at = b_.value(StmtKind::Runtime, {slot}, addressType, RuntimeCall{RuntimeKind::ListPop, elem});
  define(op.results[0], loadStored(memoryPlace(at, elem), true));
  define(op.results[1], {takeSlot(slot)});
}

void Lower::lowerToArray(const core::Op& op) {
  ValueId list = leaf(op.operands[0]);
  TypeId elem = types_[typeOf(op.operands[0])].parts[0];
  ValueId length = b_.value(StmtKind::Runtime, {list}, indexType, RuntimeCall{RuntimeKind::ListLength, elem});
  if (!op.resultDims.empty()) defineDim(op.resultDims[0], length);
  TypeId result = typeOf(op.results[0]);
  if (types_.kind(elem) != TypeKind::Array) {
    return define(op.results[0], {b_.value(StmtKind::Runtime, {list}, dataType,
                                           RuntimeCall{RuntimeKind::ListToArray, elem})});
  }
  // Elements that are arrays of known dims become the array's inner axes.
  ValueId data = allocArray(types_.element(result), dimsOf(result), false);
  ValueId stride = denseStrides(dimsOf(result))[0];
  b_.loop(length, [&](ValueId i) {
    std::vector<ValueId> none;
    Place from;
    from.type = typeOf(op.operands[0]);
    std::vector<ValueId> root{list};
    enterList(from, root, i, false);
    ValueId pointer = b_.load(from.base, from.terms, access(from, addressType));
    copyBetween(densePlace(Destination{data, {{i, stride}}}, elem), densePlace(pointer, elem), true);
  });
  b_.stmt(StmtKind::KeepAlive, {list});
  define(op.results[0], {data});
}

void Lower::lowerToList(const core::Op& op) {
  TypeId type = typeOf(op.operands[0]);
  TypeId elem = types_[typeOf(op.results[0])].parts[0];
  ValueId data = leaf(op.operands[0]);
  std::vector<ValueId> extents = dimsOf(type);
  if (types_.rank(type) == 1) {
    ValueId address = b_.pointerOf(data);
    ValueId list = b_.value(StmtKind::Runtime, {address, extents[0]}, dataType,
                            RuntimeCall{RuntimeKind::ListFromArray, elem});
    b_.stmt(StmtKind::KeepAlive, {data});
    return define(op.results[0], {list});
  }
  ValueId slot = listSlot(b_.zero(dataType));
  b_.stmt(StmtKind::Runtime, {slot, extents[0]}, {}, RuntimeCall{RuntimeKind::ListReserve, elem});
  ValueId stride = denseStrides(extents)[0];
  TypeId row = types_.kind(elem) == TypeKind::Pack ? layouts_.packInner(elem) : elem;
  b_.loop(extents[0], [&](ValueId i) {
    std::vector<types::DimId> inner(types_[type].dims.begin() + 1, types_[type].dims.end());
    TypeId rowType = types_.array(types_.element(type), inner);
    ValueId copy = copyToDense(densePlace(Destination{data, {{i, stride}}}, rowType));
    ValueId at = b_.value(StmtKind::Runtime, {slot}, addressType, RuntimeCall{RuntimeKind::ListPush, elem});
    std::vector<ValueId> stored{copy};
    if (row != elem) stored.insert(stored.begin(), extents.begin() + 1, extents.end());
    storeStored(memoryPlace(at, elem), stored, StoreMode::Fresh);
  });
  define(op.results[0], {takeSlot(slot)});
}

} // namespace melix::loops
