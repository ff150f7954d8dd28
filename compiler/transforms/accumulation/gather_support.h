#pragma once
// What passes share that write the adds of a nest as nests of their own, behind it.

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

/// By values of the body of a nest: its further results, which hold them for each point.
using KeptValues = std::unordered_map<core::ValueId, core::ValueId>;
/// The nest keeps these values, each once.
KeptValues keepForAdds(core::Module& m, core::FunctionId f, core::LiveUses& uses, core::OpId nest,
                       std::vector<core::ValueId> wanted);
/// Makes the values that a nest kept known to `map`, which knows its axes, as reads where `b` stands.
void readKept(const core::Function& f, core::OpId nest, std::span<const core::ValueId> values,
              const KeptValues& kept, core::Cloner& map, Emit& b);

/// The branch of which `arm` is one, at a copied condition: what two regions yield.
core::ValueId ofArm(Emit& b, const SiteLevel& arm, core::ValueId condition, core::RegionId taken,
                    core::RegionId other, core::TypeId type);

/// What `make` makes of an accumulator if there are points, else the accumulator: a place to which nothing is
/// added may not exist.
template <class Make>
core::ValueId ifPoints(Emit& e, core::DimId points, core::ValueId to, Make make) {
  if (e.types().dims.atLeast(points, 1)) return make(e);
  Emit yes = e.in(e.newRegion()), no = e.in(e.newRegion());
  yes.yield({make(yes)});
  no.yield({to});
  core::Op op = Emit::simple(core::OpKind::If, {e.cmp(ops::CmpKind::Gt, e.dimValue(points), e.i64(0))});
  op.regions = {yes.region, no.region};
  return e.one(std::move(op), e.typeOf(to));
}

/// Accumulators of the nest, by number, are these values, which ops of the region compute that stand alone
/// there; whether anything is left of the nest, a result or an effect: checks that guard the adds stand in
/// it.
bool replaceAccumulators(core::Module& m, core::FunctionId f, const core::Effects& effects,
                         core::LiveUses& uses, core::OpId nest, core::RegionId region,
                         std::span<const std::pair<uint32_t, core::ValueId>> by);

} // namespace melix::transforms
