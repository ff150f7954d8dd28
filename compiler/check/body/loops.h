#pragma once
// Checks loops, and the statements that leave them.

#include "check/body/body.h"

namespace melix::check {

/// `for`, over one source or several (for_loops.cpp).
NodeId checkFor(Body& body, const syntax::For& loop, Span span);
/// `while e` and `while let`.
NodeId checkWhile(Body& body, const syntax::While& loop, Span span);
NodeId checkLoop(Body& body, const syntax::One& loop, Span span);
NodeId checkBreak(Body& body, const syntax::One& leave, Span span);

} // namespace melix::check
