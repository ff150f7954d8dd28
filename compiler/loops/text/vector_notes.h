#pragma once
// Annotates the statements of a vectorised loop in the text: how they access memory, and how divergent lanes
// run.
//
//   for independent vector 16 %0, %n { (%i)
//     %a = load %x[%i*%one] : f32       // side by side
//     %b = load %w[%k*%one] : f32       // uniform
//     %c = load %t[%j*%one] : f32       // gathered
//     %d = load %p[%i*%three] : f32     // in rows
//     if %e {                           // under a mask

#include "loops/analysis/stride_analysis.h"

#include <optional>
#include <string_view>
#include <unordered_set>

namespace melix::loops {

class VectorNotes {
public:
  VectorNotes(const Module& module, const Function& fn) : module_(module), fn_(fn) {}

  void enter(const Stmt& loop); ///< in lanes; such loops do not stand in each other
  void leave();
  /// The note of the next statement; empty outside of lanes, and where nothing is worth saying.
  std::string_view of(StmtId id);

private:
  void findRows(RegionId r);
  std::string_view ofAccess(StmtId id, bool isLoad);
  std::string_view ofCall(const Stmt& s) const;

  const Module& module_;
  const Function& fn_;
  std::optional<Variance> variance_;
  std::optional<LaneStrides> strides_;
  std::unordered_set<StmtId> inRows_; ///< accesses in groups
};

} // namespace melix::loops
