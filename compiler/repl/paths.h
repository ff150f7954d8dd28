#pragma once
#include "repl/editor/editor.h"

namespace melix::repl {

/// How a path is written: as the argument of a command, in a text with escapes, in a raw text.
enum class PathForm : uint8_t { Plain, Escaped, Raw };

/// Files and folders that go on from the path that is typed at `begin`, of one folder: the last one in it.
/// Folders end in `/`. A home folder `~` is written out in texts, where programs do not know it. Of a folder
/// with very many files not all are looked at; names that cannot be written in the form are left out.
Completion filesAt(const std::string& text, size_t begin, size_t cursor, PathForm form);

/// A path whose first part may be `~`, the home folder.
std::string expandedPath(const std::string& path);

} // namespace melix::repl
