// Places: get, set and add_at along a path.
#include "loops/emit/lower_places.h"

#include "core/ir/place.h"
#include "loops/emit/lower.h"
#include "loops/emit/lower_accs.h"
#include "loops/emit/lower_arrays.h"
#include "loops/emit/lower_records.h"
#include "loops/emit/lower_values.h"
#include "loops/layout/move_out_elements.h"

namespace melix::loops {

namespace {

Place startOf(Lower& l, core::ValueId v) {
  const Rep& r = l.rep(v);
  if (r.view) return r.view->place;
  Place place;
  place.type = l.typeOf(v);
  return place;
}

/// The base of the container (array or list) that the place holds. Where the place is memory, the container
/// is another block: its pointer is read, and for an update replaced by one with a single owner.
ValueId enterContainer(Lower& l, Place& place, std::vector<ValueId>& leaves, bool unique) {
  ValueId base;
  if (place.inLeaves && place.inAcc) {
    base = leaves[place.firstLeaf];
    place.inAcc = false;
    if (l.types.kind(place.type) != TypeKind::Array) {
      place = memoryPlace(l, base, place.type);
      return enterContainer(l, place, leaves, unique);
    }
  } else if (place.inLeaves) {
    ValueId& data = leaves[place.firstLeaf];
    if (unique) data = l.b.value(StmtKind::EnsureUnique, {data}, dataType);
    base = data;
  } else if (unique) {
    Access a = accessAt(place, dataType);
    a.transfersOwnership = true;
    ValueId old = l.b.load(place.base, place.terms, a);
    ValueId fresh = l.b.value(StmtKind::EnsureUnique, {old}, dataType);
    base = l.b.pointerOf(fresh);
    l.b.store(place.base, place.terms, accessAt(place, dataType), fresh);
    place.indirect = true;
  } else {
    base = l.b.load(place.base, place.terms, accessAt(place, addressType));
    place.indirect = true;
  }
  place.inLeaves = false;
  place.base = base;
  place.terms.clear();
  place.offset = 0;
  return base;
}

void enterArray(Lower& l, Place& place, std::vector<ValueId>& leaves, bool unique) {
  if (!place.inLeaves && l.layouts.isInPlace(place.stored)) {
    place = elementsInPlace(l, place);
    return;
  }
  TypeId type = place.type;
  enterContainer(l, place, leaves, unique);
  std::vector<ValueId> extents = l.dimsOf(type);
  std::vector<ValueId> strides = denseStrides(l, extents);
  for (size_t k = 0; k < extents.size(); ++k) place.axes.push_back({strides[k], extents[k], true});
  place.type = l.types.element(type);
  place.stored = l.layouts.inMemory(place.type);
  place.scale = l.layouts.stored(place.type).size;
}

Place followPath(Lower& l, Place place, std::vector<ValueId>& leaves, const core::Path& path,
                 const core::Op& op, size_t operand, bool unique) {
  for (size_t i = 0; i < path.size();) {
    const core::PathStep& step = path[i];
    if (step.kind == core::StepKind::Field) {
      if (place.inLeaves && !place.inAcc && l.layouts.inBlock(place.type)) {
        ValueId& data = leaves[place.firstLeaf];
        if (unique) data = l.b.value(StmtKind::EnsureUnique, {data}, dataType);
        place = memoryPlace(l, data, place.type);
      }
      ++i;
      if (!place.inLeaves) {
        place = partOf(l, place, step.number);
        continue;
      }
      place.firstLeaf += l.layouts.firstLeaf(place.type, step.number, place.inAcc);
      place.type = l.layouts.part(place.type, step.number);
      continue;
    }
    if (step.kind == core::StepKind::Element) {
      enterList(l, place, leaves, l.leaf(op.operands[operand++]), unique);
      ++i;
      continue;
    }
    // The steps of one array: those that follow, one for each axis. A view has its axes already.
    if (place.axes.empty()) enterArray(l, place, leaves, unique);
    std::vector<Axis> left;
    size_t axis = 0;
    for (; i < path.size() && axis < place.axes.size() && isIndexLike(path[i].kind); ++i, ++axis) {
      Axis a = place.axes[axis];
      if (path[i].kind == core::StepKind::All) {
        left.push_back(a);
        continue;
      }
      ValueId index = l.leaf(op.operands[operand++]);
      place.terms.push_back({index, a.stride});
      // The axes before this one are no longer dense.
      for (Axis& before : left) before.whole = false;
      if (path[i].kind == core::StepKind::Index) continue;
      ValueId stride =
          path[i].step == 1 ? a.stride : l.b.arith(OpKind::Mul, a.stride, l.b.integer(path[i].step));
      left.push_back({stride, l.dim(path[i].length), false});
    }
    for (; axis < place.axes.size(); ++axis) left.push_back(place.axes[axis]);
    place.axes = std::move(left);
  }
  return place;
}

} // namespace

void enterList(Lower& l, Place& place, std::vector<ValueId>& leaves, ValueId index, bool unique) {
  TypeId type = place.type;
  enterContainer(l, place, leaves, unique);
  place.type = l.types[type].parts[0];
  place.stored = l.layouts.inMemory(place.type);
  place.scale = l.layouts.stored(place.type).size;
  place.terms = {{index, l.b.integer(1)}};
  place.offset = 16;
}

namespace {

/// A whole array that lies in place is its elements.
void enterIfInPlace(Lower& l, Place& place) {
  if (place.axes.empty() && l.layouts.isInPlace(place.stored)) place = elementsInPlace(l, place);
}

void addAtPlace(Lower& l, Place place, core::ValueId value, const std::vector<ValueId>& leaves) {
  enterIfInPlace(l, place);
  if (place.axes.empty()) return addStored(l, place, leaves);
  addStoredArray(l, place, densePlace(l, leaves[0], l.typeOf(value)), OpKind::Add);
}

} // namespace

void lowerGet(Lower& l, const core::Op& op) {
  core::ValueId root = op.operands[0], result = op.results[0];
  Place start = startOf(l, root);
  std::vector<ValueId> all = start.inLeaves ? l.leaves(root) : std::vector<ValueId>{};
  const bool isInNode = !start.inLeaves && l.b.fn.typeOf(start.base).cls == ClassKind::Word;
  const core::Op* put =
      l.isFiltered(l.facts->uses.homeOf(result)) ? nullptr : putBack(l.in, l.facts->uses, op);
  Place place = followPath(l, start, all, op.as<core::Path>(), op, 1, put != nullptr);
  if (put) {
    l.define(result, loadStored(l, place, true));
    l.setRep(put->results[0], {all, View{place}, false});
    return;
  }
  if (place.inLeaves) {
    uint32_t count = l.layouts.leafCount(place.type);
    return l.define(result, {all.begin() + place.firstLeaf, all.begin() + place.firstLeaf + count});
  }
  const bool isFieldInPlace = place.axes.empty() && !place.indirect && l.layouts.isInPlace(place.stored);
  enterIfInPlace(l, place);
  if (place.axes.empty()) {
    l.define(result, loadStored(l, place));
  } else if (const Destination* given = l.given.find(result)) {
    copyBetween(l, densePlace(l, *given, l.typeOf(result)), place, true);
    l.defineArray(result, given->base, true);
  } else if (!place.indirect && l.facts->views.mayView(op, isInNode)) {
    return l.setRep(result, {{}, View{place}, false});
  } else if (const auto arms =
                 isInNode && isFieldInPlace ? l.facts->views.armsThatTake(result) : std::nullopt) {
    return l.stay(result, place, *arms);
  } else {
    l.define(result, {copyToDense(l, place)});
  }
  if (!place.indirect) return;
  for (ValueId v : start.inLeaves ? all : std::vector<ValueId>{start.base})
    if (l.b.fn.typeOf(v).counted()) l.b.stmt(StmtKind::KeepAlive, {v});
}

void lowerSet(Lower& l, const core::Op& op) {
  core::ValueId root = op.operands[0], value = op.operands[1];
  if (const std::optional<Rep> taken = l.takeView(op.results[0])) {
    storeStored(l, taken->view->place, l.leaves(value), StoreMode::Fresh);
    return l.define(op.results[0], taken->leaves);
  }
  std::vector<ValueId> all = l.leaves(root);
  Place place = followPath(l, startOf(l, root), all, op.as<core::Path>(), op, 2, true);
  if (place.inLeaves) {
    const std::vector<ValueId> v = l.leaves(value);
    std::copy(v.begin(), v.end(), all.begin() + place.firstLeaf);
    return l.define(op.results[0], all);
  }
  enterIfInPlace(l, place);
  if (place.axes.empty()) {
    storeStored(l, place, l.leaves(value), StoreMode::Replace);
  } else {
    const std::optional<View> part = l.rep(value).view;
    copyBetween(l, place, part ? part->place : densePlace(l, l.leaf(value), l.typeOf(value)), false);
  }
  l.define(op.results[0], all);
}

void lowerAddAt(Lower& l, const core::Op& op) {
  core::ValueId root = op.operands[0], value = op.operands[1];
  std::vector<ValueId> all = l.leaves(root);
  const std::vector<ValueId> v = l.leaves(value);
  Place start = startOf(l, root);
  if (l.types.kind(start.type) == TypeKind::Acc) {
    start.type = l.types[start.type].parts[0];
    start.inAcc = true;
  }
  Place place = followPath(l, start, all, op.as<core::Path>(), op, 2, true);
  if (place.inLeaves && place.inAcc) {
    addToAcc(l, place.type, all.data() + place.firstLeaf, v);
  } else if (place.inLeaves) {
    uint32_t count = l.layouts.leafCount(place.type);
    auto first = all.begin() + place.firstLeaf;
    std::vector<ValueId> sum = addLeaves(l, place.type, {first, first + count}, v);
    std::copy(sum.begin(), sum.end(), first);
  } else {
    addAtPlace(l, place, value, v);
  }
  l.define(op.results[0], all);
}

} // namespace melix::loops
