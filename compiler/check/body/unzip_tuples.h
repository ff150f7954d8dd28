#pragma once
// `unzip`: converts an array of tuples to a tuple of arrays.

#include "check/body/body.h"

namespace melix::check {

/// `([for i: rows[i].0], [for i: rows[i].1], …)` over all axes of `rows`, or an Error node after a message.
NodeId unzipped(Body& body, NodeId rows, Span span);

} // namespace melix::check
