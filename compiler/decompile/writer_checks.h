#pragma once
// Checks, where no op that follows panics alike.

#include "decompile/writer.h"

namespace melix::decompile {

bool acts(const FunctionWriter& w, core::OpId id);
void writeCheck(FunctionWriter& w, core::OpId id);

} // namespace melix::decompile
