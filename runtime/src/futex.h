#pragma once
// Sleeping until another thread changes a word, and a lock made of that.

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace melix::runtime {

/// Sleeps while `*word` is `value`, for at most `nanoseconds` unless that is negative. May return early.
inline void futexWait(uint32_t* word, uint32_t value, int64_t nanoseconds = -1) {
  timespec limit = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds < 0 ? nullptr : &limit, nullptr, 0);
}

inline void futexWake(uint32_t* word, int32_t sleepers) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, sleepers, nullptr, nullptr, 0);
}

/// A lock that may be held for long: who waits for it sleeps. 0: free, 1: held, 2: held, and somebody sleeps.
class SleepingLock {
public:
  explicit SleepingLock(uint32_t* word) : word_(word) {
    if (tryLock(word)) return;
    while (__atomic_exchange_n(word_, 2, __ATOMIC_ACQUIRE)) futexWait(word_, 2);
  }
  ~SleepingLock() {
    if (__atomic_exchange_n(word_, 0, __ATOMIC_RELEASE) == 2) futexWake(word_, 1);
  }
  SleepingLock(const SleepingLock&) = delete;
  SleepingLock& operator=(const SleepingLock&) = delete;

  static bool tryLock(uint32_t* word) {
    uint32_t free = 0;
    return __atomic_compare_exchange_n(word, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  }

private:
  uint32_t* word_;
};

} // namespace melix::runtime
