#pragma once
// The passes on Core and on Loops as tables of Markdown, as the documents have them.

#include <string>

namespace melix::driver {

/// A row for each run of a pass: its number, name and deed, and the states it requires, establishes and ends.
std::string passTable(bool ofLoops);
/// Both, with headings.
std::string passTables();

} // namespace melix::driver
