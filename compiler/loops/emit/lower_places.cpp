// Places: get, set and add_at along a path.
#include "core/ir/place.h"
#include "loops/emit/lower.h"
#include "loops/layout/move_out_elements.h"

namespace melix::loops {

Place Lower::startOf(core::ValueId v) {
  const Rep& r = rep(v);
  if (r.view) return r.view->place;
  Place place;
  place.type = typeOf(v);
  return place;
}

/// The base of the container (array or list) that the place holds. Where the place is memory, the container
/// is another block: its pointer is read, and for an update replaced by one with a single owner.
ValueId Lower::enterContainer(Place& place, std::vector<ValueId>& leaves, bool unique) {
  ValueId base;
  if (place.inLeaves && place.inAcc) {
    base = leaves[place.firstLeaf];
    place.inAcc = false;
    if (types_.kind(place.type) != TypeKind::Array) {
      place = memoryPlace(base, place.type);
      return enterContainer(place, leaves, unique);
    }
  } else if (place.inLeaves) {
    ValueId& data = leaves[place.firstLeaf];
    if (unique) data = b_.value(StmtKind::EnsureUnique, {data}, dataType);
    base = data;
  } else if (unique) {
    Access a = access(place, dataType);
    a.transfersOwnership = true;
    ValueId old = b_.load(place.base, place.terms, a);
    ValueId fresh = b_.value(StmtKind::EnsureUnique, {old}, dataType);
    base = b_.pointerOf(fresh);
    b_.store(place.base, place.terms, access(place, dataType), fresh);
    place.indirect = true;
  } else {
    base = b_.load(place.base, place.terms, access(place, addressType));
    place.indirect = true;
  }
  place.inLeaves = false;
  place.base = base;
  place.terms.clear();
  place.offset = 0;
  return base;
}

void Lower::enterArray(Place& place, std::vector<ValueId>& leaves, bool unique) {
  TypeId type = place.type;
  enterContainer(place, leaves, unique);
  std::vector<ValueId> extents = dimsOf(type);
  std::vector<ValueId> strides = denseStrides(extents);
  for (size_t k = 0; k < extents.size(); ++k) place.axes.push_back({strides[k], extents[k], true});
  place.type = types_.element(type);
  place.scale = layouts_.stored(place.type).size;
}

void Lower::enterList(Place& place, std::vector<ValueId>& leaves, ValueId index, bool unique) {
  TypeId type = place.type;
  enterContainer(place, leaves, unique);
  place.type = types_[type].parts[0];
  place.scale = layouts_.stored(place.type).size;
  place.terms = {{index, b_.integer(1)}};
  place.offset = 16;
}

Place Lower::walk(Place place, std::vector<ValueId>& leaves, const core::Path& path, const core::Op& op,
                  size_t operand, bool unique) {
  for (size_t i = 0; i < path.size();) {
    const core::PathStep& step = path[i];
    if (step.kind == core::StepKind::Field) {
      if (place.inLeaves && !place.inAcc && layouts_.inBlock(place.type)) {
        ValueId& data = leaves[place.firstLeaf];
        if (unique) data = b_.value(StmtKind::EnsureUnique, {data}, dataType);
        place = memoryPlace(data, place.type);
      }
      if (place.inLeaves)
        place.firstLeaf += layouts_.firstLeaf(place.type, step.number, place.inAcc);
      else
        place.offset += layouts_.partOffset(place.type, step.number);
      place.type = layouts_.part(place.type, step.number);
      ++i;
      continue;
    }
    if (step.kind == core::StepKind::Element) {
      enterList(place, leaves, leaf(op.operands[operand++]), unique);
      ++i;
      continue;
    }
    // The steps of one array: those that follow, one for each axis. A view has its axes already.
    if (place.axes.empty()) enterArray(place, leaves, unique);
    std::vector<Axis> left;
    size_t axis = 0;
    for (; i < path.size() && axis < place.axes.size() && isIndexLike(path[i].kind); ++i, ++axis) {
      Axis a = place.axes[axis];
      if (path[i].kind == core::StepKind::All) {
        left.push_back(a);
        continue;
      }
      ValueId index = leaf(op.operands[operand++]);
      place.terms.push_back({index, a.stride});
      // What is left before this axis is no longer dense.
      for (Axis& before : left) before.whole = false;
      if (path[i].kind == core::StepKind::Index) continue;
      ValueId stride =
          path[i].step == 1 ? a.stride : b_.arith(OpKind::Mul, a.stride, b_.integer(path[i].step));
      left.push_back({stride, dim(path[i].length), false});
    }
    for (; axis < place.axes.size(); ++axis) left.push_back(place.axes[axis]);
    place.axes = std::move(left);
  }
  return place;
}

// --- ops
// ------------------------------------------------------------------------------------------------------------

void Lower::lowerGet(const core::Op& op) {
  core::ValueId root = op.operands[0], result = op.results[0];
  Place start = startOf(root);
  std::vector<ValueId> all = start.inLeaves ? leaves(root) : std::vector<ValueId>{};
  const core::Op* put =
      filters_.contains(facts_->uses.homeOf(result)) ? nullptr : putBack(in_, facts_->uses, op);
  Place place = walk(start, all, op.as<core::Path>(), op, 1, put != nullptr);
  if (put) {
    define(result, loadStored(place, true));
    env_[put->results[0].index] = {all, View{place}, false};
    return;
  }
  if (place.inLeaves) {
    uint32_t count = layouts_.leafCount(place.type);
    return define(result, {all.begin() + place.firstLeaf, all.begin() + place.firstLeaf + count});
  }
  if (place.axes.empty()) {
    define(result, loadStored(place));
  } else if (const Destination* given = destinationOf(result)) {
    copyBetween(densePlace(*given, typeOf(result)), place, true);
    defineArray(result, given->base, true);
  } else if (!place.indirect && facts_->views.mayView(op)) {
    env_[result.index] = {{}, View{place}, false};
    return;
  } else {
    define(result, {copyToDense(place)});
  }
  if (place.indirect)
    for (ValueId v : all)
      if (b_.fn.typeOf(v).counted()) b_.stmt(StmtKind::KeepAlive, {v});
}

void Lower::lowerSet(const core::Op& op) {
  core::ValueId root = op.operands[0], value = op.operands[1];
  if (auto put = env_.find(op.results[0].index); put != env_.end() && put->second.view) {
    const Rep taken = std::move(put->second);
    storeStored(taken.view->place, leaves(value), StoreMode::Fresh);
    return define(op.results[0], taken.leaves);
  }
  std::vector<ValueId> all = leaves(root);
  Place place = walk(startOf(root), all, op.as<core::Path>(), op, 2, true);
  if (place.inLeaves) {
    const std::vector<ValueId> v = leaves(value);
    std::copy(v.begin(), v.end(), all.begin() + place.firstLeaf);
  } else if (place.axes.empty()) {
    storeStored(place, leaves(value), StoreMode::Replace);
  } else {
    const std::optional<View> part = env_[value.index].view;
    copyBetween(place, part ? part->place : densePlace(leaf(value), typeOf(value)), false);
  }
  define(op.results[0], all);
}

void Lower::lowerAddAt(const core::Op& op) {
  core::ValueId root = op.operands[0], value = op.operands[1];
  std::vector<ValueId> all = leaves(root);
  const std::vector<ValueId> v = leaves(value);
  Place start = startOf(root);
  if (types_.kind(start.type) == TypeKind::Acc) {
    start.type = types_[start.type].parts[0];
    start.inAcc = true;
  }
  Place place = walk(start, all, op.as<core::Path>(), op, 2, true);
  if (place.inLeaves && place.inAcc) {
    addToAcc(place.type, all.data() + place.firstLeaf, v);
  } else if (place.inLeaves) {
    uint32_t count = layouts_.leafCount(place.type);
    auto first = all.begin() + place.firstLeaf;
    std::vector<ValueId> sum = addLeaves(place.type, {first, first + count}, v);
    std::copy(sum.begin(), sum.end(), first);
  } else if (place.axes.empty()) {
    addStored(place, v);
  } else {
    addStoredArray(place, densePlace(v[0], typeOf(value)), OpKind::Add);
  }
  define(op.results[0], all);
}

} // namespace melix::loops
