#pragma once
// Destination-passing, decided over Core: which arrays are written directly to their destination. An array
// that a region only yields is written where the enclosing op wants it, also across calls.
//
//   fn @rows [N] (…) -> (f64[N]) { %y = nest (%i: N) -> collect[i] { … }   yield %y }
//   …  %m = nest (%k: M) -> collect[k] { %row = call @rows …   yield %row }
//
// The call makes `%row`, and is given the address of row k: @rows can write its result to memory of its
// caller. The ops that can write to a destination are a nest, a literal, a loop that stacks, a read that
// copies a part of an array, and such a call. This file decides on given memory only. On Loops, where owners
// are known, reuse_operand_memory.h decides whether a new block reuses a dying operand.

#include "core/ir/uses.h"

#include <unordered_map>
#include <vector>

namespace melix::loops {

class Placements {
public:
  explicit Placements(const core::Module& module) : module_(module) {}

  /// The value to write to the destination in place of `v`, which `region` yields. An op of the region makes
  /// it, and it has no other use until `v` gives its sizes other names. None if no op can write it to given
  /// memory. `uses` are the uses of `fn`.
  core::ValueId writtenFor(const core::Function& fn, const core::Uses& uses, core::ValueId v,
                           core::RegionId region);
  /// Whether a version of this function writes result `k` to memory that it is given.
  bool writesResult(core::FunctionId callee, uint32_t k);

private:
  bool canWrite(const core::Function& fn, const core::Op& op, uint32_t k);

  const core::Module& module_;
  std::unordered_map<core::FunctionId, std::vector<bool>> writesResults_;
};

} // namespace melix::loops
