#pragma once
// Packs a panel of a contraction.

#include "loops/analysis/contraction.h"
#include "loops/analysis/shared_operand.h"
#include "loops/ir/build.h"
#include "loops/tiles/packing_layout.h"

namespace melix::loops {

struct Panel {
  ValueId first, last;          ///< its columns
  ValueId points;               ///< how many there are, of each shared value
  ValueId isMade;               ///< whether it is packed, for a panel that is only packed if large
  std::vector<ValueId> strides; ///< strides of the sums that the shared values vary with
  std::vector<ValueId> bases;   ///< where it begins, for each shared value
};

/// The access to a shared value of this type in a panel.
Access accessInPanel(ValueType type);

/// Emits the loops that pack the shared values of a panel's columns. The first of `bases`, the only one that
/// is set before, is the start of the first value. `fixed` are copies of the statements before the loops.
void fillPanel(Builder& b, const Contraction& found, SharedSide& side, const PanelLayout& layout,
               Panel& panel, Copies& fixed);

} // namespace melix::loops
