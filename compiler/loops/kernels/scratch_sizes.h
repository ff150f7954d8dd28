#pragma once
// Memory of a thread that a kernel works in: how many bytes it needs is known where it is launched.

#include "loops/ir/ir.h"

#include <unordered_map>
#include <vector>

namespace melix::loops {

/// How many bytes a kernel needs: `each` for so many points, of which there are `most` at most if that is
/// given, unless there are `width` columns or more.
struct ScratchSize {
  /// What holds where it is used, of numbers of the kernel.
  struct Condition {
    ValueId holds;
    bool isNegated = false;
  };

  std::vector<ValueId> extents; ///< numbers of the kernel
  int64_t each = 0, most = 0;
  ValueId columns = {}; ///< the end of their loop, a number of the kernel; none if `most` holds anyway
  int64_t width = 0;
  bool isChecked = false; ///< the kernel checks whether there can be so many points, and if not needs none
  std::vector<Condition> conditions = {};              ///< it needs none unless these hold
  std::vector<std::pair<ValueId, ValueId>> loops = {}; ///< nor unless loops from the one to the other turn
};

/// Of each kernel that needs some: it has the greatest of these.
using ScratchSizes = std::unordered_map<FunctionId, std::vector<ScratchSize>>;

/// Computes in front of each launch of such a kernel how many bytes it needs, its last operand from then on.
/// Cost: linear in the statements of the module.
void tellScratchSizes(Module& module, const ScratchSizes& sizes);

} // namespace melix::loops
