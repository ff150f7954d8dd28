#pragma once
// Whether functions are the same code, whatever they, their values and the places of their statements are
// called.

#include "loops/ir/ir.h"

#include <optional>

namespace melix::loops {

/// The same for functions that are the same code, up to the bits of constants.
size_t codeHash(const Function& fn);

/// The constants of `a`, and those of `b` that stand in their place with other bits; nothing if the functions
/// differ in more than that. What a host sees of them, and how they are compiled, is not looked at.
using OtherConstants = std::vector<std::pair<ValueId, ValueId>>;
std::optional<OtherConstants> differences(const Function& a, const Function& b);

} // namespace melix::loops
