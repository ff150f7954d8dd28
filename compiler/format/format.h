#pragma once
// The one layout of a program: a function of its tokens, comments and blank lines, never of where its lines
// were broken. Lines hold up to 100 columns where they can; formatting twice changes nothing; no comment is
// lost.

#include "syntax/ast.h"

#include <optional>

namespace melix::format {

/// The text of a file in its layout. `ast` must have been parsed from the file without an error; otherwise,
/// or if the tree does not fit the text, nothing.
std::optional<std::string> formatFile(const syntax::Ast& ast, const SourceStore& sources);

} // namespace melix::format
