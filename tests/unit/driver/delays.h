#pragma once
// Launches of this process held up at random. The test is linked so that what asks for melix_parallel gets
// what stands in delays.cpp (CMakeLists.txt); the runtime knows nothing of it.

#include <cstdint>

namespace melix::driver {

/// While it lives, launches are cut into chunks of any size, and each chunk waits now and then before it
/// begins; the seed says which.
class Delays {
public:
  explicit Delays(uint32_t seed);
  ~Delays();
  Delays(const Delays&) = delete;
};

/// How many chunks ran since the process began, while there were delays.
uint64_t delayedChunks();

} // namespace melix::driver
