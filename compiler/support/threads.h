#pragma once
// Threads with stacks for deep recursion.

#include "support/function_ref.h"

#include <cstddef>
#include <initializer_list>

namespace melix {

/// Runs `work` on a thread of its own and waits for it. The stack has the first of the sizes that the system
/// grants. Returns false, and nothing has run, if no such thread can be started. `work` must not throw.
bool runOnStack(std::initializer_list<size_t> megabytes, FunctionRef<void()> work);

/// Runs `work(0)` … `work(count - 1)`, each once, in any order, on as many threads as there are processors
/// for this process; waits for all. `work` may throw: the first exception is thrown here, after all have
/// ended.
void forEachInParallel(size_t count, FunctionRef<void(size_t)> work);

} // namespace melix
