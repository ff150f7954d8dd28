#pragma once
// Text to syntax tree. Always answers with a tree; what could not be read is an Error node and a diagnostic.

#include "diagnostics/diagnostic.h"
#include "syntax/ast.h"

namespace melix::parse {

struct ParseResult {
  syntax::Ast ast;
  bool incomplete =
      false; ///< the text ended inside a bracket, a comment, a `"""` string or after an operator
};

ParseResult parseFile(FileId file, const SourceStore& sources, Interner& names, DiagnosticSink& sink);

/// The same for what was typed at the prompt: nothing is reported of an incomplete entry, which more lines
/// may complete.
ParseResult parseReplEntry(FileId file, const SourceStore& sources, Interner& names, DiagnosticSink& sink);

/// An example in a documentation comment: a script of its own, and what it is called as a test.
struct Example {
  std::string name;
  syntax::Ast ast;
};

/// The examples in the documentation comments of `ast`, which are what stands between lines of three
/// backquotes (```, ```mlx or ```melix).
std::vector<Example> parseExamples(const syntax::Ast& ast, const SourceStore& sources, Interner& names,
                                   DiagnosticSink& sink);

} // namespace melix::parse
