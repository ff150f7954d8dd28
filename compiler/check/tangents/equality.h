#pragma once
// Instances that compare values, and instances that hash values consistently with the comparison.

#include "check/body/body.h"

namespace melix::check {

/// The place that such instances belong to: a place in the module, where it declares or imports a `==` of its
/// own, else none.
Span placeOfEquality(const Body& body);

} // namespace melix::check
