#pragma once
// Arrays: memory, copies, literals, sums.

#include "loops/emit/lower.h"

namespace melix::loops {

std::vector<ValueId> zeroOf(Lower& l, TypeId type);
std::vector<ValueId> addLeaves(Lower& l, TypeId type, const std::vector<ValueId>& a,
                               const std::vector<ValueId>& b, core::OpKind how = core::OpKind::Add);
ValueId allocArray(Lower& l, TypeId elem, const std::vector<ValueId>& dims, bool zeroed,
                   const std::vector<ValueId>& alike = {});
std::vector<ValueId> denseStrides(Lower& l, const std::vector<ValueId>& extents);
Place densePlace(Lower& l, ValueId data, TypeId arrayType);
Place densePlace(Lower& l, const Destination& at, TypeId arrayType);
/// The elements of an array that lies in place; the place is that of the whole array.
Place elementsInPlace(Lower& l, Place place);
void copyBetween(Lower& l, const Place& to, const Place& from, bool fresh);
ValueId zeroArray(Lower& l, TypeId type);
ValueId negArray(Lower& l, TypeId type, ValueId a);
ValueId copyToDense(Lower& l, const Place& place);
void lowerArrayOf(Lower& l, const core::Op& op);
void lowerZero(Lower& l, const core::Op& op);
void lowerArgSort(Lower& l, const core::Op& op);
std::vector<ValueId> negLeaves(Lower& l, TypeId type, const std::vector<ValueId>& a);
ValueId addArrays(Lower& l, TypeId type, ValueId a, ValueId b, OpKind how);
void addStored(Lower& l, const Place& to, const std::vector<ValueId>& v);
void addStoredArray(Lower& l, const Place& to, const Place& from, OpKind how);

} // namespace melix::loops
