#pragma once
// Values that stand where nothing is computed.

#include "core/ir/build.h"

namespace melix::core {

/// Some value of a type, appended at `b`, of which only its sizes matter: its arrays may be read, as those of
/// `undef` may not.
ValueId filler(Builder& b, TypeId type);

} // namespace melix::core
