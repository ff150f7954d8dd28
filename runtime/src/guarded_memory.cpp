#include "guarded_memory.h"

#include "melix/abi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace melix::runtime {

#ifdef MELIX_GUARD_PAGES

namespace {

constexpr uint64_t pageBytes = 4096, lineBytes = 64;
constexpr uint8_t filling = 0xa5;

uint64_t roundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

} // namespace

uint8_t* takeGuardedMemory(uint64_t bytes, size_t& got, size_t& shift) {
  uint64_t held = MELIX_HEADER_BYTES + roundUp(bytes, lineBytes), inner = roundUp(held, pageBytes);
  got = inner + 2 * pageBytes;
  // Reserved where it may be written, so that memory that is not there is refused here, as malloc does.
  void* raw = mmap(nullptr, got, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* begin = static_cast<uint8_t*>(raw);
  if (mprotect(begin + pageBytes, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(raw, got);
    return nullptr;
  }
  shift = pageBytes + inner - held;
  uint8_t* header = begin + shift;
  memset(header + MELIX_HEADER_BYTES + bytes, filling, roundUp(bytes, lineBytes) - bytes);
  return header;
}

void giveGuardedMemory(uint8_t* header, uint64_t bytes, size_t size, size_t shift) {
  const uint8_t* data = header + MELIX_HEADER_BYTES;
  for (uint64_t k = bytes; k < roundUp(bytes, lineBytes); k++) {
    if (data[k] == filling) continue;
    constexpr char message[] = "melix: a write behind the end of a block\n";
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    abort();
  }
  munmap(header - shift, size);
}

#elif !defined(MELIX_SANITIZE_PROGRAMS)

uint8_t* takeGuardedMemory(uint64_t, size_t&, size_t&) { return nullptr; }
void giveGuardedMemory(uint8_t*, uint64_t, size_t, size_t) {}

#endif

} // namespace melix::runtime
