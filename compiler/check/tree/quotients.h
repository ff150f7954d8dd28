#pragma once
// Finds quotients of integers that end in a float: they are rounded down first, which is seldom intended.

#include "check/tree/build.h"

#include <optional>

namespace melix::check {

class Body;

/// The quotient written with `/` that an integer is computed from; none if there is none. It is also found
/// where a `let` names it, sums and products change it, a branch gives it or an array holds it. Nothing is
/// found through `div(a, b)`, which says that it rounds down, nor through remainders and bits, which are of
/// integers.
std::optional<WrittenQuotient> quotientIn(NodeBuilder& b, NodeId value);
/// The two ways out where `value` is made of a quotient and the place takes nothing but a float of this type;
/// else empty.
std::string quotientHint(NodeBuilder& b, NodeId value, TypeId type);
/// The text that makes an f64 of an integer, or of the integer that `value` divides; empty if it is no
/// number.
std::string floatHint(NodeBuilder& b, NodeId value);
/// Says beside a message which quotient its hint speaks of, if it stands outside of `span`.
void noteQuotient(Diagnostic& to, NodeBuilder& b, NodeId value, Span span);

/// Warns of each quotient, in a body whose types are found, that becomes a float, is shown with a fraction,
/// or is the exponent of a float.
void warnQuotients(Body& body);

} // namespace melix::check
