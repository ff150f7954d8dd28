// Ctrl-C sets a flag, which code looks at now and then; code that does not look may be made to leave.
#include "output.h"
#include "task.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

namespace melix::runtime {

namespace {

MelixTask* interruptible;
/// What becomes of a task that does not answer an interrupt.
enum class DeafKind : uint8_t { GoesOn, EndsProcess, LeavesCode };
DeafKind whenDeaf;

constexpr int patience = 50'000, again = 10'000; // microseconds

bool isCancelled(const MelixTask* task) { return __atomic_load_n(&task->head.cancel, __ATOMIC_RELAXED) != 0; }

void setTimer(int microseconds) {
  itimerval timer;
  memset(&timer, 0, sizeof timer);
  timer.it_value.tv_usec = microseconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void cancelWithWorkers(MelixTask* task) {
  __atomic_store_n(&task->head.cancel, 1, __ATOMIC_RELAXED);
  for (int k = 0; k < maxWatched; k++) {
    MelixTask* worker = watchedTask(k);
    if (worker && worker->isWorker) __atomic_store_n(&worker->head.cancel, 1, __ATOMIC_RELAXED);
  }
  if (whenDeaf == DeafKind::EndsProcess) alarm(1);
  if (whenDeaf == DeafKind::LeavesCode) setTimer(patience);
}

void onInterrupt(int) {
  MelixTask* task = __atomic_load_n(&interruptible, __ATOMIC_ACQUIRE);
  const bool isSecond = task && isCancelled(task) && whenDeaf != DeafKind::LeavesCode;
  if (!task || isSecond) return endAfterOutput(-MELIX_CANCELLED);
  cancelWithWorkers(task);
}

void endDeaf(int) { endAfterOutput(-MELIX_CANCELLED); }

/// Goes on as if the code where the thread is had seen the flag. Compiled code may be left anywhere: what is
/// half done is known to nobody else. Other code may hold locks.
bool leaveCode(ucontext_t* context) {
  auto& registers = context->uc_mcontext.gregs;
  auto* at = reinterpret_cast<void*>(registers[REG_RIP]);
  auto sp = static_cast<uintptr_t>(registers[REG_RSP]);
  MelixTask* task = taskOf(reinterpret_cast<void*>(sp));
  if (!task || !task->landing || !isCancelled(task) || !isCode(at)) return false;
  constexpr uintptr_t redZone = 128;
  sp = ((sp - redZone) & ~uintptr_t(15)) - 8; // as after a call
  registers[REG_RSP] = static_cast<greg_t>(sp);
  registers[REG_RDI] = static_cast<greg_t>(reinterpret_cast<uintptr_t>(task));
  registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<uintptr_t>(&melix_cancelled));
  return true;
}

/// Asks this thread, and the others that run a cancelled task, until the host has taken note.
void onDeaf(int, siginfo_t* info, void* raw) {
  const int before = errno;
  leaveCode(static_cast<ucontext_t*>(raw));
  const bool isTimer = info->si_code == SI_KERNEL;
  const auto self = static_cast<int32_t>(syscall(SYS_gettid));
  for (int k = 0; isTimer && k < maxWatched; k++) {
    MelixTask* task = watchedTask(k);
    const bool runs = task && isCancelled(task) && __atomic_load_n(&task->landing, __ATOMIC_RELAXED);
    if (runs && task->around.thread != self) syscall(SYS_tgkill, getpid(), task->around.thread, SIGALRM);
  }
  const MelixTask* waiting = __atomic_load_n(&interruptible, __ATOMIC_ACQUIRE);
  if (isTimer && waiting && isCancelled(waiting)) setTimer(again);
  errno = before;
}

void onAlarm(void (*simple)(int), void (*withPlace)(int, siginfo_t*, void*)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  if (simple) {
    action.sa_handler = simple;
  } else {
    action.sa_sigaction = withPlace;
    action.sa_flags |= SA_SIGINFO;
  }
  sigaction(SIGALRM, &action, nullptr);
}

} // namespace

void forgetInterruptible(MelixTask* task) {
  MelixTask* self = task;
  __atomic_compare_exchange_n(&interruptible, &self, nullptr, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

} // namespace melix::runtime

using namespace melix::runtime;

void melix_watch_interrupt(MelixTask* task) {
  __atomic_store_n(&interruptible, task, __ATOMIC_RELEASE);
  struct sigaction old, action;
  const bool isIgnored = sigaction(SIGINT, nullptr, &old) == 0 && old.sa_handler == SIG_IGN;
  memset(&action, 0, sizeof action);
  action.sa_handler = task ? onInterrupt : SIG_DFL;
  if (!isIgnored) sigaction(SIGINT, &action, nullptr); // else whoever started the program wants it so
  if (!task && whenDeaf != DeafKind::GoesOn) setTimer(0);
}

void melix_interrupt() {
  if (MelixTask* task = __atomic_load_n(&interruptible, __ATOMIC_ACQUIRE)) cancelWithWorkers(task);
}

void melix_end_when_deaf() {
  whenDeaf = DeafKind::EndsProcess;
  onAlarm(endDeaf, nullptr);
}

void melix_leave_when_deaf() {
  whenDeaf = DeafKind::LeavesCode;
  onAlarm(nullptr, onDeaf);
}

void melix_clear_cancel(MelixTask* task) { __atomic_store_n(&task->head.cancel, 0, __ATOMIC_RELAXED); }
