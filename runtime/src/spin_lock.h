#pragma once
#include <stdint.h>

namespace melix::runtime {

class SpinLock {
public:
  explicit SpinLock(uint32_t* word) : word_(word) {
    while (word_ && __atomic_exchange_n(word_, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
  }
  ~SpinLock() {
    if (word_) __atomic_store_n(word_, 0, __ATOMIC_RELEASE);
  }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

private:
  uint32_t* word_; ///< null: no locking
};

} // namespace melix::runtime
