#include "transforms/analysis/index_offset.h"

#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

std::optional<IndexOffset> indexOffset(const Function& f, RegionId body, ValueId index,
                                       FunctionRef<std::optional<DimId>(ValueId)> sizeOf) {
  IndexOffset out;
  bool isOne = true;
  std::unordered_set<ValueId> made;
  auto isOffset = [&](ValueId v) {
    if (v == out.value) return true;
    const std::optional<DimId> size = sizeOf(v);
    return out.value.valid() ? size && size == sizeOf(out.value) : size || !made.contains(v);
  };
  forEachOp(f, body, [&](OpId id) {
    const Op& op = f.ops[id];
    if (std::ranges::find(op.operands, index) != op.operands.end()) {
      const ValueId with = op.kind == OpKind::Add ? op.operands[op.operands[0] == index ? 1 : 0] : index;
      isOne = isOne && with != index && isOffset(with);
      if (!isOne) return;
      out.value = with;
      out.sums.insert(op.results[0]);
    }
    made.insert(op.results.begin(), op.results.end());
  });
  return isOne && out.value.valid() ? std::optional(std::move(out)) : std::nullopt;
}

} // namespace melix::transforms
