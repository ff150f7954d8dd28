#pragma once
// Messages about `?`.

#include "check/body/body.h"

namespace melix::check {

/// Reports `value?` in a function that returns `back`, which has no way to pass a failure on. `back` is none
/// if nothing determines the return type.
void refuseTry(Body& body, NodeId value, TypeId back, Span span);

} // namespace melix::check
