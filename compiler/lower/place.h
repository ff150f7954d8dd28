#pragma once
// Places: reading, changing, and values whose parts are elsewhere for a while.

#include "lower/body.h"

namespace melix::lower {

ValueId whole(BodyLowering& fn, LocalId local, const std::vector<check::Step>& steps);
ValueId holding(BodyLowering& fn, Held held, const Make& body);
ValueId lowerWithin(BodyLowering& fn, const check::Node& node);
void indexNodes(const std::vector<check::Step>& steps, std::vector<NodeId>& out);
LoweredPath placePath(BodyLowering& fn, const check::Place& place, const std::vector<ValueId>& values,
                      size_t& next);
ValueId current(BodyLowering& fn, const check::Place& place, const LoweredPath& p);
ValueId lowerScatter(BodyLowering& fn, const check::Node& node);
ValueId lowerGet(BodyLowering& fn, const check::Node& node);
void writePath(BodyLowering& fn, const check::Place& place, const LoweredPath& p, ValueId value);
ValueId lowerAssign(BodyLowering& fn, const check::Node& node);
ValueId lowerUpdate(BodyLowering& fn, const check::Node& node);
ValueId lowerPop(BodyLowering& fn, const check::Node& node);

} // namespace melix::lower
