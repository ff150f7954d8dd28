#pragma once
// Sizes that values show or hide: their names, and structs for sizes that `_` alone does not distinguish.

#include "decompile/writer.h"

namespace melix::decompile {

std::string sizePath(FunctionWriter& w, core::TypeId t, core::DimSym s, const std::string& base);
std::vector<size_t> silentSizes(FunctionWriter& w, std::span<const core::DimSym> symbols,
                                const std::vector<core::TypeId>& from);
void bindDim(FunctionWriter& w, core::DimSym s, const std::string& e);
void bindDims(FunctionWriter& w, std::span<const core::DimSym> symbols,
              const std::vector<std::pair<core::TypeId, std::string>>& from);
void countSizes(const FunctionWriter& w, core::TypeId t, std::map<core::DimSym, int>& counts);
bool showsSizes(FunctionWriter& w, core::TypeId pack);
const SizedStruct& sizedStruct(FunctionWriter& writer, core::TypeId pack);
std::string sizedType(FunctionWriter& w, core::TypeId pack, std::span<const core::DimId> hidden = {});
Expr sized(FunctionWriter& w, core::TypeId pack, const std::string& inner,
           std::span<const core::DimId> hidden);
Expr packed(FunctionWriter& w, const core::Op& o);
void writeUnpack(FunctionWriter& w, const core::Op& o);
bool hasNegativeSize(const FunctionWriter& w, core::TypeId t);
Expr resized(FunctionWriter& w, core::TypeId from, core::TypeId to, const std::string& e);
Expr construct(FunctionWriter& w, core::TypeId t, uint32_t c, const std::string& fields);

} // namespace melix::decompile
