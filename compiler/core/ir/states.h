#pragma once
// States of a module of Core, a row of states.def each.

#include "support/states.h"

namespace melix::core {

enum class State : uint8_t {
#define STATE(Name, Text) Name,
#include "core/ir/states.def"
#undef STATE
};

using States = melix::States<State>;

} // namespace melix::core
