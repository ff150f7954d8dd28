#pragma once
// Sums and negatives of values of any tangent type.

#include "decompile/writer.h"

namespace melix::decompile {

bool isPlain(FunctionWriter& w, core::TypeId t);
std::string named(FunctionWriter& w, const std::string& e, std::string_view hint = "term");
std::string combined(FunctionWriter& w, core::TypeId t, const std::vector<std::string>& x);

} // namespace melix::decompile
