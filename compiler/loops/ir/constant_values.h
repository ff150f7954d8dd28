#pragma once
// What the statements of numbers tell of them.

#include "loops/ir/ir.h"

#include <optional>

namespace melix::loops {

/// Of statements that a number is looked at through: sizes and ends have few.
inline constexpr int numberDepth = 12;

/// Whether two numbers are the same as far as their statements say.
bool areSameNumber(const Function& fn, ValueId a, ValueId b, int depth = numberDepth);

/// An index or size that is computed from constants alone.
std::optional<int64_t> knownNumber(const Function& fn, ValueId v, int depth = numberDepth);

/// How often a loop turns, if its ends are such.
std::optional<uint64_t> knownTurns(const Function& fn, const Stmt& loop);

} // namespace melix::loops
