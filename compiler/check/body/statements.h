#pragma once
// Checks single statements of a body, in functions outside of class Body.

#include "check/body/body.h"

namespace melix::check {

/// `assert`: the facts that it states about sizes hold after it, and a comparison that fails reports both
/// values (assertions.cpp).
NodeId checkAssert(Body& body, const syntax::Assert& assertion, Span span);

/// Whether the statement before one, which is checked, goes on to it; says so if not.
bool reaches(Body& body, NodeId before, SynId statement);

} // namespace melix::check
