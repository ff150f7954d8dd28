#include "loops/emit/emit_grid.h"

namespace melix::loops {

bool launches(const Lower& lower) { return lower.b.fn.device != Device::Host && !lower.inNest(); }

void emitGrid(Lower& lower, std::span<const ValueId> extents,
              FunctionRef<void(std::span<const ValueId>)> point) {
  Builder& b = lower.b;
  ValueId points = extents[0];
  for (ValueId extent : extents.subspan(1)) points = b.arith(core::OpKind::Mul, points, extent);
  const RegionId region = b.begin({indexType});
  std::vector<ValueId> indices(extents.size());
  ValueId rest = b.params(region)[0];
  for (size_t k = extents.size(); k-- > 0;) {
    indices[k] = k == 0 ? rest : b.arith(core::OpKind::IRem, rest, extents[k]);
    if (k > 0) rest = b.arith(core::OpKind::IDiv, rest, extents[k]);
  }
  point(indices);
  if (lower.failed()) return;
  ForAttr attr;
  attr.dependence = Dependence::None;
  attr.grid = true;
  b.stmt(StmtKind::For, {b.integer(0), points}, {}, attr, {b.end()});
}

} // namespace melix::loops
