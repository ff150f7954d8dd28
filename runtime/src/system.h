#pragma once
// The process: environment, stacks as the tracer sees them, output.

#include "task.h"

#include <time.h>

namespace melix::runtime {

/// Of a clock that only goes on.
inline int64_t nanosecondsNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Null if unset. The C library's own, which does not change after the start.
const char* environmentVariable(const char* name);

/// Whether MELIX_THREADS, if it is set, is a number of threads.
bool threadsAreANumber();

/// The arguments of the process, the program's name first.
int32_t argumentCount();
const char* argument(int32_t k);
/// Forgets the declared parameters and their values.
void forgetCommandLine();

/// The innermost frame from which a trace of an interrupted task can start: `fp` if it is the frame of
/// compiled code, else the first place at or above `sp` that looks like one, else null.
const void* const* findFrame(const MelixTask* task, const uint8_t* fp, const uint8_t* sp);

/// Writes text to a file descriptor (1: buffered) or the host's writer.
void writeText(int fd, const uint8_t* data, int64_t len);
/// The columns of the terminal that standard error is; 0 if it is none that can show a status line.
int statusColumns();
/// Shows a text that fits into a line as the last line of the terminal, until anything else is written; or
/// for good if it stays. A text that does not stay is not shown while other output has left a line without
/// its end.
void showStatus(const TextBuffer& text, bool stays);
/// Writes all bytes; false on an error.
bool writeAll(int fd, const uint8_t* data, int64_t len);

} // namespace melix::runtime
