#pragma once
#include "loops/ir/ir.h"

namespace melix::loops {

/// Makes a load or store of a number in `array`, which a device may have, one that copies the number alone.
/// before:  %v = load %x[%i*1] : f64      after:  %t = scratch 8
///                                                %a = address_of %x[%i*1]
///                                                fetch %x, %a, %t, 8
///                                                %v = load %t : f64
/// Returns the statements that replace it in its region, the load or store among them.
std::vector<StmtId> copyElement(Function& fn, RegionId region, StmtId access, ValueId array);

} // namespace melix::loops
