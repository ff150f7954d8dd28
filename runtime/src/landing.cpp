// Tasks, and the landings that panics, cancellation and exit jump to.
#include "task.h"

#include <unistd.h>

// melix_enter saves what the calling convention wants kept, switches to `stack` unless that is null, and
// calls body(task, context). It returns 0 when the body returns, or the status that melix_leave was given
// with the stack pointer it saved: a setjmp and longjmp of our own, so that nothing of the C library or a
// sanitizer interferes.
extern "C" int32_t melix_enter(MelixTask* task, MelixBodyFn body, void* context, void* stack, void** saved);
extern "C" [[noreturn]] void melix_leave(void* saved, int32_t status);

asm(R"(
.pushsection .text.melix_enter, "ax", @progbits
.globl melix_enter
.hidden melix_enter
.type melix_enter, @function
melix_enter:
  push %rbp
  mov %rsp, %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  sub $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  mov %rsp, (%r8)
  mov %rsp, %rbx
  test %rcx, %rcx
  jz 1f
  mov %rcx, %rsp
1:
  and $-16, %rsp
  mov %rsi, %rax
  mov %rdx, %rsi
  call *%rax
  mov %rbx, %rsp
  xor %eax, %eax
2:
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  add $8, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size melix_enter, . - melix_enter
.globl melix_leave
.hidden melix_leave
.type melix_leave, @function
melix_leave:
  mov %rdi, %rsp
  mov %esi, %eax
  jmp 2b
.size melix_leave, . - melix_leave
.popsection
)");

// Present only in a program built with the address sanitizer: frames that were jumped over must lose their
// marks.
extern "C" __attribute__((weak)) void __asan_unpoison_memory_region(void const volatile* at, size_t bytes);

namespace melix::runtime {

void initTask(MelixTask* task) {
  memset(static_cast<void*>(task), 0, sizeof *task);
  makeEmptyList(task->rootList);
  task->list = &task->rootList;
}

void spliceList(MelixBlock& inner, MelixBlock& outer) {
  if (inner.next == &inner) return;
  inner.next->prev = &outer;
  inner.prev->next = outer.next;
  outer.next->prev = inner.prev;
  outer.next = inner.next;
}

static int32_t land(MelixTask* task, MelixBodyFn body, void* context, void* stack, bool freeBlocks) {
  Landing landing;
  MelixBlock* outerList = task->list;
  landing.outer = task->landing;
  makeEmptyList(landing.list);
  task->landing = &landing;
  task->list = &landing.list;
  bool inChunk = task->inChunk;
  int32_t status = melix_enter(task, body, context, stack, &landing.sp);
  task->inChunk = inChunk;
  task->landing = landing.outer;
  task->list = outerList;
  if (status == MELIX_OK || !freeBlocks)
    spliceList(landing.list, *outerList);
  else
    freeList(task, landing.list);
  return status;
}

int32_t runWithLanding(MelixTask* task, MelixBodyFn body, void* context, bool freeBlocks) {
  return land(task, body, context, nullptr, freeBlocks);
}

/// Takes the sanitizer's marks from the frames that are about to be jumped over.
static void unmarkFrames(const Stack& stack, uint8_t* landing) {
  constexpr ptrdiff_t ownFrames = 1024;
  uint8_t* from = static_cast<uint8_t*>(__builtin_frame_address(0)) - ownFrames;
  bool onEmergency = from >= stack.map && from < stack.guard;
  if (onEmergency) from = stack.low;
  uint8_t* to = stack.contains(from) && !stack.contains(landing) ? stack.high : landing;
  if (from < to) __asan_unpoison_memory_region(from, static_cast<size_t>(to - from));
}

void leaveToLanding(MelixTask* task, int32_t status) {
  Landing* landing = task->landing;
  if (!landing) {
    int64_t len;
    const char* text = melix_panic_text(task, &len);
    melix_flush();
    if (status == MELIX_PANIC && write(2, text, static_cast<size_t>(len)) < 0) {
    }
    _exit(status == MELIX_EXIT ? task->around.exitStatus : status);
  }
  if (__asan_unpoison_memory_region) unmarkFrames(task->stack, static_cast<uint8_t*>(landing->sp));
  melix_leave(landing->sp, status);
}

} // namespace melix::runtime

using namespace melix::runtime;

MelixTask* melix_task_create(void) {
  auto* task = static_cast<MelixTask*>(malloc(sizeof(MelixTask)));
  if (task) initTask(task);
  return task;
}

void melix_task_destroy(MelixTask* task) {
  if (!task) return;
  freeList(task, task->rootList);
  task->small.share();
  freeKept(task);
  unwatchStack(task);
  freeStack(task->stack);
  task->panic.release();
  free(task);
}

int32_t melix_catch(MelixTask* task, MelixBodyFn body, void* context) {
  if (task->stack.contains(__builtin_frame_address(0))) return land(task, body, context, nullptr, true);
  if (!task->stack.map) {
    if (makeStack(task->stack, mainStackBytes())) watchStack(task);
  } else {
    useSignalStack(task); // a host may call from one thread after the other
  }
  task->stackLimit = task->stack.map ? task->stack.low + 256 * 1024 : nullptr;
  int32_t status = land(task, body, context, task->stack.high, true);
  if (task->overflowed) {
    task->overflowed = false;
    forgetPages(task->stack);
  }
  return status;
}

int32_t melix_exit_status(MelixTask* task) { return task->around.exitStatus; }

namespace {
struct BuiltinCall {
  MelixBuiltinFn fn;
  const uint64_t* args;
  uint64_t* results;
};
} // namespace

int32_t melix_call_builtin(MelixTask* task, MelixBuiltinFn fn, const uint64_t* args, uint64_t* results) {
  BuiltinCall call{fn, args, results};
  return runWithLanding(
      task,
      [](MelixTask* t, void* context) {
        auto* c = static_cast<BuiltinCall*>(context);
        c->fn(t, c->args, c->results);
      },
      &call, true);
}
