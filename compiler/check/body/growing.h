#pragma once
// Variables that a loop replaces by values of other sizes.

#include "check/body/body.h"

namespace melix::check {

/// `start` as a variable holds it that is replaced, again and again, by what `next` makes of it: the sizes in
/// which that differs are kept beside the value. Where none differs, `start` as it is.
NodeId growing(Body& body, NodeId start, const std::function<NodeId(NodeId before)>& next, Span span);

} // namespace melix::check
