#pragma once
// Random nests as programs of Core.

#include "fuzz/run.h"

#include <string>

namespace melix::fuzz {

/// A program whose main gives a number that all bits of the results of a nest are mixed into: of up to four
/// axes, of sizes around strips and blocks, known or not, that reads arrays in any order of their axes, at
/// places that other arrays hold and a few of which may be outside, takes branches, makes rows and sums over
/// them inside, and collects, reduces, filters or adds.
std::string randomNest(Random& random);

} // namespace melix::fuzz
