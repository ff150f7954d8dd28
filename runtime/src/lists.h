#pragma once
// Functions of lists and counts for other parts of the runtime.

#include "task.h"

namespace melix::runtime {

bool isUnique(MelixTask* task, void* data);
/// Retains every reference inside a block that was made as a copy.
void retainContents(MelixTask* task, MelixBlock* block);

} // namespace melix::runtime
