#pragma once
// Statements that are checked apart from the body they stand in.

#include "check/body/body.h"

namespace melix::check {

/// `assert`: what it says of sizes holds behind it, and a comparison that fails tells both values
/// (assertions.cpp).
NodeId checkAssert(Body& body, const syntax::Assert& assertion, Span span);

/// Whether the statement before one, which is checked, goes on to it; says so if not.
bool reaches(Body& body, NodeId before, SynId statement);

} // namespace melix::check
