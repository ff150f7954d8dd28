#pragma once
// Kinds of reductions in Core (ops/monoid.h has their properties). A pass asks for a property of a kind and
// compares no kinds, except for a sum, which is linear (`isSum` of nest.h).

#include "core/ir/ir.h"
#include "ops/monoid.h"

namespace melix::core {

using ops::ExtremumKind;
using ops::infoOf;
using ops::MonoidInfo;
using ops::monoidOf;
using ops::UnitKind;

/// Whether an op combines the terms, and these give the same bits in any grouping and order.
bool isExact(MonoidKind monoid, TypeKind kind);
/// Whether a result of scalars of a kind depends on how the terms are grouped.
inline bool isRounded(MonoidKind monoid, TypeKind kind) {
  return infoOf(monoid).rounds && types::isFloatKind(kind);
}

} // namespace melix::core
