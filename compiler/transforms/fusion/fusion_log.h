#pragma once
// The decisions of fusion about nests, for `melix explain-fusion`.

#include "core/ir/ir.h"

#include <vector>

namespace melix::transforms {

enum class FusionKind : uint8_t {
  Inlined, ///< its body stands where it was read
  Joined,  ///< it and the nest at `other` are one nest over the axes they share
  Kept,    ///< it stays an array, for `reason`
};

/// Why a nest stays one that writes an array.
enum class FusionReason : uint8_t {
  None,
  UsedWhole,  ///< something takes the array as one
  Reduces,    ///< its results are known when all of it has run
  Adds,       ///< it adds into accumulators
  ReadInLoop, ///< read in a loop, which may read an element often
  ReadOften,  ///< each element is read for many points, as operands of products are
  Expensive,  ///< several read it, and computing it again costs more than reading
  Effects,    ///< it may panic, and the reader or an op between has effects too
  Cut,        ///< input, output or an assertion stands between
  Updated,    ///< an array that it reads is updated in between and would be copied
  OtherAxes,  ///< the reader's axes differ
  Product,    ///< one side of a product in the reader: all rows share it
  Separate,   ///< expensive terms of a sum run on their own, in any order
};

struct FusionDecision {
  FusionKind kind;
  FusionReason reason = FusionReason::None;
  core::LocId nest;  ///< the nest that the entry is about
  core::LocId other; ///< the reader, if there is one
};
using FusionLog = std::vector<FusionDecision>;

} // namespace melix::transforms
