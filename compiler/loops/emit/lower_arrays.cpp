// Whole arrays: allocation, copies, sums of tangents.
#include "loops/emit/lower.h"

#include <algorithm>

namespace melix::loops {

/// `alike` are arrays of the same type in whose place it might lie.
ValueId Lower::allocArray(TypeId elem, const std::vector<ValueId>& dims, bool zeroed,
                          const std::vector<ValueId>& alike) {
  std::vector<ValueId> operands = dims;
  operands.insert(operands.end(), alike.begin(), alike.end());
  return b_.value(StmtKind::AllocArray, std::move(operands), dataType,
                  AllocAttr{elem, layouts_.stored(elem).size, zeroed});
}

std::vector<ValueId> Lower::denseStrides(const std::vector<ValueId>& extents) {
  std::vector<ValueId> strides(extents.size());
  ValueId stride = b_.integer(1);
  for (size_t k = extents.size(); k-- > 0;) {
    strides[k] = stride;
    if (k == 0) break;
    const uint64_t *a = b_.asConstant(stride), *b = b_.asConstant(extents[k]);
    stride = a && *a == 1 ? extents[k]
             : a && b     ? b_.integer(static_cast<int64_t>(*a * *b))
                          : b_.arith(OpKind::Mul, stride, extents[k]);
  }
  return strides;
}

Place Lower::densePlace(ValueId data, TypeId arrayType) {
  return densePlace(Destination{data, {}}, arrayType);
}

Place Lower::densePlace(const Destination& at, TypeId arrayType) {
  Place place;
  place.inLeaves = false;
  place.base = at.base;
  place.terms = at.terms;
  place.type = types_.element(arrayType);
  place.scale = layouts_.stored(place.type).size;
  std::vector<ValueId> extents = dimsOf(arrayType);
  std::vector<ValueId> strides = denseStrides(extents);
  for (size_t k = 0; k < extents.size(); ++k) place.axes.push_back({strides[k], extents[k], true});
  return place;
}

ValueId Lower::copyToDense(const Place& place) {
  std::vector<ValueId> extents;
  for (const Axis& axis : place.axes) extents.push_back(axis.extent);
  ValueId data = allocArray(place.type, extents, false);
  Place to;
  to.inLeaves = false;
  to.base = data;
  to.type = place.type;
  to.scale = layouts_.stored(place.type).size;
  std::vector<ValueId> strides = denseStrides(extents);
  for (size_t k = 0; k < extents.size(); ++k) to.axes.push_back({strides[k], extents[k], true});
  copyBetween(to, place, true);
  return data;
}

/// A loop over the first axes of two places, which have the same extent.
void Lower::alongFirst(Place to, Place from, const std::function<void(const Place&, const Place&)>& each) {
  Axis a = to.axes.front(), b = from.axes.front();
  to.axes.erase(to.axes.begin());
  from.axes.erase(from.axes.begin());
  b_.loop(a.extent, [&](ValueId i) {
    to.terms.push_back({i, a.stride});
    from.terms.push_back({i, b.stride});
    each(to, from);
  });
}

/// Copies `from` over `to`, of equal extents. The trailing axes that are whole on both sides are one run of
/// bytes. `fresh`: the memory holds no references yet.
void Lower::copyBetween(const Place& to, const Place& from, bool fresh) {
  size_t outer = to.axes.size();
  while (outer > 0 && to.axes[outer - 1].whole && from.axes[outer - 1].whole) --outer;
  StoredForm form = layouts_.stored(to.type);
  if (outer == to.axes.size()) {
    if (outer == 0 && layouts_.inBlock(to.type)) return copyStored(to, from, b_.integer(1), true, !fresh);
    if (outer == 0) return storeStored(to, loadStored(from), fresh ? StoreMode::Fresh : StoreMode::Replace);
  } else if (outer == 0 && from.scale == form.size && to.scale == form.size) {
    std::vector<ValueId> extents;
    for (const Axis& axis : to.axes) extents.push_back(axis.extent);
    return copyStored(to, from, b_.product(extents), true, !fresh);
  }
  alongFirst(to, from, [&](const Place& t, const Place& f) { copyBetween(t, f, fresh); });
}

/// The parts of a literal, those of a row that it holds in their places.
void Lower::lowerArrayOf(const core::Op& op) {
  if (facts_->literals.isPart(op.results[0]) || facts_->literals.isRow(op.results[0])) return;
  TypeId type = typeOf(op.results[0]);
  const Destination* given = destinationOf(op.results[0]);
  const Destination to =
      given ? *given : Destination{allocArray(types_.element(type), dimsOf(type), false), {}};
  auto storeParts = [&](const auto& self, const core::Op& literal, const Destination& base) -> void {
    if (literal.operands.empty()) return;
    const TypeId part = typeOf(literal.operands[0]);
    const bool nested = types_.kind(part) == TypeKind::Array;
    const ValueId stride = denseStrides(dimsOf(typeOf(literal.results[0])))[0];
    for (size_t k = 0; k < literal.operands.size(); ++k) {
      const core::ValueId v = literal.operands[k];
      Destination at = base;
      at.terms.push_back({b_.integer(static_cast<int64_t>(k)), stride});
      if (nested && facts_->literals.isRow(v)) {
        self(self, in_.ops[in_.values[v].def], at);
      } else if (nested) {
        copyBetween(densePlace(at, part), densePlace(leaf(v), part), true);
      } else {
        Place place = memoryPlace(at.base, part);
        place.terms = at.terms;
        place.scale = layouts_.stored(part).size;
        storeStored(place, leaves(v), StoreMode::Fresh);
      }
    }
  };
  if (const std::string& bytes = facts_->literals.bytesOf(op); !bytes.empty()) {
    ValueId from = b_.value(StmtKind::Text, {}, dataType, bytes);
    const uint32_t size = layouts_.stored(types_.element(type)).size;
    b_.stmt(StmtKind::CopyBytes, {b_.addressOf(to.base, to.terms, size, 0), b_.pointerOf(from),
                                  b_.integer(static_cast<int64_t>(bytes.size()))});
    b_.stmt(StmtKind::KeepAlive, {to.base});
  } else {
    storeParts(storeParts, op, to);
  }
  defineArray(op.results[0], to.base, given != nullptr);
}

void Lower::lowerArgSort(const core::Op& op) {
  TypeId type = typeOf(op.operands[0]);
  ValueId data = leaf(op.operands[0]);
  ValueId count = dimsOf(type)[0];
  ValueId sorted = allocArray(types_.int64(), {count}, false);
  ValueId from = b_.pointerOf(data), to = b_.pointerOf(sorted);
  b_.stmt(StmtKind::Runtime, {from, count, b_.integer(op.index() ? 1 : 0), to}, {},
          RuntimeCall{RuntimeKind::ArgSort, types_.element(type)});
  b_.stmt(StmtKind::KeepAlive, {data});
  b_.stmt(StmtKind::KeepAlive, {sorted});
  define(op.results[0], {sorted});
}

// --- zeros and sums of tangent types
// ----------------------------------------------------------------------------------

void Lower::lowerZero(const core::Op& op) { define(op.results[0], zeroOf(typeOf(op.results[0]))); }

ValueId Lower::zeroArray(TypeId type) {
  TypeId elem = types_.element(type);
  ValueId data = allocArray(elem, dimsOf(type), true);
  const std::vector<types::DimId>& extents = types_[type].dims;
  bool isEmpty = std::any_of(extents.begin(), extents.end(),
                             [&](types::DimId d) { return types_.dims.asConstant(d) == 0; });
  if (isEmpty) return data; // of any type, also of one that has no zero
  if (!types_.isScalar(elem) && layouts_.stored(elem).counted)
    forElements(densePlace(data, type),
                [&](const Place& at) { storeStored(at, zeroOf(elem), StoreMode::Fresh); });
  return data;
}

std::vector<ValueId> Lower::zeroOf(TypeId type) {
  TypeKind kind = types_.kind(type);
  if (kind == TypeKind::Array && layouts_.holdsItself(type)) return callTangent(type, OpKind::Zero, {}, {});
  if (kind == TypeKind::Array) return {zeroArray(type)};
  if (layouts_.inBlock(type)) return callTangent(type, OpKind::Zero, {}, {});
  if (layouts_.isProduct(type)) {
    std::vector<ValueId> out;
    for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k)
      for (ValueId v : zeroOf(layouts_.part(type, k))) out.push_back(v);
    return out;
  }
  // The first case of an enum of tangents is its zero.
  if (kind == TypeKind::Enum) {
    if (layouts_.fieldCount(type, 0) != 0) fail("the zero of an enum that is no tangent");
    return {b_.constant(wordType, 1)};
  }
  if (kind == TypeKind::Pack) { // of no size
    DimScope scope(*this);
    std::vector<ValueId> out;
    for (uint32_t k = 0; k < layouts_.packCount(type); ++k) out.push_back(b_.integer(0));
    enterPack(out);
    for (ValueId v : zeroOf(layouts_.packInner(type))) out.push_back(v);
    return out;
  }
  std::vector<ValueId> out;
  for (ValueType leaf : layouts_.leaves(type)) out.push_back(b_.zero(leaf));
  return out;
}

