#pragma once
// Reads the text that core/text/print.h writes.

#include "core/ir/ir.h"

namespace melix::core {

/// Adds the records and functions of `text` to the module. Empty, or an error message with its position. Ops
/// get a location without a place.
std::string parseModule(Module& m, std::string_view text);

/// The function of this name, as printed; none if there is none.
FunctionId findFunction(const Module& m, std::string_view name);

} // namespace melix::core
