#pragma once
// The memory that an access of a kernel reaches.

#include "loops/ir/ir.h"

namespace melix::loops {

/// The parameter, or the frame memory's value, that an address or array of a kernel belongs to. None if
/// branches or loops choose among several.
ValueId memoryOf(const Function& kernel, ValueId pointer);

/// The memory that a statement may read and write by itself: operands that are arrays or addresses.
struct Touched {
  ValueId read, written; ///< none: nothing
};
Touched touchedBy(const Stmt& s);

/// The statement that allocates frame memory of a root, which is valid; none for a parameter.
StmtId frameOf(const Function& kernel, ValueId root);

} // namespace melix::loops
