#include "driver/driver.h"

int main(int argc, char** argv) { return melix::driver::runMelix({argv + 1, argv + argc}); }

#ifdef MELIX_SANITIZE
/// A program may ask for more memory than there is: that is a panic of its own. LLVM's threads bring signal
/// stacks of their own, which the sanitizer is not to free.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1:use_sigaltstack=0"; }
#endif
