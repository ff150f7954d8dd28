#pragma once
// Products, enums and packs; values in their stored form.

#include "loops/emit/lower.h"

namespace melix::loops {

/// A value by itself at the address.
Place memoryPlace(Lower& l, ValueId address, TypeId type);
/// Field `k` of case `c` of an enum that is no flat one, in the node that the word points to.
Place fieldPlace(Lower& l, ValueId word, TypeId enumType, uint32_t c, uint32_t k);
std::vector<ValueId> loadStored(Lower& l, const Place& place, bool take = false);
void storeStored(Lower& l, const Place& place, const std::vector<ValueId>& leaves, StoreMode mode);
/// Address of the stored form of a value, lent.
ValueId spill(Lower& l, TypeId type, const std::vector<ValueId>& leaves);
void lowerMake(Lower& l, const core::Op& op);
void lowerCapture(Lower& l, const core::Op& op);
void lowerVariant(Lower& l, const core::Op& op);
void lowerPack(Lower& l, const core::Op& op);
void lowerUnpack(Lower& l, const core::Op& op);
Access accessAt(const Place& place, ValueType elem, int64_t more = 0);

} // namespace melix::loops
