#pragma once
// Calls whose arguments and results are leaves. On the border between the processor and a device, a call asks
// whether the device is ready. If it is not, the call is of the version of the same function for the
// processor.

#include "loops/emit/lower.h"

namespace melix::loops {

struct LeafCall {
  core::FunctionId callee;
  std::vector<ValueId> operands;
  std::vector<ValueType> results;
  std::vector<uint32_t> written =
      {}; ///< results of the callee that it writes to memory, at its last operands
};

/// Emits a call of the callee on `device`.
StmtId emitCall(LowerContext& context, Builder& b, const LeafCall& call, Device device);

/// Emits a call of the version for `device`, wherever that is.
StmtId callOn(LowerContext& context, Builder& b, const LeafCall& call, Device device);

/// Adds a function for the processor, without a place in traces, that runs all of `f` on `device`. Requires:
/// `f` is lowered.
FunctionId startOn(LowerContext& context, core::FunctionId f, Device device);

} // namespace melix::loops
