// What is printed to a pipe is seen soon although it is buffered: a thread writes what has waited. It starts
// with the first text that waits, and sleeps while there is none. It also ends the process on SIGTERM, SIGHUP
// and SIGXCPU, so that nothing is lost and no handler has to write: nothing that a reader takes within a
// second, for the thread may wait for one that never reads.
#include "futex.h"
#include "output.h"
#include "task.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

namespace melix::runtime {

namespace {

constexpr size_t stackBytes = 128 * 1024;

enum : uint32_t { NotStarted, Running, Refused };
uint32_t state;
uint32_t bell;  ///< changes when the thread is to look
int32_t ending; ///< as endAfterOutput was first told; 0: not yet

constexpr unsigned secondsForReader = 1;

[[noreturn]] void endNow(int number) {
  if (number < 0) _exit(-number);
  struct sigaction plain;
  memset(&plain, 0, sizeof plain);
  plain.sa_handler = SIG_DFL;
  sigaction(number, &plain, nullptr);
  sigset_t none;
  sigemptyset(&none);
  kill(getpid(), number);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  _exit(128 + number);
}

void onLate(int) { endNow(__atomic_load_n(&ending, __ATOMIC_ACQUIRE)); }

/// The output may take so long.
void limitEnd() {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = onLate;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGALRM, &action, nullptr);
  alarm(secondsForReader);
}

void* writeLate(void*) {
  for (;;) {
    const uint32_t seen = __atomic_load_n(&bell, __ATOMIC_ACQUIRE);
    if (int number = __atomic_load_n(&ending, __ATOMIC_ACQUIRE)) {
      writeLast();
      endNow(number);
    }
    futexWait(&bell, seen, writeWaiting());
  }
}

void ring() {
  __atomic_fetch_add(&bell, 1, __ATOMIC_RELEASE);
  futexWake(&bell, 1);
}

/// Ends by a signal that would end the process anyway; one that is ignored, or the host's, stays so.
void watchEnd(int number) {
  struct sigaction old, action;
  if (sigaction(number, nullptr, &old) != 0 || (old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_DFL)
    return;
  memset(&action, 0, sizeof action);
  action.sa_handler = endAfterOutput;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(number, &action, nullptr);
}

bool start() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all, before; // signals are for threads with a larger stack
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, writeLate, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

} // namespace

void wakeWriter() {
  if (state == Running) return ring();
  if (state == Refused) return;
  state = start() ? Running : Refused;
  if (state != Running) return;
  watchEnd(SIGTERM);
  watchEnd(SIGHUP);
  watchEnd(SIGXCPU);
}

void endAfterOutput(int number) {
  const int kept = errno;
  int32_t none = 0;
  const bool isFirst =
      __atomic_compare_exchange_n(&ending, &none, number, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  if (isFirst) {
    limitEnd();
    if (state != Running) {
      writeLast();
      endNow(number);
    }
    ring();
  }
  errno = kept;
}

void forgetThread() {
  state = NotStarted;
  ending = 0;
}

} // namespace melix::runtime
