#pragma once
// Declarations for people: the signature and the documentation.

#include "repl/definitions.h"

namespace melix::repl {

/// A declaration up to its body, on one line.
std::string headerOf(names::Modules& modules, names::DeclId decl);
/// The lines of `///` before a declaration, without these signs, each with its newline.
std::string documentationOf(names::Modules& modules, names::DeclId decl);

} // namespace melix::repl
