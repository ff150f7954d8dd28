#pragma once
// Finds the adds of a nest to one of its accumulators, through inner nests and branches.

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

/// Removes accumulators, all of whose adds were found, from the nest and from all ops that pass them on.
/// Nests in it that then have neither a result nor an effect are removed.
void removeAccumulators(core::Module& m, core::FunctionId f, const core::Effects& effects,
                        core::LiveUses& uses, core::OpId nest, std::vector<uint32_t> which);

/// Whether `op` passes no accumulators on, or only so that they can be removed from a copy of it.
bool isSeparable(const core::Function& f, const types::TypeStore& types, const core::Uses& uses,
                 core::OpId op);
/// Removes the accumulators from a copy of a separable op in `region`, which was entered; its other results
/// stay. Checks in the copy are not kept: the original op stays and has them.
void separate(core::Module& m, core::FunctionId f, core::LiveUses& uses, core::OpId copy,
              core::RegionId region);

} // namespace melix::transforms
