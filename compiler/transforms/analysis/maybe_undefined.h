#pragma once
// Which values may be `undef`, or made of it: nothing reads these where they are, and nothing may be made to.
// Scalars are none of them: an undefined one is some number, and one that is read of an array was there.

#include "transforms/analysis/dataflow.h"

#include <unordered_set>

namespace melix::transforms {

class Undefined {
public:
  explicit Undefined(const core::Module& m);
  Undefined(const Undefined&) = delete;
  ~Undefined();

  /// Whether the value of a function of the module may be.
  bool mayBe(core::FunctionId f, core::ValueId v) const;

private:
  class Walk;
  bool passOn(core::FunctionId f);

  const core::Module& m_;
  std::unordered_map<core::FunctionId, std::unique_ptr<Walk>> walks_; ///< none if there is no `undef`
};

} // namespace melix::transforms
