#pragma once
#include "loops/ir/ir.h"

namespace melix::loops {

/// Makes the host's copy of an array valid before the host uses its elements, where a device may have the
/// valid one. A launch does so for the device by itself.
/// before:  launch f.loop0 …, %y         after:  launch f.loop0 …, %y
///          for 0, n { … load %y … }             acquire %y
///                                               for 0, n { … load %y … }
/// An `acquire` stands before the outermost loop around its use in which nothing is launched; a number
/// outside of such loops is copied alone (element_copies.h). An array that launches write has no valid copy
/// when it is made; and code for a device copies such arrays there. Does nothing in a module without kernels
/// of a device. Requires: kernels outlined.
void placeAcquires(Module& module);

} // namespace melix::loops
