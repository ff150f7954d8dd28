#pragma once
// What fills a panel of a contraction.

#include "loops/analysis/contraction.h"
#include "loops/analysis/shared_operand.h"
#include "loops/ir/build.h"
#include "loops/tiles/packing_layout.h"

namespace melix::loops {

struct Panel {
  ValueId first, last;          ///< its columns
  ValueId points;               ///< how many there are, of each shared value
  ValueId isMade;               ///< of one that is made if it is large
  std::vector<ValueId> strides; ///< of the sums that the shared values differ with
  std::vector<ValueId> bases;   ///< where it begins, for each shared value
};

/// How a shared value of this type lies in a panel.
Access accessInPanel(ValueType type);

/// Writes the loops that put the shared values of a panel's columns where it begins for the first of them,
/// which is the only one of its `bases` that is told; `fixed` are copies of what stands in front.
void fillPanel(Builder& b, const Contraction& found, SharedSide& side, const PanelLayout& layout,
               Panel& panel, Copies& fixed);

} // namespace melix::loops
