#include "transforms/walks/speculation.h"

#include "core/ir/place.h"

namespace melix::transforms {

using namespace core;

/// A read without indices is.
bool readsInRange(Module& m, const Function& fn, Ranges& ranges, const Op& get) {
  const Path& path = get.as<Path>();
  if (pathOperands(path) == 0) return true;
  const types::Type array = m.types[fn.typeOf(get.operands[0])];
  if (array.kind != TypeKind::Array || path.size() > array.dims.size()) return false;
  size_t operand = 1;
  for (size_t k = 0; k < path.size(); ++k) {
    if (path[k].kind == StepKind::All) continue;
    if (path[k].kind != StepKind::Index) return false;
    if (!ranges.isIndex(get.operands[operand++], array.dims[k])) return false;
  }
  return true;
}

} // namespace melix::transforms
