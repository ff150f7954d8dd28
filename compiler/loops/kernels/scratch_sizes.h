#pragma once
// Computes at a launch how many bytes of thread-local scratch the kernel needs.

#include "loops/ir/ir.h"

#include <unordered_map>
#include <vector>

namespace melix::loops {

/// The bytes that a kernel needs: `each` times the product of `extents`, of which there are at most `most`,
/// if given. The limit holds only for fewer than `width` columns.
struct ScratchSize {
  /// A condition at the place of use, in numbers of the kernel.
  struct Condition {
    ValueId holds;
    bool isNegated = false;
  };

  std::vector<ValueId> extents; ///< numbers of the kernel
  int64_t each = 0, most = 0;
  ValueId columns = {}; ///< the end of their loop, a number of the kernel; none if `most` holds anyway
  int64_t width = 0;
  bool isChecked = false; ///< the kernel checks whether that many points can exist; if not, it needs none
  std::vector<Condition> conditions = {};              ///< it needs none unless these hold
  std::vector<std::pair<ValueId, ValueId>> loops = {}; ///< nor unless these loops have iterations
};

/// By kernel that needs scratch: it gets the maximum of these.
using ScratchSizes = std::unordered_map<FunctionId, std::vector<ScratchSize>>;

/// Emits the size computation before each launch of such a kernel, and adds the bytes as its last operand.
/// Cost: linear in the statements of the module.
void recordScratchSizes(Module& module, const ScratchSizes& sizes);

} // namespace melix::loops
