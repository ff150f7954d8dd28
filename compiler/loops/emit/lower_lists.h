#pragma once
// Lists.

#include "loops/emit/lower.h"

namespace melix::loops {

void lowerListOf(Lower& l, const core::Op& op);
void lowerLength(Lower& l, const core::Op& op);
void lowerPush(Lower& l, const core::Op& op);
void lowerPop(Lower& l, const core::Op& op);
void lowerToArray(Lower& l, const core::Op& op);
void lowerToList(Lower& l, const core::Op& op);

/// The push that a loop does once an iteration, to the List that it carries as number `k`, and that nothing
/// else reads: of numbers, or of records of such, by ops that have no effect. None if there is no such push.
core::OpId onlyPush(Lower& l, const core::LoopView& loop, size_t k);
/// A List with `count` more elements, which are still to be stored.
struct LongerList {
  ValueId list, address;
  ValueId before; ///< the length that it had
};
LongerList lengthen(Lower& l, core::ValueId list, ValueId count);
/// The place of an element of a list at an address.
Place elementPlace(Lower& l, TypeId list, ValueId address, ValueId index);

} // namespace melix::loops
