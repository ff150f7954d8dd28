#pragma once
// Checks variables that a loop replaces by values of other sizes.

#include "check/body/body.h"
#include "support/function_ref.h"

namespace melix::check {

/// `start` as a variable holds it that `next` replaces again and again. The sizes in which `next` changes the
/// type are kept beside the value. If it changes none, the result is `start` itself.
NodeId growing(Body& body, NodeId start, FunctionRef<NodeId(NodeId before)> next, Span span);

} // namespace melix::check
