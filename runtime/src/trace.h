#pragma once
// From return addresses to the names and lines of Melix functions.

#include "system.h"
#include "task.h"

namespace melix::runtime {

/// Walks the frames from `frame` (a frame pointer, may be null) to the landing. Sets `place` to
/// `file:line:column`, a newline and the source line of the innermost Melix frame outside of the library, or
/// if there is none the innermost; a place that is set and in no file of the library stays. Appends one line
/// to `out` for each Melix frame; of more than 40 calls the middle is left out.
void traceFrom(MelixTask* task, const void* const* frame, TextBuffer& place, TextBuffer& out);

} // namespace melix::runtime
