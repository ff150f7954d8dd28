#pragma once
// Constant evaluation: facts about numbers that follow from their definitions.

#include "loops/ir/ir.h"

#include <optional>

namespace melix::loops {

/// The depth to which definitions are followed: sizes and ends have few.
inline constexpr int numberDepth = 12;

/// Whether two numbers are equal as far as their definitions show.
bool areSameNumber(const Function& fn, ValueId a, ValueId b, int depth = numberDepth);

/// An index or size that is computed from constants alone.
std::optional<int64_t> knownNumber(const Function& fn, ValueId v, int depth = numberDepth);

/// The trip count of a loop, if its ends are such numbers.
std::optional<uint64_t> provenTripCount(const Function& fn, const Stmt& loop);

} // namespace melix::loops
