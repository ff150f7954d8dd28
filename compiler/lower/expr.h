#pragma once
// Nodes of the typed tree by their kind.

#include "lower/body.h"

namespace melix::lower {

ValueId lowerNode(BodyLowering& fn, NodeId n);
ValueId applied(BodyLowering& fn, const check::OpRef& ref, TypeId type, std::vector<ValueId> v);
bool checksOverflow(BodyLowering& fn, TypeId type);

} // namespace melix::lower
