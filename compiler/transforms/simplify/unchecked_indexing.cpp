#include "transforms/simplify/unchecked_indexing.h"

#include "core/ir/walk.h"
#include "transforms/walks/dce.h"

namespace melix::transforms {

using namespace core;

namespace {

bool isOfIndices(CheckKind kind) {
  return kind == CheckKind::Index || kind == CheckKind::ListIndex || kind == CheckKind::Slice;
}

/// Where the code of an op is written, whatever was made of it since.
Span writtenAt(const Module& module, LocId loc) {
  while (loc && module.locs[loc].inner) loc = module.locs[loc].inner;
  return loc ? module.locs[loc].span : Span();
}

/// Whether any was left out.
bool dropIndexChecksOf(Function& f, FunctionRef<bool(const Op&)> isDropped) {
  size_t dropped = 0;
  for (Region& region : f.regions)
    dropped += std::erase_if(region.ops, [&](OpId id) { return isDropped(f.ops[id]); });
  return dropped > 0;
}

} // namespace

void dropIndexChecks(Module& module, FunctionRef<bool(Span)> isUnchecked) {
  auto isDropped = [&](const Op& op) {
    return op.kind == OpKind::Check && isOfIndices(op.as<CheckAttr>().kind) &&
           isUnchecked(writtenAt(module, op.loc));
  };
  const Effects effects(module);
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const FunctionId id(i);
    if (!dropIndexChecksOf(module.functions[id], isDropped)) continue;
    module.functions[id].version.raise();
    eliminateDeadValues(module, id, effects);
  }
}

} // namespace melix::transforms
