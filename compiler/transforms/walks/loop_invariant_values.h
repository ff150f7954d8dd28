#pragma once
// Finds and copies values of the body of a loop, for passes that hoist its computation to another place.

#include "core/ir/uses.h"
#include "core/order/clone.h"

#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

/// Whether an op gives one value, without an effect, and costs no sweep: it is copied where that is needed.
bool isCopied(const core::Op& op);

class LoopValues {
public:
  LoopValues(core::Module& m, core::FunctionId f, const core::Uses& uses, core::OpId loop);

  /// Whether a value is defined in the loop, or by ops that are not entered: the ops of a function that is
  /// called there.
  bool isInside(core::ValueId v) const;
  /// Sizes that the loop does not define.
  bool isKnownOutside(core::DimId d);
  /// Whether a value is loop-invariant, and can be made before the loop. Elements that an iteration reads may
  /// not exist where there is no iteration.
  bool isTheSame(core::ValueId v);
  /// The copy of such a value, where `b` appends.
  core::ValueId copyBefore(core::ValueId v, core::Builder& b);
  /// Forgets the copies made so far, as they no longer exist.
  void forgetCopies() { front_.values.clear(); }

private:
  const core::Function& fn() const { return m_.functions[f_]; }

  core::Module& m_;
  core::FunctionId f_;
  const core::Uses& uses_;
  core::RegionId body_;
  bool hasSizes_ = false;
  std::unordered_set<core::DimSym> sizes_; ///< defined in the loop
  std::unordered_map<core::ValueId, bool> same_;
  core::Cloner front_;
};

} // namespace melix::transforms
