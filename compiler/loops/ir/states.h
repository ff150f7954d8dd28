#pragma once
// States of a module of Loops, a row of states.def each.

#include "support/states.h"

namespace melix::loops {

enum class State : uint8_t {
#define STATE(Name, Text) Name,
#include "loops/ir/states.def"
#undef STATE
};

using States = melix::States<State>;

} // namespace melix::loops
