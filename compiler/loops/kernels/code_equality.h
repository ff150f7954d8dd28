#pragma once
// Whether functions are the same code, apart from their names, the names of their values and the places of
// their statements.

#include "loops/ir/ir.h"

#include <optional>

namespace melix::loops {

/// The same for functions that are the same code, up to the bits of constants.
size_t codeHash(const Function& fn);

/// The constants of `a`, and the constants of `b` at the same position with other bits; nothing if the
/// functions differ in more than that. Their linkage and compile options are not compared.
using OtherConstants = std::vector<std::pair<ValueId, ValueId>>;
std::optional<OtherConstants> differences(const Function& a, const Function& b);

} // namespace melix::loops
