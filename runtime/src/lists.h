#pragma once
// What other parts of the runtime need of lists and counts.

#include "task.h"

namespace melix::runtime {

bool isUnique(MelixTask* task, void* data);
/// Retains every reference inside a block that was made as a copy.
void retainContents(MelixTask* task, MelixBlock* block);

} // namespace melix::runtime
