#include "ops/monoid.h"

#include <algorithm>

namespace melix::ops {

std::span<const MonoidInfo> monoids() {
  static constexpr MonoidInfo rows[] = {
#define MONOID(Name, Text, Builtin, Op, Rounds, Unit, Finds, Position)                                       \
  {MonoidKind::Name, Text, Builtin, Op, Rounds, UnitKind::Unit, ExtremumKind::Finds, Position},
#include "ops/monoids.def"
  };
  return rows;
}

const MonoidInfo& infoOf(MonoidKind monoid) { return monoids()[static_cast<size_t>(monoid)]; }

bool isPosition(MonoidKind monoid) {
  return infoOf(monoid).finds != ExtremumKind::Neither && !infoOf(monoid).op;
}

std::optional<MonoidKind> monoidOf(OpKind op) {
  const auto row = std::ranges::find(monoids(), std::optional(op), &MonoidInfo::op);
  return row == monoids().end() ? std::nullopt : std::optional(row->kind);
}

} // namespace melix::ops
