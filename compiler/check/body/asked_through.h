#pragma once
// Infers the expected type of a call whose value only goes through a method or a pattern. The call inside is
// checked against that type, as `?` does it. `let t: f64[_, _] = csv.read(path).or_panic("no table")` asks a
// `Result[f64[_, _]]` of `read`.

#include "check/body/body.h"

namespace melix::check {

/// A type asked for inside of another: sizes that are still to be found are hidden in it.
TypeId withSizesHidden(Body& body, TypeId type);

/// Checks an expression against such an expected type. Parts of the type that are still open are taken from
/// the expression.
NodeId checkAsked(Body& body, SynId value, TypeId asked);

/// The type asked of the receiver of `call.name(…)`, where a function of that name gives back a parameter of
/// its receiver's type, as `or_panic` and `or_else` do; none if nothing determines it.
TypeId askedOfReceiver(Body& body, const syntax::Member& member, TypeId expected);
/// The expected type of a value that `pattern` matches for `branch`, where the branch gives back the parts
/// that the pattern binds.
TypeId askedThroughPattern(Body& body, SynId value, SynId pattern, SynId branch, TypeId expected);
/// The expected type of the value of a `match`, by the first of its arms that determines it.
TypeId askedOfScrutinee(Body& body, const syntax::Match& match, TypeId expected);

} // namespace melix::check
