#pragma once
// Properties of kinds of reductions: the rows of monoids.def.

#include "ops/ops.h"

#include <optional>
#include <span>
#include <string_view>

namespace melix::ops {

enum class UnitKind : uint8_t { Zero, One, Ones, Least, Greatest };
enum class ExtremumKind : uint8_t { Neither, Least, Greatest };

struct MonoidInfo {
  MonoidKind kind;
  std::string_view text, builtin;
  std::optional<OpKind> op;
  bool rounds;
  UnitKind unit;
  ExtremumKind finds;
  std::optional<MonoidKind> position;
};

/// All kinds, in the order of their numbers.
std::span<const MonoidInfo> monoids();
const MonoidInfo& infoOf(MonoidKind monoid);
/// Whether the result is the position of an extremum.
bool isPosition(MonoidKind monoid);
/// The kind whose terms an op combines.
std::optional<MonoidKind> monoidOf(OpKind op);

} // namespace melix::ops
