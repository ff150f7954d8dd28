// Reserved stacks with a guard: a fault in it is a stack overflow.
#include "output.h"
#include "system.h"
#include "task.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>

namespace melix::runtime {

namespace {

constexpr size_t kib = 1024;
constexpr size_t mib = 1024 * kib;
constexpr size_t signalBytes = 64 * kib;
constexpr size_t emergencyBytes = 128 * kib;
constexpr size_t guardBytes = 1 * mib;
constexpr size_t belowStack = signalBytes + emergencyBytes + guardBytes;

/// Tasks whose stacks the handler knows. Slots are taken and given back with atomic stores; the handler only
/// reads.
MelixTask* watched[maxWatched];
uint32_t handlersInstalled;
struct sigaction oldSegv, oldBus;

/// `MELIX_STACK`: bytes, with K, M or G behind; 0 if unset or no such number.
size_t stackFromEnvironment() {
  const char* text = environmentVariable("MELIX_STACK");
  if (!text) return 0;
  uint64_t value = 0;
  for (; *text >= '0' && *text <= '9' && value < (1ull << 40); text++)
    value = value * 10 + static_cast<uint64_t>(*text - '0');
  if (*text == 'k' || *text == 'K') value *= kib;
  if (*text == 'm' || *text == 'M') value *= mib;
  if (*text == 'g' || *text == 'G') value *= 1024 * mib;
  return value == 0 ? 0 : value < mib ? mib : static_cast<size_t>(value & ~static_cast<uint64_t>(4095));
}

/// Runs on the emergency stack, after the handler returned.
[[noreturn]] void afterOverflow(MelixTask* task, const void* const* frame) { stackOverflow(task, frame); }

/// The innermost frame to start a trace from when the frame pointer may be anything, because C library code
/// was running: the first place on the stack that looks like a frame of compiled code.
const void* const* frameAtFault(const MelixTask* task, const ucontext_t* context) {
  auto fp = reinterpret_cast<const uint8_t*>(context->uc_mcontext.gregs[REG_RBP]);
  auto sp = reinterpret_cast<const uint8_t*>(context->uc_mcontext.gregs[REG_RSP]);
  if (sp < task->stack.low) sp = task->stack.low;
  return findFrame(task, fp, sp);
}

/// Whether a signal is an instruction's, which is run once more when the handler returns.
bool isInstructions(const siginfo_t* info) { return info->si_code > 0; }

/// The process ends here, by what no handler answers.
void onCrash(int number, siginfo_t* info, void*) {
  writeLast();
  struct sigaction plain;
  memset(&plain, 0, sizeof plain);
  plain.sa_handler = SIG_DFL;
  sigaction(number, &plain, nullptr);
  if (!isInstructions(info)) kill(getpid(), number);
}

/// What is not ours is the host's.
void passOn(int number, siginfo_t* info, void* context) {
  const struct sigaction& old = number == SIGBUS ? oldBus : oldSegv;
  if ((old.sa_flags & SA_SIGINFO) && old.sa_sigaction) return old.sa_sigaction(number, info, context);
  onCrash(number, info, context);
}

void onFault(int number, siginfo_t* info, void* raw) {
  if (!isInstructions(info)) return passOn(number, info, raw);
  auto* at = static_cast<uint8_t*>(info->si_addr);
  for (MelixTask* const& slot : watched) {
    MelixTask* task = __atomic_load_n(&slot, __ATOMIC_ACQUIRE);
    if (!task || at < task->stack.guard || at >= task->stack.low) continue;
    auto* context = static_cast<ucontext_t*>(raw);
    const void* const* frame = frameAtFault(task, context);
    uint8_t* top = task->stack.map + signalBytes + emergencyBytes;
    auto& registers = context->uc_mcontext.gregs;
    registers[REG_RSP] = static_cast<greg_t>(reinterpret_cast<uintptr_t>(top - 8)); // as after a call
    registers[REG_RBP] = 0;
    registers[REG_RDI] = static_cast<greg_t>(reinterpret_cast<uintptr_t>(task));
    registers[REG_RSI] = static_cast<greg_t>(reinterpret_cast<uintptr_t>(frame));
    registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<uintptr_t>(&afterOverflow));
    return;
  }
  passOn(number, info, raw);
}

void installHandlers() {
  if (__atomic_exchange_n(&handlersInstalled, 1, __ATOMIC_ACQ_REL)) return;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &oldSegv);
  sigaction(SIGBUS, &action, &oldBus);
  action.sa_sigaction = onCrash;
  constexpr int crashes[] = {SIGILL, SIGFPE, SIGABRT};
  for (int number : crashes) {
    struct sigaction old;
    const bool isFree = sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_DFL;
    if (isFree) sigaction(number, &action, nullptr);
  }
}

} // namespace

