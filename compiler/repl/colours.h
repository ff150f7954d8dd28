#pragma once
// The colours of an entry while it is typed, by the tokens of the language.

#include "repl/editor/screen.h"

namespace melix::repl {

/// Parts of the text in order. Text that is no token has no colour.
std::vector<ColouredPart> coloursOf(const std::string& text);

} // namespace melix::repl
