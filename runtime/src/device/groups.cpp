// Groups of threads on the emulated device. Each thread has a stack of its own and runs until it comes to a
// barrier or its end; between two barriers each runs once, in an order that is drawn anew. So a kernel that
// lacks a barrier gives other results.
#include "emulator.h"

#include "../system.h"
#include "melix/abi.h"

#include <string.h>
#include <sys/mman.h>

// Pushes the registers that a call keeps, leaves the stack pointer at `from`, and goes on where another stack
// was left.
extern "C" void melix_switch_stacks(void** from, void* to);
__asm__(R"(
  .text
  .globl melix_switch_stacks
  .hidden melix_switch_stacks
  .type melix_switch_stacks, @function
melix_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size melix_switch_stacks, . - melix_switch_stacks
)");

namespace melix::runtime {
namespace {

constexpr uint64_t keptRegisters = 6;
constexpr uint64_t stackBytes = 256 << 10, guardBytes = 4096;
constexpr int64_t isRunning = -1, hasEnded = -2;
constexpr int unwritten = 0xFF; ///< in each byte: a float of them is a NaN

struct Thread {
  uint8_t* memory;   ///< its stack, after a page that nobody may touch
  void* stack;       ///< where it was left
  int64_t at;        ///< the number of the barrier where it waits
  int64_t check;     ///< that it fails
  uint64_t words[2]; ///< for others, by turns
  bool turn;
  uint64_t numbers[MELIX_CHECK_NUMBERS];
};

Thread threads[MELIX_BLOCK_THREADS];
int64_t current; ///< the thread that runs
void* outside;   ///< the stack of who runs the group

/// The group that runs.
struct Group {
  MelixEmulatedFn thread;
  int64_t count;
  const uint64_t* captures;
  int64_t point;
} group;

uint8_t* shared;
int64_t sharedBytes;

[[noreturn]] void end(const char* message) {
  writeText(2, reinterpret_cast<const uint8_t*>(message), static_cast<int64_t>(strlen(message)));
  __builtin_trap();
}

uint8_t* newMemory(int64_t bytes) {
  void* at = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) end("melix: no memory for the threads of the emulated device\n");
  return static_cast<uint8_t*>(at);
}

void leave() { melix_switch_stacks(&threads[current].stack, outside); }

void runThread() {
  Thread& thread = threads[current];
  thread.check = group.thread(thread.numbers, group.captures, group.point, group.point + 1);
  thread.at = hasEnded;
  leave();
  __builtin_unreachable();
}

/// At the top of its stack lie registers, then where it begins.
void prepare(Thread& thread) {
  if (!thread.memory) {
    thread.memory = newMemory(guardBytes + stackBytes);
    mprotect(thread.memory, guardBytes, PROT_NONE);
  }
  auto* top = reinterpret_cast<uint64_t*>(thread.memory + guardBytes + stackBytes);
  top[-1] = 0; // as after a call, from nowhere
  top[-2] = reinterpret_cast<uintptr_t>(&runThread);
  uint64_t* left = top - 2 - keptRegisters;
  memset(left, 0, keptRegisters * sizeof *left);
  thread.stack = left;
  thread.at = isRunning;
  thread.turn = false;
}

/// All threads up to their next barrier. False if they have ended.
bool runToBarrier() {
  Order order(static_cast<uint64_t>(group.count));
  for (uint64_t k; order.next(k);) {
    current = static_cast<int64_t>(k);
    melix_switch_stacks(&outside, threads[k].stack);
  }
  for (int64_t k = 1; k < group.count; k++)
    if (threads[k].at != threads[0].at) end("melix: threads of a group wait at different barriers\n");
  return threads[0].at != hasEnded;
}

} // namespace
} // namespace melix::runtime

using namespace melix::runtime;

int64_t melix_group_run(MelixEmulatedFn thread, int64_t count, int64_t bytes, uint64_t* numbers,
                        const uint64_t* captures, int64_t begin, int64_t last) {
  if (bytes > sharedBytes) {
    if (shared) munmap(shared, static_cast<size_t>(sharedBytes));
    shared = newMemory(bytes);
    sharedBytes = bytes;
  }
  for (int64_t point = begin; point < last; point++) {
    group = {thread, count, captures, point};
    for (int64_t k = 0; k < count; k++) prepare(threads[k]);
    if (bytes > 0) memset(shared, unwritten, static_cast<size_t>(bytes));
    while (runToBarrier()) {
    }
    if (threads[0].check < 0) continue;
    memcpy(numbers, threads[0].numbers, sizeof threads[0].numbers);
    return threads[0].check;
  }
  return -1;
}

int64_t melix_group_thread(void) { return current; }

void melix_group_barrier(int64_t number) {
  threads[current].at = number;
  leave();
}

uint64_t melix_group_shuffle(uint64_t word, int64_t distance, int64_t number) {
  const int64_t here = current;
  const bool turn = threads[here].turn;
  threads[here].turn = !turn;
  threads[here].words[turn] = word;
  melix_group_barrier(number);
  return threads[here ^ distance].words[turn];
}

void* melix_group_shared(void) { return shared; }
