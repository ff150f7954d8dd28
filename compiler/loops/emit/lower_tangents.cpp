// Sums and negatives of tangents that are lists, enums, records in a block or arrays of what holds itself,
// and zeros of the last two: functions of their own, because such types may be recursive or large. The
// tangent of an enum has a first case without fields, its zero; so is a list without elements.
#include "loops/emit/lower.h"
#include "types/tangent.h"

#include <algorithm>

namespace melix::loops {

/// The type with its dims numbered: `dims` are what the numbers stand for. Types that differ in sizes only
/// share their functions, so a recursive type whose sizes shrink has finitely many.
TypeId Lower::generalised(TypeId type, std::vector<types::DimId>& dims) {
  auto slot = [&](types::DimId d) {
    size_t k = static_cast<size_t>(std::find(dims.begin(), dims.end(), d) - dims.begin());
    if (k == dims.size()) dims.push_back(d);
    if (k == context_.slots.size())
      context_.slots.push_back(
          types_.dims.newSym({"d" + std::to_string(k), types::DimSymKind::Parameter, 0, {}}));
    return types_.dims.symbol(context_.slots[k]);
  };
  types::Type t = types_[type];
  if (t.kind == TypeKind::Pack) { // its own dims stay; those of the scope around it are numbered
    std::vector<types::DimSym> symbols;
    types_.collectSymbols(type, symbols);
    types::DimSubst numbered;
    for (types::DimSym s : symbols) numbered.emplace(s, slot(types_.dims.symbol(s)));
    return types_.substitute(type, numbered);
  }
  for (types::DimId& d : t.dims) d = slot(d);
  for (TypeId& part : t.parts) part = generalised(part, dims);
  return t.kind == TypeKind::Array ? types_.array(t.parts[0], t.dims) : types_.intern(std::move(t));
}

/// `a how b`, the negative of `a`, or a zero; takes the dims of a generalised type, then the leaves.
FunctionId Lower::tangentFunction(TypeId type, uint32_t dims, OpKind how) {
  std::string key = std::string(ops::opText(how)) + "." + std::to_string(type.index);
  auto [found, fresh] = context_.made.byKey.emplace(key, FunctionId());
  if (!fresh) return found->second;
  // Known before its body is made: the body may call it.
  Function made;
  made.name = std::string(ops::opText(how));
  made.key = key;
  FunctionId id = context_.made.module->functions.add(std::move(made));
  context_.made.byKey[key] = id;

  Function& fn = context_.made.module->functions[id];
  Lower inner(context_, fn, in_);
  Builder& b = inner.b_;
  std::vector<ValueType> params(dims, indexType), leaf = layouts_.leaves(type);
  size_t operands = how == OpKind::Zero ? 0 : how == OpKind::Neg ? 1 : 2;
  for (size_t k = 0; k < operands; ++k) params.insert(params.end(), leaf.begin(), leaf.end());
  RegionId body = b.begin(params);
  const std::vector<ValueId>& values = b.params(body);
  for (size_t k = 0; k < dims; ++k) inner.defineDim(context_.slots[k], values[k]);
  ValueId x = operands > 0 ? values[dims] : ValueId(), y = operands > 1 ? values.back() : ValueId();
  ValueId result = types_.kind(type) == TypeKind::Array  ? inner.arrayTangent(type, x, y, how)
                   : layouts_.inBlock(type)              ? inner.blockTangent(type, x, y, how)
                   : types_.kind(type) == TypeKind::List ? inner.listTangent(type, x, y, how)
                                                         : inner.enumTangent(type, x, y, how);
  fn.body = b.end({result});
  fn.results = leaf;
  return id;
}

std::vector<ValueId> Lower::callTangent(TypeId type, OpKind how, const std::vector<ValueId>& a,
                                        const std::vector<ValueId>& b) {
  std::vector<types::DimId> dims;
  TypeId general = generalised(type, dims);
  std::vector<ValueId> operands;
  for (types::DimId d : dims) operands.push_back(dim(d));
  operands.insert(operands.end(), a.begin(), a.end());
  operands.insert(operands.end(), b.begin(), b.end());
  FunctionId function = tangentFunction(general, static_cast<uint32_t>(dims.size()), how);
  return {b_.value(StmtKind::Call, operands, layouts_.leaves(type)[0], function)};
}

/// Where `equal` says that both are of one form, their sum; else the one that is not zero, which panics if
/// neither is.
ValueId Lower::unlessZero(TypeId type, const TangentPair& pair, ValueId equal, ValueId zeroA, ValueId zeroB,
                          const char* problem, const std::function<ValueId()>& sum) {
  auto either = [&](ValueId condition, const std::function<ValueId()>& yes,
                    const std::function<ValueId()>& no) {
    std::vector<RegionId> regions;
    for (const auto& arm : {yes, no}) {
      b_.begin();
      ValueId v = arm();
      regions.push_back(b_.end({v}));
    }
    return b_.results(b_.stmt(StmtKind::If, {condition}, layouts_.leaves(type), {}, regions))[0];
  };
  return either(equal, sum, [&] {
    return either(
        zeroB, [&] { return pair.a; },
        [&] {
          b_.stmt(StmtKind::Check, {zeroA}, {}, Message{problem});
          return pair.how == OpKind::Sub ? callTangent(type, OpKind::Neg, {pair.b}, {})[0] : pair.b;
        });
  });
}

/// Of an array whose elements hold such arrays.
ValueId Lower::arrayTangent(TypeId type, ValueId a, ValueId b, OpKind how) {
  if (how == OpKind::Zero) return zeroArray(type);
  return how == OpKind::Neg ? negArray(type, a) : addArrays(type, a, b, how);
}

/// A list without elements is zero beside one of any length.
ValueId Lower::listTangent(TypeId type, ValueId a, ValueId b, OpKind how) {
  RuntimeCall length{RuntimeKind::ListLength, types_[type].parts[0]};
  ValueId count = b_.value(StmtKind::Runtime, {a}, indexType, length);
  if (!b) return elementTangents(type, count, a, b, how);
  ValueId other = b_.value(StmtKind::Runtime, {b}, indexType, length), zero = b_.integer(0);
  return unlessZero(type, {a, b, how}, b_.compare(ops::CmpKind::Eq, count, other),
                    b_.compare(ops::CmpKind::Eq, count, zero), b_.compare(ops::CmpKind::Eq, other, zero),
                    types::listLengthsDiffer.data(), [&] { return elementTangents(type, count, a, b, how); });
}

ValueId Lower::elementTangents(TypeId type, ValueId count, ValueId a, ValueId b, OpKind how) {
  TypeId elem = types_[type].parts[0];
  ValueId sum = b_.value(StmtKind::EnsureUnique, {a}, dataType);
  auto place = [&](ValueId list, ValueId i) {
    Place at = memoryPlace(list, elem);
    at.scale = layouts_.stored(elem).size;
    at.terms = {{i, b_.integer(1)}};
    at.offset = 16;
    return at;
  };
  b_.loop(count, [&](ValueId i) {
    Place to = place(sum, i);
    std::vector<ValueId> y = b ? loadStored(place(b, i)) : std::vector<ValueId>{};
    std::vector<ValueId> x = loadStored(to, true);
    storeStored(to, b ? addLeaves(elem, x, y, how) : negLeaves(elem, x), StoreMode::Fresh);
  });
  return sum;
}

/// The node of the case that both words are of.
ValueId Lower::caseTangent(TypeId type, uint32_t c, ValueId a, ValueId b, OpKind how) {
  uint32_t count = layouts_.fieldCount(type, c);
  if (count == 0) return b_.constant(wordType, (uint64_t(c) << 1) | 1);
  std::vector<std::vector<ValueId>> fields;
  auto place = [&](ValueId word, uint32_t k) {
    Place at = memoryPlace(word, layouts_.field(type, c, k));
    at.offset = layouts_.fieldOffset(type, c, k);
    return at;
  };
  for (uint32_t k = 0; k < count; ++k) {
    TypeId field = layouts_.field(type, c, k);
    std::vector<ValueId> x = loadStored(place(a, k));
    fields.push_back(b ? addLeaves(field, x, loadStored(place(b, k)), how) : negLeaves(field, x));
  }
  ValueId node =
      b_.value(StmtKind::AllocNode, {}, wordType, AllocAttr{type, layouts_.nodeBytes(type, c), false});
  b_.store(node, {}, {scalarType(TypeKind::I32), 4, 0, false, false},
           b_.constant(scalarType(TypeKind::I32), c));
  for (uint32_t k = 0; k < count; ++k) storeStored(place(node, k), fields[k], StoreMode::Fresh);
  return node;
}

ValueId Lower::enumTangent(TypeId type, ValueId a, ValueId b, OpKind how) {
  size_t cases = types_.recordInfo(types_[type].record).cases.size();
  ValueId tag = b_.value(StmtKind::Tag, {a}, indexType);
  auto sameCase = [&] {
    std::vector<RegionId> regions;
    SwitchAttr attr;
    for (uint32_t c = 0; c < cases; ++c) {
      b_.begin();
      ValueId node = caseTangent(type, c, a, b, how);
      regions.push_back(b_.end({node}));
      attr.regionOf.push_back(c);
    }
    return b_.results(b_.stmt(StmtKind::Switch, {tag}, {wordType}, attr, regions))[0];
  };
  if (!b) return sameCase();
  ValueId other = b_.value(StmtKind::Tag, {b}, indexType), zero = b_.integer(0);
  return unlessZero(type, {a, b, how}, b_.compare(ops::CmpKind::Eq, tag, other),
                    b_.compare(ops::CmpKind::Eq, tag, zero), b_.compare(ops::CmpKind::Eq, other, zero),
                    "tangents of different cases are added", sameCase);
}

} // namespace melix::loops
