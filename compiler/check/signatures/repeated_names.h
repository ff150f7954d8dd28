#pragma once
// Checks the names that are bound. Names of one list must differ: generics and parameters of a function, the
// parts of a pattern, the indices of a builder, fields, cases. Parameters begin with a small letter.

#include "check/tree/program.h"
#include "diagnostics/diagnostic.h"

namespace melix::check {

using BoundNames = std::vector<std::pair<NameId, Span>>;

/// Reports the names that occur earlier in `list`; `where` names its construct, as messages show it.
void reportRepeated(DiagnosticSink& sink, const Interner& names, const BoundNames& list,
                    std::string_view where);

/// Looks through a whole file: functions, lambdas, patterns, builders.
void checkRepeatedNames(DiagnosticSink& sink, const Interner& names, const syntax::Ast& ast);

} // namespace melix::check
