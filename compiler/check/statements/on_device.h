#pragma once
// `on gpu { … }`: blocks that run on a device.

#include "check/body/body.h"

namespace melix::check {

NodeId checkOn(Body& body, const syntax::On& on, Span span, TypeId expected);

/// Reports the blocks that stand in the text of a comprehension's body or filter: a point of it runs on one
/// device. Comprehensions inside report the blocks of their own bodies. Lambdas are left out.
void refuseOnInBuilder(Body& body, SynId text);

} // namespace melix::check
