#pragma once
// Instances that compare values, or hash what is compared.

#include "check/body/body.h"

namespace melix::check {

/// Such instances are those of one module where it declares or imports a `==` of its own: a place in it, else
/// none.
Span placeOfEquality(const Body& body);

} // namespace melix::check
