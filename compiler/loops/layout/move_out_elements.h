#pragma once
// Elements of lists that are taken out of them while they are changed.

#include "core/ir/uses.h"

namespace melix::loops {

// Note: Elements taken out
//
// An element of a list that is read, changed and written back has two owners while it is changed, the list
// and the reader, and so would be copied. Where the list is not looked at in between, the read takes the
// element out of it: the memory it was in holds nothing until the write.

/// The `set` that writes an element back where `get` reads it, if nothing looks at the list from the one to
/// the other; both stand in one region.
const core::Op* putBack(const core::Function& f, const core::Uses& uses, const core::Op& get);

} // namespace melix::loops
