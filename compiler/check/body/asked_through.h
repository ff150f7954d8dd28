#pragma once
// What is asked of a call whose value only goes through a method or a pattern: the type asked for is told to
// the call inside, as `?` tells it. `let t: f64[_, _] = csv.read(path).or_panic("no table")` asks a
// `Result[f64[_, _]]` of `read`.

#include "check/body/body.h"

namespace melix::check {

/// A type asked for inside of another: sizes that are still to be found are hidden in it.
TypeId withSizesHidden(Body& body, TypeId type);

/// Checks an expression of which such a type is asked. Parts of the type that are still open take what the
/// expression has.
NodeId checkAsked(Body& body, SynId value, TypeId asked);

/// The type asked of the receiver of `call.name(…)`, where a function of that name gives back a parameter of
/// its receiver's type, as `or_panic` and `or_else` do; none if nothing determines it.
TypeId askedOfReceiver(Body& body, const syntax::Member& member, TypeId expected);
/// The type asked of a value that `pattern` takes apart for `branch`, where the branch gives back what the
/// pattern binds.
TypeId askedThroughPattern(Body& body, SynId value, SynId pattern, SynId branch, TypeId expected);
/// The type asked of the value that a `match` takes apart, by the first of its arms that determines it.
TypeId askedOfScrutinee(Body& body, const syntax::Match& match, TypeId expected);

} // namespace melix::check
