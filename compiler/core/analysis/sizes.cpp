#include "core/analysis/sizes.h"

#include "core/ir/walk.h"

#include <algorithm>

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

KnownSizes::KnownSizes(const Function& f) : f_(f), places_(f.ops.size()) {
  auto enter = [&](auto& self, RegionId r) -> void {
    for (DimSym s : f.regions[r].dimParams) params_[s] = r;
    const std::vector<OpId>& ops = f.regions[r].ops;
    for (size_t k = 0; k < ops.size(); ++k) {
      places_[ops[k].index] = {r, k};
      for (DimSym s : f.ops[ops[k]].resultDims) definitions_[s] = ops[k];
      for (RegionId inner : f.ops[ops[k]].regions) self(self, inner);
    }
  };
  enter(enter, f.body);
}

bool KnownSizes::isDefinedBefore(DimSym s, OpId op) const {
  if (std::ranges::find(f_.dimParams, s) != f_.dimParams.end()) return true;
  const auto param = params_.find(s);
  const auto definition = definitions_.find(s);
  if (param == params_.end() && definition == definitions_.end()) return false;
  for (OpId at = op; at.valid(); at = f_.regions[places_[at.index].region].parent) {
    const Place& place = places_[at.index];
    if (param != params_.end() && param->second == place.region) return true;
    if (definition == definitions_.end()) continue;
    const Place& defined = places_[definition->second.index];
    if (defined.region == place.region) return defined.at < place.at;
  }
  return false;
}

bool KnownSizes::areDefinedBefore(const Module& m, const Op& of, OpId op) const {
  return std::ranges::all_of(sizesOf(m, f_, of), [&](DimSym s) { return isDefinedBefore(s, op); });
}

} // namespace melix::core
