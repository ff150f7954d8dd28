#pragma once
// Names that are bound: those side by side stand once (generics and parameters of a function, the parts of a
// pattern, the indices of a builder, fields, cases), and parameters begin with a small letter.

#include "check/tree/program.h"
#include "diagnostics/diagnostic.h"

namespace melix::check {

using BoundNames = std::vector<std::pair<NameId, Span>>;

/// Reports the names that stand in `list` before; `where` is what holds them, as messages show it.
void reportRepeated(DiagnosticSink& sink, const Interner& names, const BoundNames& list,
                    std::string_view where);

/// Looks through a whole file: functions, lambdas, patterns, builders.
void checkRepeatedNames(DiagnosticSink& sink, const Interner& names, const syntax::Ast& ast);

} // namespace melix::check
