#pragma once
// Checks texts: literals with values in braces, and values as texts (rule 5).

#include "check/body/body.h"

namespace melix::check {

NodeId checkString(Body& body, const syntax::StringLit& literal, Span span);

} // namespace melix::check
