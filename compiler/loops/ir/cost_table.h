#pragma once
// The cost table: the time of statements, for the schedules.

#include "loops/ir/ir.h"

namespace melix::loops {

/// The cost of a scalar op, in cheap ones.
constexpr double opsOf(const ScalarAttr& attr) {
  return attr.op == core::OpKind::Div || attr.op == core::OpKind::Sqrt ? 6 : 1;
}

/// In nanoseconds.
namespace time {
inline constexpr double op = 0.3;         ///< a cheap scalar op on one register, in parallel with others
inline constexpr double chain = 1.1;      ///< latency of a sum of floats, from one term to the next
inline constexpr double access = 0.4;     ///< of memory in the cache
inline constexpr double gather = 0.8;     ///< of memory anywhere, for a lane
inline constexpr double scatter = 1.6;    ///< the same, stored
inline constexpr double division = 3;     ///< of integers
inline constexpr double count = 5;        ///< of owners
inline constexpr double host = 60;        ///< of the runtime: a block, a list, a text
inline constexpr double handover = 40;    ///< of a block, to another thread than the one that allocated it
inline constexpr double sharedCount = 20; ///< of owners in several threads, in addition to a count in one
inline constexpr double recursion = 1000; ///< of calls whose cost is unknown
inline constexpr double byte = 0.03;      ///< copied or set to zero
} // namespace time

/// Arrays of this size or more get non-temporal stores: MELIX_STREAMED_BYTES of the runtime.
inline constexpr uint64_t streamedBytes = 8 << 20;

/// The assumed trip count of a loop whose trip count is unknown.
inline constexpr uint64_t assumedTripCount = 16;

} // namespace melix::loops
