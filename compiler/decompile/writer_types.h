#pragma once
// Types and sizes as text.

#include "decompile/writer.h"

namespace melix::decompile {

bool isRagged(const FunctionWriter& w, core::TypeId t);
std::string dimText(FunctionWriter& w, core::DimId d, int level = 0);
std::string typeText(FunctionWriter& w, core::TypeId t);
std::string raggedTypeText(FunctionWriter& w, core::TypeId t, size_t axis);
std::string resultTypeText(FunctionWriter& w);

} // namespace melix::decompile
