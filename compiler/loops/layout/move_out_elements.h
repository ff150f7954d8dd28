#pragma once
// Moves elements out of lists while they are changed.

#include "core/ir/uses.h"

namespace melix::loops {

// Note: Elements taken out
//
// A list element that is read, changed and written back has two owners meanwhile, the list and the reader,
// and so would be copied. If nothing reads the list in between, the read moves the element out. Its memory
// holds nothing until the write.

/// The `set` that writes an element back where `get` reads it, if nothing reads the list between the two;
/// both stand in one region.
const core::Op* putBack(const core::Function& f, const core::Uses& uses, const core::Op& get);

} // namespace melix::loops
