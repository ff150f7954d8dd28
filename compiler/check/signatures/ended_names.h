#pragma once
// Finds names whose block has ended.

#include "syntax/ast.h"

namespace melix::check {

/// The last place at which a block, loop or builder that ended before `use`, in the same function, binds a
/// name; none if none does.
Span endedBefore(const syntax::Ast& ast, NameId name, Span use);

} // namespace melix::check
