#pragma once
// What macros say of errors in the code that they write.

#include "check/body/body.h"

namespace melix::check {

/// If the last message is at `part`, which a macro was given, and `whole` is what the macro wrote around it:
/// the message gets the hint that the macro has for errors in there.
void adviseLast(Body& body, Span whole, Span part);

} // namespace melix::check
