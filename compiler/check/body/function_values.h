#pragma once
// Where one of several functions may stand they are values of a function type, not templates (rule 11): in
// variables that change, in elements, where branches meet. Parts of tuples are such places as well.

#include "check/body/body.h"

namespace melix::check {

/// Whether a value is a template, or a tuple that has one among its parts.
bool holdsTemplate(Body& body, TypeId type);
/// The value with a function type in the place of each template; says so where one has none.
NodeId withFunctionTypes(Body& body, NodeId value);
/// Of two functions the one that is chosen is a value: both get a function type, a template that of the
/// other. Whether there were two, of which one at least had none.
bool joinAsFunctions(Body& body, NodeId& x, NodeId& y);
/// A hint for a template in the place of another; empty if there are none.
std::string templateHint(Body& body, TypeId want, TypeId got);

} // namespace melix::check
