#pragma once
// Values in blocks of their own: parts, copies, tangents.

#include "loops/emit/lower.h"

namespace melix::loops {

Place partOf(Lower& l, Place place, uint32_t k);
std::vector<ValueId> leavesOfPart(Lower& l, TypeId type, uint32_t k, const std::vector<ValueId>& leaves);
ValueId makeBlock(Lower& l, TypeId type, const std::vector<std::vector<ValueId>>& parts);
void copyStored(Lower& l, const Place& to, const Place& from, ValueId count, bool retain, bool release);
ValueId loadBlock(Lower& l, const Place& place, bool take);
void storeBlock(Lower& l, const Place& place, ValueId data, StoreMode mode);
std::vector<ValueId> undefOf(Lower& l, TypeId type);
ValueId blockTangent(Lower& l, TypeId type, ValueId a, ValueId b, OpKind how);
void flatten(Lower& l, TypeId type, const std::vector<ValueId>& leaves, std::vector<ValueId>& out);
std::vector<ValueId> unflatten(Lower& l, TypeId type, const std::vector<ValueId>& flat, size_t& at);

} // namespace melix::loops
