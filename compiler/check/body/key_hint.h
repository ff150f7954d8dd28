#pragma once
// Hints for calls of functions that draw random numbers, without the key that they draw with.

#include "check/body/body.h"

namespace melix::check {

/// Gives the last message, of wrong arguments, a hint if the function is one of the library that draws: how
/// it gets its key, and a type.
void hintKey(Diagnostic& to, Body& body, const FunctionDecl& fn);
/// The same by name, where an argument is not the key that is asked for.
void hintKey(Diagnostic& to, Body& body, std::string_view function, TypeId asked);

} // namespace melix::check
