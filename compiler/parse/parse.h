#pragma once
// Parses text to a syntax tree. The result is always a tree; unreadable text is an Error node and a
// diagnostic.

#include "diagnostics/diagnostic.h"
#include "syntax/ast.h"

namespace melix::parse {

struct ParseResult {
  syntax::Ast ast;
  bool incomplete =
      false; ///< the text ended inside a bracket, a comment, a `"""` string or after an operator
};

ParseResult parseFile(FileId file, const SourceStore& sources, Interner& names, DiagnosticSink& sink);

/// The same for an entry at the prompt: nothing is reported of an incomplete entry, which more lines may
/// complete.
ParseResult parseReplEntry(FileId file, const SourceStore& sources, Interner& names, DiagnosticSink& sink);

/// An example in a documentation comment: a script of its own, and its name as a test.
struct Example {
  std::string name;
  syntax::Ast ast;
};

/// The examples in the documentation comments of `ast`: the text between lines of three backquotes (```,
/// ```mlx or ```melix).
std::vector<Example> parseExamples(const syntax::Ast& ast, const SourceStore& sources, Interner& names,
                                   DiagnosticSink& sink);

} // namespace melix::parse
