#include "core/ir/monoid.h"

#include <array>

namespace melix::core {

namespace {

constexpr std::array<MonoidInfo, monoidKinds> infos() {
  return {{
#define MONOID(Name, Text, Builtin, Op, Rounds, Unit, Finds, Position)                                       \
  {Text, Builtin, Op, Rounds, UnitKind::Unit, ExtremumKind::Finds, Position},
#include "core/ir/monoids.def"
  }};
}

} // namespace

const MonoidInfo& infoOf(MonoidKind monoid) {
  static constexpr std::array table = infos();
  return table[static_cast<size_t>(monoid)];
}

std::optional<MonoidKind> monoidOf(OpKind op) {
  for (uint32_t k = 0; k < monoidKinds; ++k)
    if (infoOf(MonoidKind(k)).op == op) return MonoidKind(k);
  return std::nullopt;
}

bool isExact(MonoidKind monoid, TypeKind kind) {
  return infoOf(monoid).op.has_value() && !isRounded(monoid, kind);
}

} // namespace melix::core
