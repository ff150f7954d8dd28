#pragma once
// Strips in a loop of points, those that end where is known in front of it, and how many turns they have at
// most if partial sums of several points are to pay: what lies in longer rows is read faster one by one.

#include "loops/ir/build.h"
#include "loops/ir/clone.h"

#include <optional>

namespace melix::loops {

class ShortStrips {
public:
  ShortStrips(const Function& fn, const Stmt& points);

  /// Whether all are short, where the builder stands; none if there are none.
  std::optional<ValueId> areShort(Builder& b) const;

private:
  void note(RegionId region);
  void note(const Stmt& strip);

  const Function& fn_;
  FixedNumbers fixed_;
  std::vector<std::pair<ValueId, int64_t>> ends_;
};

} // namespace melix::loops
