// Memory that is reserved but costs nothing until it is touched.
#include "interp/code.h"

#include <sys/mman.h>

#include <cstdlib>

namespace melix::interp {

void* reserveStack(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) std::abort();
  return p;
}

void freeStack(void* p, size_t bytes) { munmap(p, bytes); }

} // namespace melix::interp
