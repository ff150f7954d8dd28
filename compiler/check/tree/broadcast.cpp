#include "check/tree/broadcast.h"

#include <algorithm>

namespace melix::check {

BroadcastResult broadcast(Inference& infer, types::DimStore& dims,
                          const std::vector<std::vector<DimId>>& operands) {
  BroadcastResult result;
  size_t rank = 0;
  for (const std::vector<DimId>& operand : operands) rank = std::max(rank, operand.size());
  result.dims.resize(rank);
  std::vector<size_t> owner(rank, 0);
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::vector<DimId>& operand = operands[k];
    size_t lead = rank - operand.size();
    for (size_t axis = 0; axis < operand.size(); ++axis) {
      DimId& common = result.dims[lead + axis];
      DimId mine = infer.zonk(operand[axis]);
      if (!common.valid() || (dims.asConstant(common) == 1 && dims.asConstant(mine) != 1)) {
        common = mine;
        owner[lead + axis] = k;
        continue;
      }
      if (dims.asConstant(mine) == 1) continue;
      UnifyKind kind = infer.unifyDim(common, mine);
      size_t left = owner[lead + axis];
      AxisPair pair{left, operands[left].size() - (rank - lead - axis), k, axis};
      if (kind == UnifyKind::NeedsCheck) result.checks.push_back(pair);
      if (kind != UnifyKind::DimsDiffer || result.kind == UnifyKind::DimsDiffer) continue;
      result.kind = kind;
      result.differ = pair;
    }
  }
  return result;
}

} // namespace melix::check
