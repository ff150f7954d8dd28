// Syntax is there while macros are expanded; a program that runs has none. The compiler refuses programs that
// would ask for it, so this is never reached.
#include "builtins.h"
#include "task.h"

using namespace melix::runtime;

extern "C" void melix_syntax_absent(MelixTask* task, const uint64_t*, uint64_t*) {
  panicText(task, "syntax exists only while macros are expanded");
}
