// Tangents at another tangent type of the same value.

#include "transforms/derivatives/derivative_context.h"
#include "types/tangent.h"

namespace melix::transforms {

namespace {

class Restating {
public:
  explicit Restating(Leaves& leaves, types::TypeStore& types) : leaves_(leaves), types_(types) {}

  ValueId at(Emit& e, TypeId to, ValueId x) {
    const TypeId from = e.typeOf(x);
    if (types_.eraseDims(from) == types_.eraseDims(to)) return e.castDims(x, to);
    if (types_.isUnit(to)) return e.make(to, {});
    if (types_.isUnit(from)) return e.zero(to);
    switch (types_.kind(to)) {
    case TypeKind::Array: return array(e, to, x);
    case TypeKind::List: return list(e, to, x);
    case TypeKind::Pack: return pack(e, to, x);
    case TypeKind::Enum:
      return leaves_.throughFunction(e, "tangent of", x, to,
                                     [this](Emit& b, TypeId t, ValueId y) { return cases(b, t, y); });
    default: break;
    }
    if (!types::holdsItself(types_, to, true)) return parts(e, to, x);
    return leaves_.throughFunction(e, "tangent of", x, to,
                                   [this](Emit& b, TypeId t, ValueId y) { return parts(b, t, y); });
  }

private:
  TypeId part(TypeId whole, uint32_t k) {
    return types_.kind(whole) == TypeKind::Struct ? types_.fieldType(whole, 0, k) : types_[whole].parts[k];
  }
  uint32_t partCount(TypeId whole) {
    const size_t count = types_.kind(whole) == TypeKind::Struct
                             ? types_.recordInfo(types_[whole].record).cases[0].fields.size()
                             : types_[whole].parts.size();
    return static_cast<uint32_t>(count);
  }

  ValueId parts(Emit& e, TypeId to, ValueId x) {
    std::vector<ValueId> made;
    for (uint32_t k = 0, n = partCount(to); k < n; ++k)
      made.push_back(at(e, part(to, k), e.kid(x, k, part(e.typeOf(x), k))));
    return e.make(to, std::move(made));
  }

  ValueId array(Emit& e, TypeId to, ValueId x) {
    const types::Type& from = types_[e.typeOf(x)];
    const TypeId element = types_[to].parts[0];
    return e.arrayOf(from.dims, [&](Emit& b, const std::vector<ValueId>& place) {
      return at(b, element, b.getAt(x, place, from.parts[0]));
    });
  }

  ValueId list(Emit& e, TypeId to, ValueId x) {
    ValueId n = e.one(Emit::simple(OpKind::Length, {x}), types_.int64());
    const TypeId from = types_[e.typeOf(x)].parts[0], element = types_[to].parts[0];
    return e.listOf(to, n, [&](Emit& b, ValueId i) {
      return at(b, element, b.get(x, {PathStep{StepKind::Element, 0, {}, 1}}, std::span(&i, 1), from));
    });
  }

  ValueId pack(Emit& e, TypeId to, ValueId x) {
    return e.packOf(to, x, [&](ValueId inner, const std::vector<DimId>& sizes) {
      return at(e, types_.openPack(to, sizes), inner);
    });
  }

  ValueId cases(Emit& e, TypeId to, ValueId x) {
    const TypeId from = e.typeOf(x);
    Op match = Emit::simple(OpKind::Match, {x});
    MatchAttr attr;
    for (uint32_t c = 0, n = static_cast<uint32_t>(types_.recordInfo(types_[to].record).cases.size()); c < n;
         ++c) {
      Emit b = e.in(e.newRegion());
      Op variant = Emit::simple(OpKind::Variant, {}, c);
      const size_t fields = types_.recordInfo(types_[to].record).cases[c].fields.size();
      std::vector<ValueId> payload;
      for (uint32_t k = 0; k < fields; ++k) payload.push_back(b.param(types_.fieldType(from, c, k)));
      for (uint32_t k = 0; k < fields; ++k)
        variant.operands.push_back(at(b, types_.fieldType(to, c, k), payload[k]));
      b.yield({b.one(std::move(variant), to)});
      attr.regionOf.push_back(c);
      match.regions.push_back(b.region);
    }
    match.attr = std::move(attr);
    return e.one(std::move(match), to);
  }

  Leaves& leaves_;
  types::TypeStore& types_;
};

} // namespace

ValueId restated(Emit& e, Leaves& leaves, TypeId to, ValueId tangent) {
  return Restating(leaves, e.types()).at(e, to, tangent);
}

} // namespace melix::transforms
