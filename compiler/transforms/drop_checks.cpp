#include "transforms/drop_checks.h"

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

} // namespace

void dropIndexChecks(Module& module, const std::function<bool(Span)>& isUnchecked) {
  for (Function& f : module.functions)
    for (Region& region : f.regions)
      std::erase_if(region.ops, [&](OpId id) {
        const Op& op = f.ops[id];
        return op.kind == OpKind::Check && isOfIndices(op.as<CheckAttr>().kind) &&
               isUnchecked(writtenAt(module, op.loc));
      });
}

} // namespace melix::transforms
