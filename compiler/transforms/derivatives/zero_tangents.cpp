// Zeros of tangents whose sizes are not in their type: made after the value they belong to.

#include "transforms/derivatives/derivative_context.h"
#include "types/tangent.h"

#include <algorithm>

namespace melix::transforms {

/// `seen`: structs being looked at; what a function saves that always calls itself holds itself.
static bool isSizedByValue(const types::TypeStore& types, TypeId t, std::vector<types::RecordId>& seen) {
  switch (types.kind(t)) {
  case TypeKind::List:
  case TypeKind::Pack: return true;
  case TypeKind::Array:
  case TypeKind::Tuple:
  case TypeKind::Known:
    return std::any_of(types[t].parts.begin(), types[t].parts.end(),
                       [&](TypeId p) { return isSizedByValue(types, p, seen); });
  case TypeKind::Struct: {
    types::RecordId record = types[t].record;
    if (std::find(seen.begin(), seen.end(), record) != seen.end()) return false;
    seen.push_back(record);
    const std::vector<types::Field>& fields = types.recordInfo(record).cases[0].fields;
    return std::any_of(fields.begin(), fields.end(),
                       [&](const types::Field& f) { return isSizedByValue(types, f.type, seen); });
  }
  default: return false;
  }
}

bool sizedByValue(const types::TypeStore& types, TypeId t) {
  std::vector<types::RecordId> seen;
  return isSizedByValue(types, t, seen);
}

/// A zero of the tangent type of a whole value, which may be a bundle.
static ValueId wholeZero(Emit& e, Leaves& leaves, ValueId x) {
  TypeId t = e.typeOf(x);
  const std::vector<Leaf> own = leaves.of(t);
  std::vector<ValueId> parts = leaves.splitLeaves(e, x, t, false), zeros;
  for (size_t k = 0; k < own.size(); ++k) zeros.push_back(zeroLike(e, leaves, own[k].tangent, parts[k]));
  return leaves.putTogether(e, t, zeros);
}

ValueId zeroList(Emit& e, TypeId t, ValueId n) {
  return e.listOf(t, n, [&](Emit& b, ValueId) { return b.zero(b.types()[t].parts[0]); });
}

/// A zero of a part `x`; where its type holds itself, by a function, which may call itself.
static ValueId zeroOfPart(Emit& e, Leaves& leaves, ValueId x) {
  if (!types::holdsItself(e.types(), e.typeOf(x), true)) return wholeZero(e, leaves, x);
  return leaves.throughFunction(e, "zero of", x, leaves.tangent(e.typeOf(x)),
                                [&](Emit& body, TypeId, ValueId y) { return wholeZero(body, leaves, y); });
}

/// A zero like each of `xs`.
static ValueId zerosLike(Emit& e, Leaves& leaves, TypeId t, ValueId xs) {
  ValueId n = e.one(Emit::simple(OpKind::Length, {xs}), e.types().int64());
  return e.listOf(t, n, [&](Emit& b, ValueId i) {
    TypeId each = b.types()[b.typeOf(xs)].parts[0];
    return zeroOfPart(b, leaves, b.get(xs, {PathStep{StepKind::Element, 0, {}, 1}}, std::span(&i, 1), each));
  });
}

static ValueId zeroPack(Emit& e, Leaves& leaves, TypeId t, ValueId x) {
  return e.packOf(t, x, [&](ValueId inner, const auto&) { return zeroOfPart(e, leaves, inner); });
}

static ValueId zeroArray(Emit& e, Leaves& leaves, ValueId x) {
  const types::Type& whole = e.types()[e.typeOf(x)];
  return e.arrayOf(whole.dims, [&](Emit& b, const std::vector<ValueId>& place) {
    return zeroOfPart(b, leaves, b.getAt(x, place, whole.parts[0]));
  });
}

ValueId zeroLike(Emit& e, Leaves& leaves, TypeId t, ValueId x) {
  if (!sizedByValue(e.types(), t)) return e.zero(t);
  if (leaves.isBundle(e.typeOf(x))) return wholeZero(e, leaves, x);
  switch (e.types().kind(t)) {
  case TypeKind::List: return zerosLike(e, leaves, t, x);
  case TypeKind::Pack: return zeroPack(e, leaves, t, x);
  default: return zeroArray(e, leaves, x);
  }
}

} // namespace melix::transforms
