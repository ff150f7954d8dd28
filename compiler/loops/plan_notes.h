#pragma once
// What text of Core says of how its nests run (plan_nest.h), and what is written where it goes
// (placements.h): the answer to "why two sweeps?".
//
//   %rows, %columns = nest (%i: m, %j: n) -> keep[i] sum lanes(64, j), keep[j] sum chain {
//     // sweep 0 gives %rows: %i parallel, blocks of %j points in strips of 64
//     //   not cut for the pool: a reduction keeps axes
//     // sweep 1 gives %columns: %j parallel, blocks of %i points
//     //   not cut for the pool: a reduction keeps axes
//     //   apart from sweep 0: keeps other axes

#include "core/print.h"
#include "loops/layout.h"
#include "loops/placements.h"

namespace melix::loops {

class PlanNotes {
public:
  /// Of one function, which stays as it is.
  PlanNotes(const core::Module& module, core::FunctionId f);
  using ValueText = std::function<std::string(core::ValueId)>;
  /// Of the ops of a region (core::RegionNotes).
  std::vector<std::string> of(core::RegionId region, const ValueText& text);

private:
  bool standsInNest(core::OpId op) const;
  void addPlan(core::OpId nest, const ValueText& text);
  void addPlacements(core::RegionId region, const ValueText& text);

  const core::Function& fn_;
  const core::FunctionId id_;
  const core::Uses uses_;
  Layouts layouts_;
  Placements placements_;
  std::vector<std::string> notes_;
};

} // namespace melix::loops
