#pragma once
// Messages about `?`.

#include "check/body/body.h"

namespace melix::check {

/// `value?` in a function that returns `back`, none if nothing says what: nothing to pass on with.
void refuseTry(Body& body, NodeId value, TypeId back, Span span);

} // namespace melix::check