std::vector<ValueId> Lower::addLeaves(TypeId type, const std::vector<ValueId>& a,
                                      const std::vector<ValueId>& b, OpKind how) {
  TypeKind kind = types_.kind(type);
  if (kind == TypeKind::Array && layouts_.holdsItself(type)) return callTangent(type, how, a, b);
  if (kind == TypeKind::Array) return {addArrays(type, a[0], b[0], how)};
  if (layouts_.inBlock(type) || kind == TypeKind::List || kind == TypeKind::Enum)
    return callTangent(type, how, a, b);
  if (layouts_.isProduct(type)) {
    std::vector<ValueId> out;
    for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k)
      for (ValueId v :
           addLeaves(layouts_.part(type, k), leavesOfPart(type, k, a), leavesOfPart(type, k, b), how))
        out.push_back(v);
    return out;
  }
  if (kind == TypeKind::Pack) {
    DimScope scope(*this);
    uint32_t count = layouts_.packCount(type);
    std::vector<ValueId> out(a.begin(), a.begin() + count);
    enterPack(out);
    for (uint32_t k = 0; k < count; ++k) {
      b_.stmt(StmtKind::Check, {b_.compare(ops::CmpKind::Eq, a[k], b[k]), a[k], b[k]}, {},
              Message{"tangents of different sizes are added: {0} is not {1}"});
    }
    for (ValueId v :
         addLeaves(layouts_.packInner(type), {a.begin() + count, a.end()}, {b.begin() + count, b.end()}, how))
      out.push_back(v);
    return out;
  }
  if (types_.isScalar(type)) return {b_.scalar(how, {a[0], b[0]}, kind, kind)};
  fail("a sum of values of type `" + types_.print(type) + "`");
  return a;
}

