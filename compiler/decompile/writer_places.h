#pragma once
// Reads and updates of parts of values; builtins and formats.

#include "decompile/writer.h"

namespace melix::decompile {

void writeBuiltin(FunctionWriter& w, const core::Op& o);
Expr formatted(FunctionWriter& w, const core::Op& o);
std::string place(FunctionWriter& w, const core::Op& o, size_t firstIndex);
bool slicesRows(FunctionWriter& w, const core::Op& o);
Expr rows(FunctionWriter& w, const core::Op& o);
void writeUpdate(FunctionWriter& w, const core::Op& o);
void writeListUpdate(FunctionWriter& w, const core::Op& o);

} // namespace melix::decompile
