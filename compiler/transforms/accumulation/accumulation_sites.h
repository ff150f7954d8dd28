#pragma once
// Where a nest adds to one of its accumulators, through inner nests and branches.

#include "core/ir/uses.h"

namespace melix::core {
class Effects;
}

namespace melix::transforms {

struct SiteLevel {
  enum class Kind : uint8_t { Nest, Arm } kind;
  core::OpId op; ///< the nest or the `if`
  core::RegionId region;
  size_t arm = 0;
};
struct AccumulationSite {
  std::vector<SiteLevel> levels; ///< from the nest inwards
  core::OpId add;
};

/// All adds to accumulator `k` of the nest; false if it goes where it cannot be followed (calls, loops).
bool findAccumulationSites(const core::Function& f, const core::Uses& uses, core::OpId nest, uint32_t k,
                           std::vector<AccumulationSite>& out);

/// Takes accumulators, all of whose adds were found, out of the nest and of all that hands them on. Nests in
/// it go that have neither a result nor an effect then.
void removeAccumulators(core::Module& m, core::FunctionId f, const core::Effects& effects,
                        core::LiveUses& uses, core::OpId nest, std::vector<uint32_t> which);

/// Whether `op` hands no accumulators on, or only so that they can be taken out of a copy of it.
bool isSeparable(const core::Function& f, const types::TypeStore& types, const core::Uses& uses,
                 core::OpId op);
/// Takes the accumulators out of a copy of a separable op in `region`, which was entered; its other results
/// stay. Checks in the copy are not kept: the original op stays and has them.
void separate(core::Module& m, core::FunctionId f, core::LiveUses& uses, core::OpId copy,
              core::RegionId region);

} // namespace melix::transforms
