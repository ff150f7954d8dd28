#pragma once
// Follows accumulators: each op that adds continues one.

#include "core/ir/ir.h"

namespace melix::transforms {

inline bool isAccumulator(const core::Module& m, const core::Function& f, core::ValueId v) {
  return m.types.kind(f.typeOf(v)) == core::TypeKind::Acc;
}
/// The accumulator that the op which defines `v` continues as `v`. Of a branch, that of its first arm.
core::ValueId continuedAs(const core::Module& m, const core::Function& f, core::ValueId v);
/// The accumulator that a value continues, by any number of ops: the one among its sources that is a
/// parameter of `region`. Invalid if there is none.
core::ValueId accumulatorOf(const core::Module& m, const core::Function& f, core::RegionId region,
                            core::ValueId v);

} // namespace melix::transforms
