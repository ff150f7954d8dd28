#pragma once
// What statements take, as far as schedules ask.

#include "loops/ir/ir.h"

namespace melix::loops {

/// Of a scalar op, in plain ones.
constexpr double opsOf(const ScalarAttr& attr) {
  return attr.op == core::OpKind::Div || attr.op == core::OpKind::Sqrt ? 6 : 1;
}

/// In nanoseconds.
namespace time {
inline constexpr double op = 0.3;         ///< a plain scalar op on one register, others beside it
inline constexpr double chain = 1.1;      ///< of a sum of floats, from one term to the next
inline constexpr double access = 0.4;     ///< of memory, lying near
inline constexpr double gather = 0.8;     ///< of memory anywhere, for a lane
inline constexpr double scatter = 1.6;    ///< the same, stored
inline constexpr double division = 3;     ///< of integers
inline constexpr double count = 5;        ///< of owners
inline constexpr double host = 60;        ///< of the runtime: a block, a list, a text
inline constexpr double handover = 40;    ///< of a block, to another thread than made it
inline constexpr double sharedCount = 20; ///< of owners in several threads, more than a count takes in one
inline constexpr double recursion = 1000; ///< of calls of which nothing is known
inline constexpr double byte = 0.03;      ///< copied or set to zero
} // namespace time

/// Arrays of so many bytes are worth storing past the cache: MELIX_STREAMED_BYTES of the runtime.
inline constexpr uint64_t streamedBytes = 8 << 20;

/// Turns of a loop of which nothing is known.
inline constexpr uint64_t unknownTurns = 16;

} // namespace melix::loops
