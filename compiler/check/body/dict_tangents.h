#pragma once
// Converts the tangents of Dicts for derivatives. A tangent in the program has keys (rule 40). A tangent in
// Core has the positions of entries, since there a Dict is the struct that the library declares
// (types::positionalTangent).

#include "check/body/body.h"

namespace melix::check {

/// The tangent `t` of `x`, as Core has it, as the program has it.
NodeId keyedTangent(Body& body, NodeId x, NodeId t, Span span);
/// The other way. A key that `t` has and `x` lacks is a panic.
NodeId placedTangent(Body& body, NodeId x, NodeId t, Span span);
/// The bodies of the instances that do so for values with cases, elements or keys.
NodeId keyedBody(Body& body, NodeId x, NodeId t, Span span);
NodeId placedBody(Body& body, NodeId x, NodeId t, Span span);

/// The zero among the tangents of `x` that has its lengths, cases and keys.
NodeId zeroLike(Body& body, NodeId x, Span span);
/// The body of the instance that makes it of a value with cases, elements or keys.
NodeId zeroLikeBody(Body& body, NodeId x, Span span);

} // namespace melix::check
