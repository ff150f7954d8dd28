#pragma once
// Counts the work of passes, so that tests can hold them to be linear without a clock.

#include <cstdint>

namespace melix::core {

struct Work {
  uint64_t ops = 0;  ///< visited by walks
  uint64_t uses = 0; ///< noted, forgotten, replaced
  uint64_t total() const { return ops + uses; }
};
/// Of this thread, since it began.
inline thread_local Work work;

} // namespace melix::core
