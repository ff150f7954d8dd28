#pragma once
// Ops as expressions or statements.

#include "decompile/writer.h"

namespace melix::decompile {

void writeRegion(FunctionWriter& w, core::RegionId r);
void writeOp(FunctionWriter& w, core::OpId id);
std::string undefText(FunctionWriter& w, core::TypeId t, int depth = 0);

} // namespace melix::decompile
