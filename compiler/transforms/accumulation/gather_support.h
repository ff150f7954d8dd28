#pragma once
// Shared by passes that write the adds of a nest as nests of their own, after it.

#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/accumulation/accumulation_sites.h"
#include "transforms/walks/derivative_builder.h"

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace melix::transforms {

/// Whether an axis may have several points.
bool maySum(types::DimStore& dims, core::DimId extent);

/// Maps values of the body of a nest to its further results, which hold them for each point.
using KeptValues = std::unordered_map<core::ValueId, core::ValueId>;
/// The nest keeps these values, each once.
KeptValues storeValuesForScatter(core::Module& m, core::FunctionId f, core::LiveUses& uses, core::OpId nest,
                                 std::vector<core::ValueId> wanted);
/// Enters the values that a nest kept in `map`, which knows its axes, as reads at `b`.
void readKept(const core::Function& f, core::OpId nest, std::span<const core::ValueId> values,
              const KeptValues& kept, core::Cloner& map, Emit& b);

/// A copy of the branch that has the arm `arm`, at a copied condition: chooses between the yields of two
/// regions.
core::ValueId materialiseBranchPath(Emit& b, const SiteLevel& arm, core::ValueId condition,
                                    core::RegionId taken, core::RegionId other, core::TypeId type);

/// The result of `make` for an accumulator if there are points, else the accumulator. A place to which
/// nothing is added may not exist.
template <class Make>
core::ValueId guardByNonEmptyDomain(Emit& e, core::DimId points, core::ValueId to, Make make) {
  if (e.types().dims.atLeast(points, 1)) return make(e);
  Emit yes = e.in(e.newRegion()), no = e.in(e.newRegion());
  yes.yield({make(yes)});
  no.yield({to});
  core::Op op = Emit::simple(core::OpKind::If, {e.cmp(ops::CmpKind::Gt, e.dimValue(points), e.i64(0))});
  op.regions = {yes.region, no.region};
  return e.one(std::move(op), e.typeOf(to));
}

/// Replaces accumulators of the nest, by number, by these values, computed by ops of the region, which has no
/// other ops. Whether anything is left of the nest, a result or an effect: it holds the checks that guard the
/// adds.
bool replaceAccumulators(core::Module& m, core::FunctionId f, const core::Effects& effects,
                         core::LiveUses& uses, core::OpId nest, core::RegionId region,
                         std::span<const std::pair<uint32_t, core::ValueId>> by);

} // namespace melix::transforms
