#pragma once
// Whole files, with messages that name the path and the reason.

#include "text_buffer.h"

namespace melix::runtime {

/// Reads all of `path` into `out`; else adds the message to `error`.
bool readFile(MelixStr path, TextBuffer& out, TextBuffer& error);
/// Makes, replaces or (append) lengthens a file.
bool writeFile(MelixStr path, const uint8_t* data, int64_t len, bool append, TextBuffer& error);

} // namespace melix::runtime
