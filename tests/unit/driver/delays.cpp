#include "driver/delays.h"

#include "melix/abi.h"

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

namespace melix::driver {
namespace {

std::atomic<uint32_t> seedNow{0}; ///< 0: no delays
std::atomic<uint64_t> chunksRun{0}, launchesMade{0};

struct Chunk {
  MelixChunkFn fn;
  void* context;
  uint64_t launch;
};

/// None, a few instructions, or as long as it takes another thread to wake up.
void wait(std::minstd_rand& random) {
  switch (random() % 8) {
  case 0: return std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
  case 1:
  case 2: return std::this_thread::yield();
  case 3:
  case 4:
    for (auto left = random() % 5000; left > 0; --left) asm volatile("");
    return;
  default: return;
  }
}

int64_t runDelayed(MelixTask* task, void* context, int64_t begin, int64_t end) {
  const auto* chunk = static_cast<const Chunk*>(context);
  std::minstd_rand random(seedNow.load() +
                          static_cast<uint32_t>(chunk->launch * 7919 + static_cast<uint64_t>(begin)));
  wait(random);
  chunksRun.fetch_add(1, std::memory_order_relaxed);
  return chunk->fn(task, chunk->context, begin, end);
}

} // namespace

Delays::Delays(uint32_t seed) { seedNow = seed; }
Delays::~Delays() { seedNow = 0; }
uint64_t delayedChunks() { return chunksRun; }

} // namespace melix::driver

extern "C" {

int64_t __real_melix_parallel(MelixTask* task, MelixChunkFn fn, void* context, int64_t extent, int64_t grain,
                              int64_t work);

int64_t __wrap_melix_parallel(MelixTask* task, MelixChunkFn fn, void* context, int64_t extent, int64_t grain,
                              int64_t work) {
  using namespace melix::driver;
  if (seedNow == 0) return __real_melix_parallel(task, fn, context, extent, grain, work);
  Chunk chunk{fn, context, launchesMade.fetch_add(1)};
  std::minstd_rand random(seedNow + static_cast<uint32_t>(chunk.launch));
  const auto any = static_cast<int64_t>(1 + random() % 40);
  return __real_melix_parallel(task, runDelayed, &chunk, extent, any, work);
}
}
