#pragma once
// Loops, jumps and the values that they carry.

#include "lower/body.h"
#include "support/function_ref.h"

namespace melix::lower {

/// A range as i64; `first` and `step` are none where they are 0 and 1.
struct Counted {
  ValueId first, step, count;
  TypeId type;
};

Counted counted(BodyLowering& fn, const std::vector<ValueId>& bounds);
ValueId lowerFor(BodyLowering& fn, const check::Node& node);
void countedLoop(BodyLowering& fn, LocalId index, const std::vector<NodeId>& nodes, const Counted& range,
                 bool continues, FunctionRef<void()> body);
ValueId lowerWhile(BodyLowering& fn, const check::Node& node);
ValueId lowerLoop(BodyLowering& fn, const check::Node& node);
ValueId exitIs(BodyLowering& fn, uint64_t code);
ValueId lowerJump(BodyLowering& fn, const check::Node& node);
ValueId returned(BodyLowering& fn);
std::set<LocalId> assignedIn(BodyLowering& fn, const std::vector<NodeId>& nodes);
void collectSizes(BodyLowering& fn);

} // namespace melix::lower
