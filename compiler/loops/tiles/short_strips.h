#pragma once
// Finds the strips in a loop whose ends are known before it, and tests whether they are short. A limit on
// their trip count decides whether partial sums of several points pay: longer rows are read faster one by
// one.

#include "loops/ir/build.h"
#include "loops/ir/clone.h"

#include <optional>

namespace melix::loops {

class ShortStrips {
public:
  ShortStrips(const Function& fn, const Stmt& points);

  /// Emits a test whether all are short, at the builder's position; none if there are no strips.
  std::optional<ValueId> areShort(Builder& b) const;

private:
  void note(RegionId region);
  void note(const Stmt& strip);

  const Function& fn_;
  FixedNumbers fixed_;
  std::vector<std::pair<ValueId, int64_t>> ends_;
};

} // namespace melix::loops
