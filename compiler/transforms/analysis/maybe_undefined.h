#pragma once
// Finds values that may be `undef`, or made of it. No op reads such a value where it is, and no pass may add
// a read. Scalars are exempt: an undefined scalar is some number, and a scalar that is read from an array
// exists.

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
