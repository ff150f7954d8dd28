#include "core/sizes.h"

#include "core/walk.h"

namespace melix::core {

std::vector<DimSym> sizesOf(const Module& m, const Function& f, const Op& op) {
  std::vector<DimSym> out;
  for (DimId d : op.dims) m.types.dims.collectSymbols(d, out);
  for (ValueId v : op.results) m.types.collectSymbols(f.typeOf(v), out);
  if (auto* path = std::get_if<Path>(&op.attr))
    for (const PathStep& s : *path)
      if (s.length.valid()) m.types.dims.collectSymbols(s.length, out);
  return out;
}

std::vector<DimSym> sizesWithin(const Module& m, const Function& f, OpId op) {
  std::vector<DimSym> out = sizesOf(m, f, f.ops[op]);
  for (RegionId r : f.ops[op].regions)
    forEachOp(f, r, [&](OpId inner) {
      const std::vector<DimSym> more = sizesOf(m, f, f.ops[inner]);
      out.insert(out.end(), more.begin(), more.end());
    });
  return out;
}

std::unordered_set<DimSym> sizesInFront(const Function& f, OpId op) {
  std::unordered_set<DimSym> out(f.dimParams.begin(), f.dimParams.end());
  const std::vector<RegionId> regions = regionsOfOps(f);
  for (OpId at = op; at.valid(); at = f.regions[regions[at.index]].parent) {
    const Region& around = f.regions[regions[at.index]];
    out.insert(around.dimParams.begin(), around.dimParams.end());
    for (OpId before : around.ops) {
      if (before == at) break;
      out.insert(f.ops[before].resultDims.begin(), f.ops[before].resultDims.end());
    }
  }
  return out;
}

} // namespace melix::core
