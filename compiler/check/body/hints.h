#pragma once
// Hints of macros for errors in the code that they write.

#include "check/body/body.h"

namespace melix::check {

/// Adds the hint of a macro to the last message. The message must be at `part`, an argument of the macro;
/// `whole` is the code that the macro wrote around it.
void adviseLast(Messages& told, Body& body, Span whole, Span part);

} // namespace melix::check
