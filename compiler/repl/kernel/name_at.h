#pragma once
// The name that a cursor means.

#include <string>
#include <string_view>
#include <vector>

namespace melix::repl {

/// The names that a cursor, a byte of the text, may mean, the likeliest first: the one that it stands in or
/// after, with the names before its points (`nn.init`) and without them (a method). Then the function of the
/// call whose arguments it is in.
std::vector<std::string> namesAt(std::string_view text, size_t cursor);

} // namespace melix::repl
