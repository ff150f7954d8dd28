#pragma once
// Branches and loops.

#include "decompile/writer.h"

namespace melix::decompile {

void writeBranch(FunctionWriter& w, const core::Op& o);
void writeMatch(FunctionWriter& w, const core::Op& o);
void writeFor(FunctionWriter& w, const core::Op& o);
void writeWhile(FunctionWriter& w, const core::Op& o);
void assignCarries(FunctionWriter& w, std::span<const ValueId> vars, std::span<const ValueId> next);

} // namespace melix::decompile
