#pragma once
// Which sizes ops mention: an op can stand only where these are known.

#include "core/ir.h"

#include <unordered_set>

namespace melix::core {

/// Of an op itself: in the types of what it gives, its own, and the lengths of slices on its path.
std::vector<DimSym> sizesOf(const Module& m, const Function& f, const Op& op);

/// Of an op and all that stands in its regions.
std::vector<DimSym> sizesWithin(const Module& m, const Function& f, OpId op);

/// Which are known where an op stands: of the function, and of what is in front of it or around it.
std::unordered_set<DimSym> sizesInFront(const Function& f, OpId op);

} // namespace melix::core
