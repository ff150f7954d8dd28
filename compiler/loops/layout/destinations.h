#pragma once
// Which arrays are written where they go, decided over Core: an array that a region only yields, to where
// what is around it wants it, also across calls.
//
//   fn @rows [N] (…) -> (f64[N]) { %y = nest (%i: N) -> collect[i] { … }   yield %y }
//   …  %m = nest (%k: M) -> collect[k] { %row = call @rows …   yield %row }
//
// `%row` is made by the call, which is given the address of row k: @rows can write its result to memory of
// its caller. What writes so is a nest, a literal, a loop that stacks, a read that copies a part of an array,
// or such a call. This decides on memory that is given; whether a new block lies in that of an operand which
// ends is decided on Loops, where owners are known (reuse_operand_memory.h).

#include "core/ir/uses.h"

#include <unordered_map>
#include <vector>

namespace melix::loops {

class Placements {
public:
  explicit Placements(const core::Module& module) : module_(module) {}

  /// What is to be written there for `v`, which `region` yields, to be there: what an op of the region makes
  /// and nothing else uses, before `v` gives its sizes other names. None if nothing can write it to memory
  /// that is given. `uses` are those of `fn`.
  core::ValueId writtenFor(const core::Function& fn, const core::Uses& uses, core::ValueId v,
                           core::RegionId region);
  /// Whether there is a function that writes result `k` of this one to memory that it is given.
  bool writesResult(core::FunctionId callee, uint32_t k);

private:
  bool canWrite(const core::Function& fn, const core::Op& op, uint32_t k);

  const core::Module& module_;
  std::unordered_map<core::FunctionId, std::vector<bool>> writesResults_;
};

} // namespace melix::loops
