#pragma once
// Text to syntax tree. Always answers with a tree; what could not be read is an Error node and a diagnostic.

#include "syntax/ast.h"
#include "diagnostics/diagnostic.h"

namespace melix::parse {

struct ParseResult {
  syntax::Ast ast;
  bool incomplete = false; ///< the text ended inside a bracket, a string or after an operator (for the prompt)
};

ParseResult parseFile(FileId file, const SourceStore& sources, Interner& names, DiagnosticSink& sink);

} // namespace melix::parse
