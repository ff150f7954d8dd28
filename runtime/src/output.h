#pragma once
// The buffer of standard output, and the thread that writes text that has waited in it.

#include <stdint.h>

namespace melix::runtime {

// output.cpp
/// Writes the buffer if its text has waited for a tenth of a second. Returns in how many nanoseconds to ask
/// again; -1: when wakeWriter is called.
int64_t writeWaiting();
/// Writes the buffer of a process that is about to end by a signal, and lets nobody write any more. Gives up
/// where another thread is in the middle of it, or nobody reads.
void writeLast();
/// In a forked child, which has none of its parent's threads.
void forgetWriter();

// output_thread.cpp
/// Something is in the buffer now. Starts the thread.
void wakeWriter();
/// Ends the process after the buffer was written: `number` above 0 by that signal, else with the status
/// -`number`; after a second in any case. To be called by handlers of signals, which may come more than once;
/// may return before that has happened.
void endAfterOutput(int number);
/// The thread is no more.
void forgetThread();

} // namespace melix::runtime
