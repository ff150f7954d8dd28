#pragma once
// Memory of a program that kernels of a device reach by the same addresses: while it is held, all that the
// runtime asks the system for, stacks too, is taken from one piece that the device shares.

#include <cstddef>
#include <cstdint>

namespace melix::device {

/// From here on until the process ends. The program that links this wraps malloc, calloc, realloc, free, mmap
/// and munmap.
void holdMemory(uint8_t* memory, size_t bytes);

/// Whether it lies in that memory.
bool isHeld(const void* at);

/// So many bytes of it, which are not given back; null if there are no more.
void* takeHeld(size_t bytes);

/// While it lives, who asks for memory gets that of the system.
class OwnMemory {
public:
  OwnMemory();
  ~OwnMemory();

private:
  bool before_;
};

/// What a kernel may have changed before one of its checks failed: the memory in use but for the frames below
/// `frame`.
class Saved {
public:
  explicit Saved(const uint8_t* frame);
  ~Saved();
  Saved(const Saved&) = delete;
  Saved& operator=(const Saved&) = delete;
  void restore() const;

private:
  const uint8_t* frame_;
  uint8_t* kept_ = nullptr;
  size_t bytes_ = 0;
};

} // namespace melix::device
