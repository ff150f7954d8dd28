// Lists. An update goes through a slot of the frame that holds the list's word while the runtime works on it.
#include "loops/emit/lower_lists.h"

#include "loops/emit/lower.h"
#include "loops/emit/lower_arrays.h"
#include "loops/emit/lower_places.h"
#include "loops/emit/lower_values.h"

#include <algorithm>

namespace melix::loops {

namespace {

ValueId listSlot(Lower& l, ValueId list) {
  ValueId slot = l.b.scratch(8);
  l.b.store(slot, {}, {dataType, 8, 0, false, false}, list);
  return slot;
}

ValueId takeSlot(Lower& l, ValueId slot) { return l.b.load(slot, {}, {dataType, 8, 0, true, false}); }

} // namespace

void lowerListOf(Lower& l, const core::Op& op) {
  TypeId elem = l.types[l.typeOf(op.results[0])].parts[0];
  if (op.operands.empty()) return l.define(op.results[0], {l.b.zero(dataType)});
  if (const std::string& bytes = l.facts->literals.bytesOf(op); !bytes.empty()) {
    ValueId from = l.b.pointerOf(l.b.value(StmtKind::Text, {}, dataType, bytes));
    return l.define(op.results[0], {l.b.value(StmtKind::Runtime,
                                              {from, l.b.integer(static_cast<int64_t>(op.operands.size()))},
                                              dataType, RuntimeCall{RuntimeKind::ListFromArray, elem})});
  }
  ValueId slot = listSlot(l, l.b.zero(dataType));
  ValueId count = l.b.integer(static_cast<int64_t>(op.operands.size()));
  l.b.stmt(StmtKind::Runtime, {slot, count}, {}, RuntimeCall{RuntimeKind::ListReserve, elem});
  // There is room for all, so that each is stored where it goes, without a question: literals may be long.
  ValueId block = l.b.load(slot, {}, {addressType, 8, 0, false, false});
  for (size_t k = 0; k < op.operands.size(); ++k) {
    Place place;
    place.type = l.typeOf(op.results[0]);
    std::vector<ValueId> root{block};
    enterList(l, place, root, l.b.integer(static_cast<int64_t>(k)), false);
    storeStored(l, place, l.leaves(op.operands[k]), StoreMode::Fresh);
  }
  l.b.store(block, {}, {indexType, 8, 0, false, false}, count);
  l.define(op.results[0], {takeSlot(l, slot)});
}

void lowerLength(Lower& l, const core::Op& op) {
  const std::vector<ValueId>& x = l.leaves(op.operands[0]);
  TypeId type = l.typeOf(op.operands[0]);
  if (l.types.kind(type) == TypeKind::Str) return l.define(op.results[0], {x[1]});
  l.define(op.results[0], {l.b.value(StmtKind::Runtime, {x[0]}, indexType,
                                     RuntimeCall{RuntimeKind::ListLength, l.types[type].parts[0]})});
}

namespace {

/// Whether room may be made before elements are: nothing counts them, so those not yet stored are no danger.
bool areUncounted(Lower& l, TypeId elem) {
  const StoredForm stored = l.layouts.stored(elem);
  return !stored.counted && stored.size > 0;
}

/// The List with `count` more elements, more than none.
ValueId withRoom(Lower& l, TypeId elem, ValueId list, ValueId before, ValueId count) {
  constexpr uint32_t leastBytes = 64; ///< of a first block: a few elements at once seldom come alone
  const ValueId slot = listSlot(l, list);
  const ValueId length = l.b.arith(OpKind::Add, before, count);
  const ValueId least = l.b.integer(std::max<int64_t>(1, leastBytes / l.layouts.stored(elem).size));
  l.b.stmt(StmtKind::Runtime, {slot, l.b.arith(OpKind::Max, length, least)}, {},
           RuntimeCall{RuntimeKind::ListReserve, elem});
  const ValueId block = l.b.load(slot, {}, {addressType, 8, 0, false, false});
  l.b.store(block, {}, {indexType, 8, 0, false, false}, length);
  return takeSlot(l, slot);
}

ValueId listLength(Lower& l, TypeId elem, ValueId list) {
  return l.b.value(StmtKind::Runtime, {list}, indexType, RuntimeCall{RuntimeKind::ListLength, elem});
}

/// The lists that a push and those that follow it give, which are to the same List, in the same region and
/// with no other reader between them.
std::vector<core::ValueId> pushesFrom(Lower& l, const core::Op& first) {
  const core::Uses& uses = l.facts->uses;
  std::vector<core::ValueId> longer{first.results[0]};
  for (bool goesOn = true; goesOn;) {
    const core::ValueId last = longer.back();
    goesOn = false;
    if (uses.count(last) != 1) break;
    uses.forEach(last, [&](core::Use use) {
      const core::Op& op = l.in.ops[use.op];
      goesOn = op.kind == OpKind::Push && use.operand == 0 &&
               uses.regionOf(use.op) == uses.regionOf(l.in.values[last].def);
      if (goesOn) longer.push_back(op.results[0]);
    });
  }
  return longer;
}

/// Makes room for a push and those that follow it at once.
void makeRoom(Lower& l, const core::Op& first) {
  const TypeId type = l.typeOf(first.results[0]), elem = l.types[type].parts[0];
  if (!areUncounted(l, elem)) return;
  const std::vector<core::ValueId> longer = pushesFrom(l, first);
  if (longer.size() < 2) return;
  const ValueId had = l.leaf(first.operands[0]), before = listLength(l, elem, had);
  const ValueId list = withRoom(l, elem, had, before, l.b.integer(static_cast<int64_t>(longer.size())));
  const ValueId address = l.b.pointerOf(list);
  for (size_t k = 0; k < longer.size(); ++k) {
    const ValueId index = l.b.arith(OpKind::Add, before, l.b.integer(static_cast<int64_t>(k)));
    l.setRoom(longer[k], {elementPlace(l, type, address, index), k + 1 == longer.size() ? list : ValueId()});
  }
}

} // namespace

Place elementPlace(Lower& l, TypeId list, ValueId address, ValueId index) {
  Place place;
  place.type = list;
  std::vector<ValueId> root{address};
  enterList(l, place, root, index, false);
  return place;
}

void lowerPush(Lower& l, const core::Op& op) {
  TypeId elem = l.types[l.typeOf(op.operands[0])].parts[0];
  const std::vector<ValueId> x = l.leaves(op.operands[1]);
  if (!l.roomFor(op.results[0])) makeRoom(l, op);
  if (const Room* room = l.roomFor(op.results[0])) {
    storeStored(l, room->place, x, StoreMode::Fresh);
    if (!room->list.valid()) return;
    l.b.stmt(StmtKind::KeepAlive, {room->list});
    return l.define(op.results[0], {room->list});
  }
  ValueId slot = listSlot(l, l.leaf(op.operands[0]));
  ValueId at = l.b.value(StmtKind::Runtime, {slot}, addressType, RuntimeCall{RuntimeKind::ListPush, elem});
  storeStored(l, memoryPlace(l, at, elem), x, StoreMode::Fresh);
  l.define(op.results[0], {takeSlot(l, slot)});
}

void lowerPop(Lower& l, const core::Op& op) {
  TypeId elem = l.types[l.typeOf(op.operands[0])].parts[0];
  ValueId slot = listSlot(l, l.leaf(op.operands[0]));
  ValueId length = l.b.value(StmtKind::Runtime, {l.b.load(slot, {}, {addressType, 8, 0, false, false})},
                             indexType, RuntimeCall{RuntimeKind::ListLength, elem});
  ValueId some = l.b.compare(ops::CmpKind::Gt, length, l.b.integer(0));
  l.b.stmt(StmtKind::Check, {some}, {}, Message{"pop of an empty list"});
  ValueId at = l.b.value(StmtKind::Runtime, {slot}, addressType, RuntimeCall{RuntimeKind::ListPop, elem});
  l.define(op.results[0], loadStored(l, memoryPlace(l, at, elem), true));
  l.define(op.results[1], {takeSlot(l, slot)});
}

void lowerToArray(Lower& l, const core::Op& op) {
  ValueId list = l.leaf(op.operands[0]);
  TypeId elem = l.types[l.typeOf(op.operands[0])].parts[0];
  ValueId length =
      l.b.value(StmtKind::Runtime, {list}, indexType, RuntimeCall{RuntimeKind::ListLength, elem});
  if (!op.resultDims.empty()) l.defineDim(op.resultDims[0], length);
  TypeId result = l.typeOf(op.results[0]);
  if (l.types.kind(elem) != TypeKind::Array) {
    return l.define(op.results[0], {l.b.value(StmtKind::Runtime, {list}, dataType,
                                              RuntimeCall{RuntimeKind::ListToArray, elem})});
  }
  // Elements that are arrays of known dims become the array's inner axes.
  ValueId data = allocArray(l, l.types.element(result), l.dimsOf(result), false);
  ValueId stride = denseStrides(l, l.dimsOf(result))[0];
  l.b.loop(length, [&](ValueId i) {
    std::vector<ValueId> none;
    Place from;
    from.type = l.typeOf(op.operands[0]);
    std::vector<ValueId> root{list};
    enterList(l, from, root, i, false);
    ValueId pointer = l.b.load(from.base, from.terms, accessAt(from, addressType));
    copyBetween(l, densePlace(l, Destination{data, {{i, stride}}}, elem), densePlace(l, pointer, elem), true);
  });
  l.b.stmt(StmtKind::KeepAlive, {list});
  l.define(op.results[0], {data});
}

void lowerToList(Lower& l, const core::Op& op) {
  TypeId type = l.typeOf(op.operands[0]);
  TypeId elem = l.types[l.typeOf(op.results[0])].parts[0];
  ValueId data = l.leaf(op.operands[0]);
  std::vector<ValueId> extents = l.dimsOf(type);
  if (l.types.rank(type) == 1) {
    ValueId address = l.b.pointerOf(data);
    ValueId list = l.b.value(StmtKind::Runtime, {address, extents[0]}, dataType,
                             RuntimeCall{RuntimeKind::ListFromArray, elem});
    l.b.stmt(StmtKind::KeepAlive, {data});
    return l.define(op.results[0], {list});
  }
  ValueId slot = listSlot(l, l.b.zero(dataType));
  l.b.stmt(StmtKind::Runtime, {slot, extents[0]}, {}, RuntimeCall{RuntimeKind::ListReserve, elem});
  ValueId stride = denseStrides(l, extents)[0];
  TypeId row = l.types.kind(elem) == TypeKind::Pack ? l.layouts.packInner(elem) : elem;
  l.b.loop(extents[0], [&](ValueId i) {
    std::vector<types::DimId> inner(l.types[type].dims.begin() + 1, l.types[type].dims.end());
    TypeId rowType = l.types.array(l.types.element(type), inner);
    ValueId copy = copyToDense(l, densePlace(l, Destination{data, {{i, stride}}}, rowType));
    ValueId at = l.b.value(StmtKind::Runtime, {slot}, addressType, RuntimeCall{RuntimeKind::ListPush, elem});
    std::vector<ValueId> stored{copy};
    if (row != elem) stored.insert(stored.begin(), extents.begin() + 1, extents.end());
    storeStored(l, memoryPlace(l, at, elem), stored, StoreMode::Fresh);
  });
  l.define(op.results[0], {takeSlot(l, slot)});
}

core::OpId onlyPush(Lower& l, const core::LoopView& loop, size_t k) {
  const core::Uses& uses = l.facts->uses;
  const core::ValueId before = loop.carryParams()[k], after = loop.carryYields()[k];
  const core::OpId id = l.in.values[after].def;
  if (!id.valid() || l.in.ops[id].kind != OpKind::Push || uses.regionOf(id) != loop.body()) return {};
  if (l.in.ops[id].operands[0] != before || uses.count(before) != 1 || uses.count(after) != 1) return {};
  if (!areUncounted(l, l.types[l.typeOf(after)].parts[0])) return {};
  // Where an iteration may end the program, nobody asks for the memory of all of them.
  const bool ends = std::ranges::any_of(l.in.regions[loop.body()].ops, [&](core::OpId other) {
    const core::Op& op = l.in.ops[other];
    const bool isScalar = std::ranges::all_of(
        op.results, [&](core::ValueId r) { return l.types.isScalar(l.typeOf(r)) || r == after; });
    return !op.regions.empty() || ops::opEffect(op.kind) != ops::EffectKind::None || !isScalar;
  });
  return ends ? core::OpId() : id;
}

LongerList lengthen(Lower& l, core::ValueId list, ValueId count) {
  const TypeId elem = l.types[l.typeOf(list)].parts[0];
  const ValueId had = l.leaf(list), before = listLength(l, elem, had);
  l.b.begin();
  const RegionId some = l.b.end({withRoom(l, elem, had, before, count)});
  l.b.begin();
  const RegionId none = l.b.end({had});
  const ValueId any = l.b.compare(ops::CmpKind::Gt, count, l.b.integer(0));
  const ValueId longer = l.b.results(l.b.stmt(StmtKind::If, {any}, {dataType}, {}, {some, none}))[0];
  return {longer, l.b.pointerOf(longer), before};
}

} // namespace melix::loops