size_t mainStackBytes() {
  if (size_t asked = stackFromEnvironment()) return asked;
  // A call over rows takes some 2 KiB: as many fit as of calls of one row in 1 GiB. Only pages that are used
  // are there, so recursion without end takes no more than a quarter of the memory, but where that is small.
  const size_t quarter =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 4;
  return std::clamp(quarter & ~(mib - 1), 1024 * mib, 2048 * mib);
}

size_t workerStackBytes() {
  size_t asked = stackFromEnvironment();
  return asked ? asked : 256 * mib;
}

bool makeStack(Stack& stack, size_t bytes) {
  const size_t sizes[] = {bytes, 256 * mib, 64 * mib, 8 * mib};
  for (size_t size : sizes) {
    if (size > bytes) continue;
    size_t total = size + belowStack;
    void* map = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (map == MAP_FAILED) continue;
    stack.map = static_cast<uint8_t*>(map);
    stack.mapBytes = total;
    stack.guard = stack.map + signalBytes + emergencyBytes;
    stack.low = stack.guard + guardBytes;
    stack.high = stack.map + total;
    madvise(map, total, MADV_NOHUGEPAGE); // else the first push clears 2 MiB
    mprotect(stack.guard, guardBytes, PROT_NONE);
    return true;
  }
  return false;
}

void freeStack(Stack& stack) {
  if (stack.map) munmap(stack.map, stack.mapBytes);
  stack = {};
}

void forgetPages(Stack& stack) {
  // On the stack itself: what lies well below this frame.
  auto* here = static_cast<uint8_t*>(__builtin_frame_address(0));
  uint8_t* end = stack.contains(here) ? here - 16 * kib : stack.high;
  end -= reinterpret_cast<uintptr_t>(end) % (4 * kib);
  if (end > stack.low) madvise(stack.low, static_cast<size_t>(end - stack.low), MADV_DONTNEED);
}

void useSignalStack(MelixTask* task) {
  task->around.thread = static_cast<int32_t>(syscall(SYS_gettid));
  stack_t signals;
  memset(&signals, 0, sizeof signals);
  signals.ss_sp = task->stack.map;
  signals.ss_size = signalBytes;
  sigaltstack(&signals, nullptr);
}

void watchStack(MelixTask* task) {
  useSignalStack(task);
  installHandlers();
  for (MelixTask*& slot : watched) {
    MelixTask* none = nullptr;
    if (__atomic_compare_exchange_n(&slot, &none, task, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  }
}

MelixTask* watchedTask(int k) {
  return k < maxWatched ? __atomic_load_n(&watched[k], __ATOMIC_ACQUIRE) : nullptr;
}

MelixTask* taskOf(const void* at) {
  for (MelixTask* const& slot : watched) {
    MelixTask* task = __atomic_load_n(&slot, __ATOMIC_ACQUIRE);
    if (task && task->stack.contains(at)) return task;
  }
  return nullptr;
}

void unwatchStack(MelixTask* task) {
  forgetInterruptible(task);
  bool found = false;
  for (MelixTask*& slot : watched) {
    MelixTask* self = task;
    found |= __atomic_compare_exchange_n(&slot, &self, nullptr, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  }
  stack_t now;
  if (found && sigaltstack(nullptr, &now) == 0 && now.ss_sp == task->stack.map) {
    memset(&now, 0, sizeof now);
    now.ss_flags = SS_DISABLE;
    sigaltstack(&now, nullptr);
  }
}

} // namespace melix::runtime
