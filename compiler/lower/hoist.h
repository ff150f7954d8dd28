#pragma once
// Parts of a comprehension computed before it: their needs, the way to them, their new place.

#include "lower/body.h"

namespace melix::lower {

Needs needs(BodyLowering& fn, NodeId n);
Needs needs(BodyLowering& fn, const check::Names& reads);
void introduce(BodyLowering& fn, NodeId n);
void addSizes(BodyLowering& fn, std::span<const check::NestAxis> axes, check::Names& reads);
Needs needsOf(BodyLowering& fn, std::span<const check::NestAxis> axes);
bool introduceAxes(BodyLowering& fn, std::span<const check::NestAxis> axes);
std::vector<check::NestAxis> introduceInner(BodyLowering& fn, std::span<const check::NestAxis> axes);
bool heavy(BodyLowering& fn, NodeId n);
bool stops(BodyLowering& fn, NodeId n);
std::optional<Way> wayTo(BodyLowering& fn, const std::vector<NodeId>& nodes, std::optional<uint64_t> axes);
ValueId along(BodyLowering& fn, const Way& way, size_t k = 0);
size_t hoist(BodyLowering& fn, NodeId nest, size_t around = 0);
ValueId hoisted(BodyLowering& fn, NodeId n, const Ahead& ahead);

} // namespace melix::lower