ValueId Lower::negArray(TypeId type, ValueId a) {
  TypeId elem = types_.element(type);
  ValueId data = b_.value(StmtKind::EnsureUnique, {a}, dataType);
  forElements(densePlace(data, type), [&](const Place& at) {
    storeStored(at, negLeaves(elem, loadStored(at, true)), StoreMode::Fresh);
  });
  return data;
}

std::vector<ValueId> Lower::negLeaves(TypeId type, const std::vector<ValueId>& a) {
  TypeKind kind = types_.kind(type);
  if (kind == TypeKind::Array && layouts_.holdsItself(type)) return callTangent(type, OpKind::Neg, a, {});
  if (kind == TypeKind::Array) return {negArray(type, a[0])};
  if (layouts_.inBlock(type) || kind == TypeKind::List || kind == TypeKind::Enum)
    return callTangent(type, OpKind::Neg, a, {});
  if (layouts_.isProduct(type)) {
    std::vector<ValueId> out;
    for (uint32_t k = 0, n = layouts_.partCount(type); k < n; ++k)
      for (ValueId v : negLeaves(layouts_.part(type, k), leavesOfPart(type, k, a))) out.push_back(v);
    return out;
  }
  if (kind == TypeKind::Pack) {
    DimScope scope(*this);
    uint32_t count = layouts_.packCount(type);
    std::vector<ValueId> out(a.begin(), a.begin() + count);
    enterPack(out);
    for (ValueId v : negLeaves(layouts_.packInner(type), {a.begin() + count, a.end()})) out.push_back(v);
    return out;
  }
  if (types_.isScalar(type)) return {b_.scalar(OpKind::Neg, {a[0]}, kind, kind)};
  fail("the negative of a value of type `" + types_.print(type) + "`");
  return a;
}

ValueId Lower::addArrays(TypeId type, ValueId a, ValueId b, OpKind how) {
  ValueId sum = b_.value(StmtKind::EnsureUnique, {a}, dataType);
  addStoredArray(densePlace(sum, type), densePlace(b, type), how);
  b_.stmt(StmtKind::KeepAlive, {b});
  return sum;
}

void Lower::addStored(const Place& to, const std::vector<ValueId>& v) {
  std::vector<ValueId> sum = addLeaves(to.type, loadStored(to, true), v);
  storeStored(to, sum, StoreMode::Fresh);
}

void Lower::addStoredArray(const Place& to, const Place& from, OpKind how) {
  if (to.axes.empty()) {
    std::vector<ValueId> v = loadStored(from);
    return storeStored(to, addLeaves(to.type, loadStored(to, true), v, how), StoreMode::Fresh);
  }
  alongFirst(to, from, [&](const Place& t, const Place& f) { addStoredArray(t, f, how); });
}

} // namespace melix::loops
