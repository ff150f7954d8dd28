#pragma once
// Standard input for a host that reads lines of it beside its programs: both take from one buffer, so that
// neither has read bytes of the other.

#include <stdint.h>

/// Waits for input and gives at most `size` bytes of it, none after the end of a line. 0 at its end; -1 after
/// an error or a signal, as for `read`.
extern "C" int64_t melix_read_input(uint8_t* to, int64_t size);
