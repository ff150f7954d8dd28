#pragma once
#include "support/function_ref.h"

#include <optional>
#include <string>

namespace melix::driver {

/// The result of work in a child.
struct ChildEnd {
  bool returned = false; ///< the work came to its end
  std::string told;      ///< the text of the work at its end
  std::string output;    ///< its output, and after it how it ended if it did not return
};

/// Gives the exit status, and sets `told` once the work has come to its end. A panic leaves it without
/// unwinding.
using ChildWork = FunctionRef<int(std::optional<std::string>& told)>;

/// Does `work` in a forked child, which is stopped after `seconds`: 0 is without limit.
ChildEnd runInChild(ChildWork work, double seconds);

} // namespace melix::driver
