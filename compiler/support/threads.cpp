#include "support/threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <thread>
#include <vector>

namespace melix {
namespace {

/// `work` has to live until the thread has ended.
std::optional<pthread_t> start(size_t megabytes, const FunctionRef<void()>& work) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return std::nullopt;
  pthread_attr_setstacksize(&attributes, megabytes << 20);
  pthread_t thread;
  auto run = [](void* data) -> void* {
    (*static_cast<const FunctionRef<void()>*>(data))();
    return nullptr;
  };
  bool started = pthread_create(&thread, &attributes, run, const_cast<FunctionRef<void()>*>(&work)) == 0;
  pthread_attr_destroy(&attributes);
  return started ? std::optional(thread) : std::nullopt;
}

} // namespace

bool runOnStack(std::initializer_list<size_t> megabytes, FunctionRef<void()> work) {
  for (size_t size : megabytes)
    if (std::optional<pthread_t> thread = start(size, work)) {
      pthread_join(*thread, nullptr);
      return true;
    }
  return false;
}

void forEachInParallel(size_t count, FunctionRef<void(size_t)> work) {
  std::atomic<size_t> next = 0;
  std::exception_ptr first;
  std::mutex guard;
  auto worker = [&] {
    for (size_t k = next++; k < count; k = next++) {
      try {
        work(k);
      } catch (...) {
        std::lock_guard held(guard);
        if (!first) first = std::current_exception();
      }
    }
  };
  const FunctionRef<void()> shared = worker;
  constexpr size_t stackMegabytes = 64;
  std::vector<pthread_t> others;
  size_t processors = std::max(1u, std::thread::hardware_concurrency());
  for (size_t k = 1; k < std::min(count, processors); ++k)
    if (std::optional<pthread_t> thread = start(stackMegabytes, shared)) others.push_back(*thread);
  worker();
  for (pthread_t thread : others) pthread_join(thread, nullptr);
  if (first) std::rethrow_exception(first);
}

} // namespace melix
