// Sums and negatives of tangents that are lists, enums, records in a block or arrays of what holds itself,
// and zeros of the last two: functions of their own, because such types may be recursive or large. The
// tangent of an enum has a first case without fields, its zero; so is a list without elements.
#include "loops/emit/lower_tangents.h"

#include "loops/emit/lower.h"
#include "loops/emit/lower_arrays.h"
#include "loops/emit/lower_records.h"
#include "loops/emit/lower_values.h"
#include "support/function_ref.h"
#include "types/tangent.h"

#include <algorithm>

namespace melix::loops {

namespace {

struct TangentPair {
  ValueId a, b;
  OpKind how;
};

/// The type with its dims numbered: `dims` are what the numbers stand for. Types that differ in sizes only
/// share their functions, so a recursive type whose sizes shrink has finitely many.
TypeId generalised(Lower& l, TypeId type, std::vector<types::DimId>& dims) {
  auto slot = [&](types::DimId d) {
    size_t k = static_cast<size_t>(std::find(dims.begin(), dims.end(), d) - dims.begin());
    if (k == dims.size()) dims.push_back(d);
    if (k == l.context.slots.size())
      l.context.slots.push_back(
          l.types.dims.newSym({"d" + std::to_string(k), types::DimSymKind::Parameter, 0, {}}));
    return l.types.dims.symbol(l.context.slots[k]);
  };
  types::Type t = l.types[type];
  if (t.kind == TypeKind::Pack) { // its own dims stay; those of the scope around it are numbered
    std::vector<types::DimSym> symbols;
    l.types.collectSymbols(type, symbols);
    types::DimSubst numbered;
    for (types::DimSym s : symbols) numbered.emplace(s, slot(l.types.dims.symbol(s)));
    return l.types.substitute(type, numbered);
  }
  for (types::DimId& d : t.dims) d = slot(d);
  for (TypeId& part : t.parts) part = generalised(l, part, dims);
  return t.kind == TypeKind::Array ? l.types.array(t.parts[0], t.dims) : l.types.intern(std::move(t));
}

/// Of an array whose elements hold such arrays.
ValueId arrayTangent(Lower& l, TypeId type, ValueId a, ValueId b, OpKind how) {
  if (how == OpKind::Zero) return zeroArray(l, type);
  return how == OpKind::Neg ? negArray(l, type, a) : addArrays(l, type, a, b, how);
}

/// Where `equal` says that both are of one form, their sum; else the one that is not zero, which panics if
/// neither is.
ValueId unlessZero(Lower& l, TypeId type, const TangentPair& pair, ValueId equal, ValueId zeroA,
                   ValueId zeroB, const char* problem, FunctionRef<ValueId()> sum) {
  auto either = [&](ValueId condition, FunctionRef<ValueId()> yes, FunctionRef<ValueId()> no) {
    std::vector<RegionId> regions;
    for (const auto& arm : {yes, no}) {
      l.b.begin();
      ValueId v = arm();
      regions.push_back(l.b.end({v}));
    }
    return l.b.results(l.b.stmt(StmtKind::If, {condition}, l.layouts.leaves(type), {}, regions))[0];
  };
  return either(equal, sum, [&] {
    return either(
        zeroB, [&] { return pair.a; },
        [&] {
          l.b.stmt(StmtKind::Check, {zeroA}, {}, Message{problem});
          return pair.how == OpKind::Sub ? callTangent(l, type, OpKind::Neg, {pair.b}, {})[0] : pair.b;
        });
  });
}

ValueId elementTangents(Lower& l, TypeId type, ValueId count, ValueId a, ValueId b, OpKind how) {
  TypeId elem = l.types[type].parts[0];
  ValueId sum = l.b.value(StmtKind::EnsureUnique, {a}, dataType);
  auto place = [&](ValueId list, ValueId i) {
    Place at = memoryPlace(l, list, elem);
    at.scale = l.layouts.stored(elem).size;
    at.terms = {{i, l.b.integer(1)}};
    at.offset = 16;
    return at;
  };
  l.b.loop(count, [&](ValueId i) {
    Place to = place(sum, i);
    std::vector<ValueId> y = b ? loadStored(l, place(b, i)) : std::vector<ValueId>{};
    std::vector<ValueId> x = loadStored(l, to, true);
    storeStored(l, to, b ? addLeaves(l, elem, x, y, how) : negLeaves(l, elem, x), StoreMode::Fresh);
  });
  return sum;
}

/// A list without elements is zero beside one of any length.
ValueId listTangent(Lower& l, TypeId type, ValueId a, ValueId b, OpKind how) {
  RuntimeCall length{RuntimeKind::ListLength, l.types[type].parts[0]};
  ValueId count = l.b.value(StmtKind::Runtime, {a}, indexType, length);
  if (!b) return elementTangents(l, type, count, a, b, how);
  ValueId other = l.b.value(StmtKind::Runtime, {b}, indexType, length), zero = l.b.integer(0);
  return unlessZero(l, type, {a, b, how}, l.b.compare(ops::CmpKind::Eq, count, other),
                    l.b.compare(ops::CmpKind::Eq, count, zero), l.b.compare(ops::CmpKind::Eq, other, zero),
                    types::listLengthsDiffer.data(),
                    [&] { return elementTangents(l, type, count, a, b, how); });
}

/// The node of the case that both words are of.
ValueId caseTangent(Lower& l, TypeId type, uint32_t c, ValueId a, ValueId b, OpKind how) {
  uint32_t count = l.layouts.fieldCount(type, c);
  if (count == 0) return l.b.constant(wordType, (uint64_t(c) << 1) | 1);
  std::vector<std::vector<ValueId>> fields;
  auto place = [&](ValueId word, uint32_t k) { return fieldPlace(l, word, type, c, k); };
  for (uint32_t k = 0; k < count; ++k) {
    TypeId field = l.layouts.field(type, c, k);
    std::vector<ValueId> x = loadStored(l, place(a, k));
    fields.push_back(b ? addLeaves(l, field, x, loadStored(l, place(b, k)), how) : negLeaves(l, field, x));
  }
  ValueId node = l.b.value(StmtKind::AllocNode, {}, wordType,
                           AllocAttr{type, l.layouts.nodeBytes(l.layouts.inMemory(type), c), false});
  l.b.store(node, {}, {scalarType(TypeKind::I32), 4, 0, false, false},
            l.b.constant(scalarType(TypeKind::I32), c));
  for (uint32_t k = 0; k < count; ++k) storeStored(l, place(node, k), fields[k], StoreMode::Fresh);
  return node;
}

ValueId enumTangent(Lower& l, TypeId type, ValueId a, ValueId b, OpKind how) {
  size_t cases = l.types.recordInfo(l.types[type].record).cases.size();
  ValueId tag = l.b.value(StmtKind::Tag, {a}, indexType);
  auto sameCase = [&] {
    std::vector<RegionId> regions;
    SwitchAttr attr;
    for (uint32_t c = 0; c < cases; ++c) {
      l.b.begin();
      ValueId node = caseTangent(l, type, c, a, b, how);
      regions.push_back(l.b.end({node}));
      attr.regionOf.push_back(c);
    }
    return l.b.results(l.b.stmt(StmtKind::Switch, {tag}, {wordType}, attr, regions))[0];
  };
  if (!b) return sameCase();
  ValueId other = l.b.value(StmtKind::Tag, {b}, indexType), zero = l.b.integer(0);
  return unlessZero(l, type, {a, b, how}, l.b.compare(ops::CmpKind::Eq, tag, other),
                    l.b.compare(ops::CmpKind::Eq, tag, zero), l.b.compare(ops::CmpKind::Eq, other, zero),
                    "tangents of different cases are added", sameCase);
}

/// `a how b`, the negative of `a`, or a zero; takes the dims of a generalised type, then the leaves.
FunctionId tangentFunction(Lower& l, TypeId type, uint32_t dims, OpKind how) {
  std::string key = std::string(ops::opText(how)) + "." + std::to_string(type.index);
  auto [found, fresh] = l.context.made.byKey.emplace(key, FunctionId());
  if (!fresh) return found->second;
  // Known before its body is made: the body may call it.
  Function made;
  made.name = std::string(ops::opText(how));
  made.key = key;
  FunctionId id = l.context.made.module->functions.add(std::move(made));
  l.context.made.byKey[key] = id;

  Function& fn = l.context.made.module->functions[id];
  Lower inner(l.context, fn, l.in);
  Builder& b = inner.b;
  std::vector<ValueType> params(dims, indexType), leaf = l.layouts.leaves(type);
  size_t operands = how == OpKind::Zero ? 0 : how == OpKind::Neg ? 1 : 2;
  for (size_t k = 0; k < operands; ++k) params.insert(params.end(), leaf.begin(), leaf.end());
  RegionId body = b.begin(params);
  const std::vector<ValueId>& values = b.params(body);
  for (size_t k = 0; k < dims; ++k) inner.defineDim(l.context.slots[k], values[k]);
  ValueId x = operands > 0 ? values[dims] : ValueId(), y = operands > 1 ? values.back() : ValueId();
  ValueId result = l.layouts.inBlock(type)                ? blockTangent(inner, type, x, y, how)
                   : l.layouts.isArrayLeaf(type)          ? arrayTangent(inner, type, x, y, how)
                   : l.types.kind(type) == TypeKind::List ? listTangent(inner, type, x, y, how)
                                                          : enumTangent(inner, type, x, y, how);
  fn.body = b.end({result});
  fn.results = leaf;
  return id;
}

} // namespace

std::vector<ValueId> callTangent(Lower& l, TypeId type, OpKind how, const std::vector<ValueId>& a,
                                 const std::vector<ValueId>& b) {
  std::vector<types::DimId> dims;
  TypeId general = generalised(l, type, dims);
  std::vector<ValueId> operands;
  for (types::DimId d : dims) operands.push_back(l.dim(d));
  operands.insert(operands.end(), a.begin(), a.end());
  operands.insert(operands.end(), b.begin(), b.end());
  FunctionId function = tangentFunction(l, general, static_cast<uint32_t>(dims.size()), how);
  return {l.b.value(StmtKind::Call, operands, l.layouts.leaves(type)[0], function)};
}

} // namespace melix::loops
