#pragma once
// Makes values for places where nothing is computed.

#include "core/ir/build.h"

namespace melix::core {

/// Some value of a type, appended at `b`, of which only its sizes matter. Its arrays may be read, the arrays
/// of `undef` may not; an array of a negative size has no elements.
ValueId filler(Builder& b, TypeId type);

} // namespace melix::core
