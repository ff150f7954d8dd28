#pragma once
// The tangents of Dicts where something is differentiated. The program's have keys (rule 40); Core's stand at
// the places of entries, since there a Dict is what the library declares (types::positionalTangent).

#include "check/body/body.h"

namespace melix::check {

/// The tangent `t` of `x`, as Core has it, as the program has it.
NodeId keyedTangent(Body& body, NodeId x, NodeId t, Span span);
/// The other way. What `t` says of keys that `x` has not is a panic.
NodeId placedTangent(Body& body, NodeId x, NodeId t, Span span);
/// The bodies of the instances that do so for what has cases, elements or keys.
NodeId keyedBody(Body& body, NodeId x, NodeId t, Span span);
NodeId placedBody(Body& body, NodeId x, NodeId t, Span span);

/// The zero among the tangents of `x` that has its lengths, cases and keys.
NodeId zeroLike(Body& body, NodeId x, Span span);
/// The body of the instance that makes it of what has cases, elements or keys.
NodeId zeroLikeBody(Body& body, NodeId x, Span span);

} // namespace melix::check
