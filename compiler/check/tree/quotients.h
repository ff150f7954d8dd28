#pragma once
// Quotients of integers that end in a float: they are rounded down before, which is seldom what is meant.

#include "check/tree/build.h"

#include <optional>

namespace melix::check {

class Body;

/// The quotient that an integer is made of, the one that `/` writes: also where a `let` names it, sums and
/// products change it, a branch gives it or an array holds it; none if it is made of none. `div(a, b)` says
/// that it rounds down, remainders and bits are of integers: nothing is found behind these.
std::optional<WrittenQuotient> quotientIn(NodeBuilder& b, NodeId value);
/// The two ways out where `value` is made of a quotient and the place takes nothing but a float of this type;
/// else empty.
std::string quotientHint(NodeBuilder& b, NodeId value, TypeId type);
/// What makes an f64 of an integer, or of the one that `value` divides; empty if it is no number.
std::string floatHint(NodeBuilder& b, NodeId value);
/// Says beside the last message which quotient its hint speaks of, if it stands outside of `span`.
void noteQuotient(NodeBuilder& b, NodeId value, Span span);

/// Warns of each quotient in a body whose types are found that becomes a float, is shown with digits behind
/// the point, or is the exponent of a float.
void warnQuotients(Body& body);

} // namespace melix::check
