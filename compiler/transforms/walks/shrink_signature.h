#pragma once
// Removes parameters and results from a function, and from its calls.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Of a function: whether each parameter and result stays.
struct KeptSlots {
  std::vector<bool> params, results;

  bool areAll() const;
};

/// A pair of `inout` stays if both do. The body uses no parameter that goes.
void shrinkSignature(core::Function& f, const KeptSlots& kept);
/// The call of such a function; nobody uses a result that goes.
void shrinkCall(core::Function& caller, core::OpId call, const KeptSlots& kept);

} // namespace melix::transforms
