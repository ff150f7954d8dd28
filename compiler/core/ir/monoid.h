#pragma once
// Kinds of reductions: the rows of monoids.def. A pass asks for a property of a kind and compares no kinds,
// except for a sum, which is linear (`isSum` of nest.h).

#include "core/ir/ir.h"

#include <optional>

namespace melix::core {

enum class UnitKind : uint8_t { Zero, One, Ones, Least, Greatest };
enum class ExtremumKind : uint8_t { Neither, Least, Greatest };

struct MonoidInfo {
  std::string_view text, builtin;
  std::optional<OpKind> op;
  bool rounds;
  UnitKind unit;
  ExtremumKind finds;
  std::optional<MonoidKind> position;
};

const MonoidInfo& infoOf(MonoidKind monoid);

/// The kind whose terms an op combines.
std::optional<MonoidKind> monoidOf(OpKind op);
/// Whether an op combines the terms, and these give the same bits in any grouping and order.
bool isExact(MonoidKind monoid, TypeKind kind);
/// Whether a result of scalars of a kind depends on how the terms are grouped.
inline bool isRounded(MonoidKind monoid, TypeKind kind) {
  return infoOf(monoid).rounds && types::isFloatKind(kind);
}

} // namespace melix::core
