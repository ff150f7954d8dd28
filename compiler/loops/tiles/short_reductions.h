#pragma once
// Chains of some points around columns in lanes, whose columns stay in the nearest cache: two points read
// them as fast as six do, and two points by four registers of columns are as many sums as a processor adds to
// at a time. What is left behind blocks of points is then best done by pairs. Of less than half of these
// columns, which are done a register at a time, it is not.

#include "loops/ir/build.h"
#include "loops/ir/clone.h"

#include <optional>

namespace melix::loops {

class BriefChains {
public:
  BriefChains(const Function& fn, const Stmt& points);

  /// Whether the chains are known to be brief.
  bool areSurely() const;
  /// Whether they are, where the builder stands; none if that is known, or cannot be, or pairs are too few
  /// sums.
  std::optional<ValueId> areBrief(Builder& b) const;

private:
  const Function& fn_;
  FixedNumbers fixed_;
  StmtId columns_;
  std::optional<ValueId> terms_; ///< of a chain
  int64_t mostTerms_ = 0, width_ = 0;
};

} // namespace melix::loops
