// Whole arrays: allocation, copies, sums of tangents.
#include "loops/emit/lower_arrays.h"

#include "loops/emit/emit_grid.h"
#include "loops/emit/lower.h"
#include "loops/emit/lower_records.h"
#include "loops/emit/lower_tangents.h"
#include "loops/emit/lower_values.h"
#include "support/function_ref.h"

#include <algorithm>
#include <span>

namespace melix::loops {

namespace {

/// Runs `body` with the place of each element of `place` in turn.
void forElements(Lower& l, const Place& place, FunctionRef<void(const Place&)> body) {
  if (place.axes.empty()) return body(place);
  Place inner = place;
  Axis axis = inner.axes.front();
  inner.axes.erase(inner.axes.begin());
  l.b.loop(axis.extent, [&](ValueId i) {
    inner.terms.push_back({i, axis.stride});
    forElements(l, inner, body);
    inner.terms.pop_back();
  });
}

using EachPair = FunctionRef<void(const Place&, const Place&)>;

/// A loop over the first axes of two places, which have the same extent.
void alongFirst(Lower& l, Place to, Place from, EachPair each) {
  Axis a = to.axes.front(), b = from.axes.front();
  to.axes.erase(to.axes.begin());
  from.axes.erase(from.axes.begin());
  l.b.loop(a.extent, [&](ValueId i) {
    to.terms.push_back({i, a.stride});
    from.terms.push_back({i, b.stride});
    each(to, from);
  });
}

/// The place of one element.
Place elementAt(Place place, std::span<const ValueId> indices) {
  for (size_t k = 0; k < indices.size(); ++k) place.terms.push_back({indices[k], place.axes[k].stride});
  place.axes.clear();
  return place;
}

/// Whether a device runs loops over the elements of such a place, one for all axes.
bool launchesElements(Lower& l, const Place& place) {
  return launches(l) && !place.axes.empty() && l.types.isScalar(place.type);
}
void launchElements(Lower& l, const Place& to, const Place& from, EachPair each) {
  std::vector<ValueId> extents;
  for (const Axis& axis : to.axes) extents.push_back(axis.extent);
  emitGrid(l, extents,
           [&](std::span<const ValueId> indices) { each(elementAt(to, indices), elementAt(from, indices)); });
}

} // namespace

/// `alike` are arrays of the same type in whose place it might lie.
ValueId allocArray(Lower& l, TypeId elem, const std::vector<ValueId>& dims, bool zeroed,
                   const std::vector<ValueId>& alike) {
  std::vector<ValueId> operands = dims;
  operands.insert(operands.end(), alike.begin(), alike.end());
  return l.b.value(StmtKind::AllocArray, std::move(operands), dataType,
                   AllocAttr{elem, l.layouts.stored(elem).size, zeroed});
}

std::vector<ValueId> denseStrides(Lower& l, const std::vector<ValueId>& extents) {
  std::vector<ValueId> strides(extents.size());
  ValueId stride = l.b.integer(1);
  for (size_t k = extents.size(); k-- > 0;) {
    strides[k] = stride;
    if (k == 0) break;
    const uint64_t *a = l.b.asConstant(stride), *b = l.b.asConstant(extents[k]);
    stride = a && *a == 1 ? extents[k]
             : a && b     ? l.b.integer(static_cast<int64_t>(*a * *b))
                          : l.b.arith(OpKind::Mul, stride, extents[k]);
  }
  return strides;
}

Place densePlace(Lower& l, ValueId data, TypeId arrayType) {
  return densePlace(l, Destination{data, {}}, arrayType);
}

Place densePlace(Lower& l, const Destination& at, TypeId arrayType) {
  Place place;
  place.inLeaves = false;
  place.base = at.base;
  place.terms = at.terms;
  place.type = l.types.element(arrayType);
  place.stored = l.layouts.inMemory(place.type);
  place.scale = l.layouts.stored(place.type).size;
  std::vector<ValueId> extents = l.dimsOf(arrayType);
  std::vector<ValueId> strides = denseStrides(l, extents);
  for (size_t k = 0; k < extents.size(); ++k) place.axes.push_back({strides[k], extents[k], true});
  return place;
}

Place elementsInPlace(Lower& l, Place place) {
  const TypeId type = place.type;
  place.type = l.types.element(type);
  place.stored = l.layouts.inMemory(place.type);
  const uint32_t size = l.layouts.stored(place.stored).size;
  assert(place.scale % size == 0 && "the indices so far count records, which are whole numbers of elements");
  for (Term& term : place.terms)
    term.stride = l.b.arith(OpKind::Mul, term.stride, l.b.integer(place.scale / size));
  place.scale = size;
  const std::vector<ValueId> extents = l.dimsOf(type), strides = denseStrides(l, extents);
  for (size_t k = 0; k < extents.size(); ++k) place.axes.push_back({strides[k], extents[k], true});
  return place;
}

ValueId copyToDense(Lower& l, const Place& place) {
  std::vector<ValueId> extents;
  for (const Axis& axis : place.axes) extents.push_back(axis.extent);
  ValueId data = allocArray(l, place.type, extents, false);
  Place to = memoryPlace(l, data, place.type);
  to.scale = l.layouts.stored(place.type).size;
  std::vector<ValueId> strides = denseStrides(l, extents);
  for (size_t k = 0; k < extents.size(); ++k) to.axes.push_back({strides[k], extents[k], true});
  copyBetween(l, to, place, true);
  return data;
}

/// Copies `from` over `to`, of equal extents. The trailing axes that are whole on both sides are one run of
/// bytes. `fresh`: the memory holds no references yet.
void copyBetween(Lower& l, const Place& to, const Place& from, bool fresh) {
  size_t outer = to.axes.size();
  while (outer > 0 && to.axes[outer - 1].whole && from.axes[outer - 1].whole) --outer;
  StoredForm form = l.layouts.stored(to.stored);
  if (outer == to.axes.size()) {
    if (outer == 0 && l.layouts.inBlock(to.type))
      return copyStored(l, to, from, l.b.integer(1), true, !fresh);
    if (outer == 0)
      return storeStored(l, to, loadStored(l, from), fresh ? StoreMode::Fresh : StoreMode::Replace);
  } else if (outer == 0 && from.scale == form.size && to.scale == form.size) {
    std::vector<ValueId> extents;
    for (const Axis& axis : to.axes) extents.push_back(axis.extent);
    return copyStored(l, to, from, l.b.product(extents), true, !fresh);
  }
  const auto copyInside = [&](const Place& t, const Place& f) { copyBetween(l, t, f, fresh); };
  if (launchesElements(l, to)) return launchElements(l, to, from, copyInside);
  alongFirst(l, to, from, copyInside);
}

/// The parts of a literal, those of a row that it holds in their places.
void lowerArrayOf(Lower& l, const core::Op& op) {
  if (l.facts->literals.isPart(op.results[0]) || l.facts->literals.isRow(op.results[0])) return;
  TypeId type = l.typeOf(op.results[0]);
  const Destination* given = l.given.find(op.results[0]);
  const Destination to =
      given ? *given : Destination{allocArray(l, l.types.element(type), l.dimsOf(type), false), {}};
  auto storeParts = [&](const auto& self, const core::Op& literal, const Destination& base) -> void {
    if (literal.operands.empty()) return;
    const TypeId part = l.typeOf(literal.operands[0]);
    const bool nested = l.types.kind(part) == TypeKind::Array;
    const ValueId stride = denseStrides(l, l.dimsOf(l.typeOf(literal.results[0])))[0];
    for (size_t k = 0; k < literal.operands.size(); ++k) {
      const core::ValueId v = literal.operands[k];
      Destination at = base;
      at.terms.push_back({l.b.integer(static_cast<int64_t>(k)), stride});
      if (nested && l.facts->literals.isRow(v)) {
        self(self, l.in.ops[l.in.values[v].def], at);
      } else if (nested) {
        copyBetween(l, densePlace(l, at, part), densePlace(l, l.leaf(v), part), true);
      } else {
        Place place = memoryPlace(l, at.base, part);
        place.terms = at.terms;
        place.scale = l.layouts.stored(part).size;
        storeStored(l, place, l.leaves(v), StoreMode::Fresh);
      }
    }
  };
  if (const std::string& bytes = l.facts->literals.bytesOf(op); !bytes.empty()) {
    ValueId from = l.b.value(StmtKind::Text, {}, dataType, bytes);
    const uint32_t size = l.layouts.stored(l.types.element(type)).size;
    l.b.stmt(StmtKind::CopyBytes, {l.b.addressOf(to.base, to.terms, size, 0), l.b.pointerOf(from),
                                   l.b.integer(static_cast<int64_t>(bytes.size()))});
    l.b.stmt(StmtKind::KeepAlive, {to.base});
  } else {
    storeParts(storeParts, op, to);
  }
  l.defineArray(op.results[0], to.base, given != nullptr);
}

void lowerArgSort(Lower& l, const core::Op& op) {
  if (launches(l)) l.context.made.module->onHost.push_back({op.loc, "a sort"});
  TypeId type = l.typeOf(op.operands[0]);
  ValueId data = l.leaf(op.operands[0]);
  ValueId count = l.dimsOf(type)[0];
  ValueId sorted = allocArray(l, l.types.int64(), {count}, false);
  ValueId from = l.b.pointerOf(data), to = l.b.pointerOf(sorted);
  l.b.stmt(StmtKind::Runtime, {from, count, l.b.integer(op.index() ? 1 : 0), to}, {},
           RuntimeCall{RuntimeKind::ArgSort, l.types.element(type)});
  l.b.stmt(StmtKind::KeepAlive, {data});
  l.b.stmt(StmtKind::KeepAlive, {sorted});
  l.define(op.results[0], {sorted});
}

void lowerZero(Lower& l, const core::Op& op) { l.define(op.results[0], zeroOf(l, l.typeOf(op.results[0]))); }

ValueId zeroArray(Lower& l, TypeId type) {
  TypeId elem = l.types.element(type);
  ValueId data = allocArray(l, elem, l.dimsOf(type), true);
  const std::vector<types::DimId>& extents = l.types[type].dims;
  bool isEmpty = std::any_of(extents.begin(), extents.end(),
                             [&](types::DimId d) { return l.types.dims.asConstant(d) == 0; });
  if (isEmpty) return data; // of any type, also of one that has no zero
  if (!l.types.isScalar(elem) && l.layouts.stored(elem).counted)
    forElements(l, densePlace(l, data, type),
                [&](const Place& at) { storeStored(l, at, zeroOf(l, elem), StoreMode::Fresh); });
  return data;
}

std::vector<ValueId> zeroOf(Lower& l, TypeId type) {
  TypeKind kind = l.types.kind(type);
  if (l.layouts.isArrayLeaf(type) && l.layouts.holdsItself(type))
    return callTangent(l, type, OpKind::Zero, {}, {});
  if (l.layouts.isArrayLeaf(type)) return {zeroArray(l, type)};
  if (l.layouts.inBlock(type)) return callTangent(l, type, OpKind::Zero, {}, {});
  if (l.layouts.isProduct(type)) {
    std::vector<ValueId> out;
    for (uint32_t k = 0, n = l.layouts.partCount(type); k < n; ++k)
      for (ValueId v : zeroOf(l, l.layouts.part(type, k))) out.push_back(v);
    return out;
  }
  // The first case of an enum of tangents is its zero.
  if (kind == TypeKind::Enum) {
    if (l.layouts.fieldCount(type, 0) != 0) l.fail("the zero of an enum that is no tangent");
    return {l.b.constant(wordType, 1)};
  }
  if (kind == TypeKind::Pack) { // of no size
    DimValues::Scope scope(l.dims);
    std::vector<ValueId> out;
    for (uint32_t k = 0; k < l.layouts.packCount(type); ++k) out.push_back(l.b.integer(0));
    l.enterPack(out);
    for (ValueId v : zeroOf(l, l.layouts.packInner(type))) out.push_back(v);
    return out;
  }
  std::vector<ValueId> out;
  for (ValueType leaf : l.layouts.leaves(type)) out.push_back(l.b.zero(leaf));
  return out;
}

std::vector<ValueId> addLeaves(Lower& l, TypeId type, const std::vector<ValueId>& a,
                               const std::vector<ValueId>& b, OpKind how) {
  TypeKind kind = l.types.kind(type);
  if (l.layouts.isArrayLeaf(type) && l.layouts.holdsItself(type)) return callTangent(l, type, how, a, b);
  const bool isNegative = how == OpKind::Neg;
  if (l.layouts.isArrayLeaf(type))
    return {isNegative ? negArray(l, type, a[0]) : addArrays(l, type, a[0], b[0], how)};
  if (l.layouts.inBlock(type) || kind == TypeKind::List || kind == TypeKind::Enum)
    return callTangent(l, type, how, a, b);
  if (l.layouts.isProduct(type)) {
    std::vector<ValueId> out;
    for (uint32_t k = 0, n = l.layouts.partCount(type); k < n; ++k)
      for (ValueId v : addLeaves(l, l.layouts.part(type, k), leavesOfPart(l, type, k, a),
                                 isNegative ? std::vector<ValueId>() : leavesOfPart(l, type, k, b), how))
        out.push_back(v);
    return out;
  }
  if (kind == TypeKind::Pack) {
    DimValues::Scope scope(l.dims);
    uint32_t count = l.layouts.packCount(type);
    std::vector<ValueId> out(a.begin(), a.begin() + count);
    l.enterPack(out);
    for (uint32_t k = 0; k < count && !isNegative; ++k) {
      l.b.stmt(StmtKind::Check, {l.b.compare(ops::CmpKind::Eq, a[k], b[k]), a[k], b[k]}, {},
               Message{"tangents of different sizes are added: {0} is not {1}"});
    }
    const std::vector<ValueId> rest(b.begin() + (isNegative ? 0 : count), b.end());
    for (ValueId v : addLeaves(l, l.layouts.packInner(type), {a.begin() + count, a.end()}, rest, how))
      out.push_back(v);
    return out;
  }
  if (l.types.isScalar(type))
    return {isNegative ? l.b.scalar(how, {a[0]}, kind, kind) : l.b.scalar(how, {a[0], b[0]}, kind, kind)};
  l.fail(std::string(isNegative ? "the negative of a value" : "a sum of values") + " of type `" +
         l.types.print(type) + "`");
  return a;
}

ValueId negArray(Lower& l, TypeId type, ValueId a) {
  TypeId elem = l.types.element(type);
  ValueId data = l.b.value(StmtKind::EnsureUnique, {a}, dataType);
  const Place all = densePlace(l, data, type);
  const auto negate = [&](const Place& at) {
    storeStored(l, at, negLeaves(l, elem, loadStored(l, at, true)), StoreMode::Fresh);
  };
  if (launchesElements(l, all))
    launchElements(l, all, all, [&](const Place& at, const Place&) { negate(at); });
  else
    forElements(l, all, negate);
  return data;
}

std::vector<ValueId> negLeaves(Lower& l, TypeId type, const std::vector<ValueId>& a) {
  return addLeaves(l, type, a, {}, OpKind::Neg);
}

ValueId addArrays(Lower& l, TypeId type, ValueId a, ValueId b, OpKind how) {
  ValueId sum = l.b.value(StmtKind::EnsureUnique, {a}, dataType);
  addStoredArray(l, densePlace(l, sum, type), densePlace(l, b, type), how);
  l.b.stmt(StmtKind::KeepAlive, {b});
  return sum;
}

void addStored(Lower& l, const Place& to, const std::vector<ValueId>& v) {
  std::vector<ValueId> sum = addLeaves(l, to.type, loadStored(l, to, true), v);
  storeStored(l, to, sum, StoreMode::Fresh);
}

void addStoredArray(Lower& l, const Place& to, const Place& from, OpKind how) {
  if (to.axes.empty()) {
    std::vector<ValueId> v = loadStored(l, from);
    return storeStored(l, to, addLeaves(l, to.type, loadStored(l, to, true), v, how), StoreMode::Fresh);
  }
  const auto addInside = [&](const Place& t, const Place& f) { addStoredArray(l, t, f, how); };
  if (launchesElements(l, to)) return launchElements(l, to, from, addInside);
  alongFirst(l, to, from, addInside);
}

} // namespace melix::loops
