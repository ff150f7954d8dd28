// Blocks under the address sanitizer, and what it says when compiled code leaves one: the place and the trace
// of the Melix functions, in front of its own report.
#include "guarded_memory.h"

#ifdef MELIX_SANITIZE_PROGRAMS

#include "trace.h"

#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <unistd.h>

namespace melix::runtime {

uint8_t* takeGuardedMemory(uint64_t bytes, size_t& got, size_t& shift) {
  got = MELIX_HEADER_BYTES + bytes;
  shift = 0;
  void* memory = nullptr;
  if (posix_memalign(&memory, MELIX_DATA_ALIGN, got) != 0 || !memory) return nullptr;
  auto* header = static_cast<uint8_t*>(memory);
  memset(header, 0, got);
  constexpr size_t count = 8; // what compiled code reads of a header lies within a poisonable unit
  static_assert(offsetof(MelixBlock, bytes) == count);
  __asan_poison_memory_region(header + count, MELIX_HEADER_BYTES - count);
  return header;
}

void giveGuardedMemory(uint8_t* header, uint64_t, size_t, size_t) { free(header); }

void guardRest(const uint8_t* data, uint64_t used, uint64_t bytes) {
  __asan_unpoison_memory_region(data, used);
  __asan_poison_memory_region(data + used, bytes - used);
}

} // namespace melix::runtime

using namespace melix::runtime;

#pragma GCC visibility push(default)

/// A program may ask for more memory than there is: that is a panic of its own. It has signal stacks of its
/// own, and counts its blocks by itself. The compiler, too, takes its memory here: noting who did would
/// double its time.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:use_sigaltstack=0:detect_leaks=0:malloc_context_size=0:quarantine_size_"
         "mb=8";
}

/// Called by the sanitizer in front of its report.
extern "C" void __asan_on_error() {
  auto* frame = static_cast<const void* const*>(__asan_get_report_bp());
  MelixTask* task = taskOf(frame);
  if (!task) return;
  ScopedBuffer text, frames;
  traceFrom(task, frame, text, frames);
  text.add("\nmelix: compiled code leaves a block there\n");
  text.add(frames.data, frames.len);
  (void)!write(STDERR_FILENO, text.data, static_cast<size_t>(text.len));
}

#pragma GCC visibility pop

#endif
