#include "device/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <utility>

extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void __real_free(void* memory);
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void* at, size_t bytes);
}

namespace melix::device {
namespace {

constexpr size_t line = 64, page = 4096;
constexpr size_t mostStack = size_t(80) << 20; ///< larger ones are refused: a smaller one is asked for then

size_t roundedUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Pieces of memory by address, neighbours joined. Its own books lie elsewhere.
class Held {
public:
  void begin(uint8_t* memory, size_t bytes) {
    low_ = highest_ = memory;
    high_ = memory + bytes;
    free_[low_] = bytes;
  }
  bool contains(const void* at) const { return at >= low_ && at < high_; }

  uint8_t* take(size_t bytes, size_t unit) {
    std::lock_guard lock(guard_);
    for (auto [at, size] : free_) {
      uint8_t* begin =
          at + (roundedUp(reinterpret_cast<uintptr_t>(at), unit) - reinterpret_cast<uintptr_t>(at));
      if (begin + bytes > at + size) continue;
      free_.erase(at);
      if (begin > at) free_[at] = static_cast<size_t>(begin - at);
      if (begin + bytes < at + size) free_[begin + bytes] = static_cast<size_t>(at + size - (begin + bytes));
      highest_ = std::max(highest_, begin + bytes);
      return begin;
    }
    return nullptr;
  }

  void give(uint8_t* at, size_t bytes) {
    std::lock_guard lock(guard_);
    auto next = free_.lower_bound(at);
    if (next != free_.end() && at + bytes == next->first) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == at) {
        before->second += bytes;
        return;
      }
    }
    free_[at] = bytes;
  }

  uint8_t *low_ = nullptr, *high_ = nullptr,
          *highest_ = nullptr; ///< `highest_`: nothing beyond was in use yet
  uint8_t *stackLow = nullptr, *stackHigh = nullptr;

private:
  /// What the books are made of comes from the system.
  template <class T>
  struct FromSystem {
    using value_type = T;
    FromSystem() = default;
    template <class U>
    FromSystem(const FromSystem<U>&) {}
    T* allocate(size_t count) { return static_cast<T*>(__real_malloc(count * sizeof(T))); }
    void deallocate(T* at, size_t) { __real_free(at); }
    bool operator==(const FromSystem&) const { return true; }
  };
  std::map<uint8_t*, size_t, std::less<>, FromSystem<std::pair<uint8_t* const, size_t>>> free_;
  std::mutex guard_;
};

bool isOn = false;

Held& held() {
  static Held made;
  return made;
}

/// In the line in front of what malloc gives stands its size.
size_t& sizeOf(void* memory) { return *reinterpret_cast<size_t*>(static_cast<uint8_t*>(memory) - line); }

void* takeBytes(size_t bytes) {
  uint8_t* at = held().take(roundedUp(bytes, line) + line, line);
  if (!at) return nullptr;
  sizeOf(at + line) = bytes;
  return at + line;
}

/// A piece that is not the stack below a frame.
template <class Visit>
void forEachPiece(const uint8_t* frame, const Visit& visit) {
  const Held& all = held();
  const uint8_t* begins[] = {all.low_, std::max(frame, static_cast<const uint8_t*>(all.stackLow)),
                             all.stackHigh};
  const uint8_t* ends[] = {all.stackLow, all.stackHigh, all.highest_};
  for (size_t k = 0; k < 3; ++k)
    if (begins[k] < ends[k]) visit(const_cast<uint8_t*>(begins[k]), static_cast<size_t>(ends[k] - begins[k]));
}

} // namespace

void holdMemory(uint8_t* memory, size_t bytes) {
  held().begin(memory, bytes);
  isOn = true;
}

bool isHeld(const void* at) { return held().contains(at); }
void* takeHeld(size_t bytes) { return held().take(roundedUp(bytes, page), page); }

OwnMemory::OwnMemory() : before_(std::exchange(isOn, false)) {}
OwnMemory::~OwnMemory() { isOn = before_; }

Saved::Saved(const uint8_t* frame) : frame_(frame) {
  forEachPiece(frame_, [&](uint8_t*, size_t bytes) { bytes_ += bytes; });
  kept_ = static_cast<uint8_t*>(
      __real_mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  uint8_t* to = kept_;
  forEachPiece(frame_, [&](uint8_t* at, size_t bytes) {
    std::memcpy(to, at, bytes);
    to += bytes;
  });
}

Saved::~Saved() { __real_munmap(kept_, bytes_); }

void Saved::restore() const {
  const uint8_t* from = kept_;
  forEachPiece(frame_, [&](uint8_t* at, size_t bytes) {
    std::memcpy(at, from, bytes);
    from += bytes;
  });
}

} // namespace melix::device

using namespace melix::device;

extern "C" {

void* __wrap_malloc(size_t bytes) { return isOn ? takeBytes(bytes) : __real_malloc(bytes); }

void* __wrap_calloc(size_t count, size_t bytes) {
  if (!isOn) return __real_calloc(count, bytes);
  size_t all = 0;
  void* at = __builtin_mul_overflow(count, bytes, &all) ? nullptr : takeBytes(all);
  return at ? std::memset(at, 0, all) : nullptr;
}

void __wrap_free(void* memory) {
  if (!isHeld(memory)) return __real_free(memory);
  held().give(static_cast<uint8_t*>(memory) - line, roundedUp(sizeOf(memory), line) + line);
}

void* __wrap_realloc(void* memory, size_t bytes) {
  if (memory && !isHeld(memory)) return __real_realloc(memory, bytes);
  if (!memory && !isOn) return __real_realloc(memory, bytes);
  void* at = takeBytes(bytes);
  if (!at || !memory) return at;
  std::memcpy(at, memory, std::min(bytes, sizeOf(memory)));
  __wrap_free(memory);
  return at;
}

void* __wrap_mmap(void* hint, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (!isOn || !(flags & MAP_ANONYMOUS)) return __real_mmap(hint, bytes, protection, flags, file, offset);
  const bool isStack = flags & MAP_STACK;
  uint8_t* at = isStack && bytes > mostStack ? nullptr : held().take(roundedUp(bytes, page), page);
  if (!at) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  if (isStack) {
    held().stackLow = at;
    held().stackHigh = at + bytes;
  } else {
    std::memset(at, 0, bytes);
  }
  return at;
}

int __wrap_munmap(void* at, size_t bytes) {
  if (!isHeld(at)) return __real_munmap(at, bytes);
  held().give(static_cast<uint8_t*>(at), roundedUp(bytes, page));
  return 0;
}
}
