#include "fuzz/run.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <pthread.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef MELIX_SANITIZE
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace melix::fuzz {

namespace {

#ifdef MELIX_SANITIZE
constexpr long stepSeconds = 100; // of processor time: sanitizers make it a tenth as fast
#else
constexpr long stepSeconds = 10;
#endif
constexpr rlim_t memoryLimit = rlim_t(6) << 30;
constexpr size_t stackSize = size_t(512) << 20; // what the compiler's own thread has

volatile sig_atomic_t working = 0;
uint64_t seed = 0;

/// The seed of the step at work, written with nothing but a system call.
void writeSeed() {
  char line[64] = "stopped at --seed ";
  size_t at = std::strlen(line), digits = 1;
  for (uint64_t rest = seed; rest >= 10; rest /= 10) ++digits;
  for (uint64_t k = digits, rest = seed; k > 0; --k, rest /= 10)
    line[at + k - 1] = static_cast<char>('0' + rest % 10);
  line[at + digits] = '\n';
  if (working && write(STDERR_FILENO, line, at + digits + 1) < 0) return;
}

void onSignal(int signal) {
  constexpr std::string_view hang = "a step took too long\n";
  if (signal == SIGPROF && write(STDERR_FILENO, hang.data(), hang.size()) < 0) _exit(1);
  writeSeed();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void catchSignals() {
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
#ifdef MELIX_SANITIZE
  __sanitizer_set_death_callback(writeSeed);
  for (int signal : {SIGPROF, SIGABRT}) sigaction(signal, &action, nullptr);
#else
  for (int signal : {SIGPROF, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, nullptr);
#ifndef MELIX_SANITIZE_PROGRAMS // what is noted of each address takes addresses
  rlimit limit{memoryLimit, memoryLimit};
  setrlimit(RLIMIT_AS, &limit);
#endif
#endif
}

/// Of processor time, so that what else the machine does makes no step a hang.
void startTimer() {
  itimerval time{};
  time.it_value.tv_sec = stepSeconds;
  setitimer(ITIMER_PROF, &time, nullptr);
}

struct Job {
  double seconds = 60;
  uint64_t steps = UINT64_MAX; ///< at most
  bool once = false;
  void (*step)(Random& random) = nullptr;

  void run() const {
    static char signalStack[1 << 16];
    stack_t stack{};
    stack.ss_sp = signalStack;
    stack.ss_size = sizeof signalStack;
    sigaltstack(&stack, nullptr);
    using Clock = std::chrono::steady_clock;
    auto start = Clock::now();
    uint64_t done = 0;
    do {
      startTimer();
      working = 1;
      Random random(seed);
      step(random);
      working = 0;
      ++seed, ++done;
    } while (!once && done < steps && std::chrono::duration<double>(Clock::now() - start).count() < seconds);
    std::printf("%llu steps\n", static_cast<unsigned long long>(done));
  }
};

} // namespace

uint64_t currentSeed() { return seed; }

void stepGoesOn() { startTimer(); }

int runFuzzer(int argc, char** argv, void (*step)(Random& random)) {
  Job job;
  job.step = step;
  seed = std::random_device{}();
  for (int k = 1; k + 1 < argc; k += 2) {
    if (std::strcmp(argv[k], "--seconds") == 0) job.seconds = std::atof(argv[k + 1]);
    if (std::strcmp(argv[k], "--seed") == 0) seed = std::strtoull(argv[k + 1], nullptr, 10), job.once = true;
    if (std::strcmp(argv[k], "--steps") == 0) job.steps = std::strtoull(argv[k + 1], nullptr, 10);
    if (std::strcmp(argv[k], "--from") == 0) seed = std::strtoull(argv[k + 1], nullptr, 10);
  }
  catchSignals();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackSize);
  pthread_t thread;
  auto work = [](void* data) -> void* {
    static_cast<const Job*>(data)->run();
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, work, &job) != 0) return 1;
  pthread_join(thread, nullptr);
  return 0;
}

} // namespace melix::fuzz

#ifdef MELIX_SANITIZE
/// Signals are handled on a stack of the fuzzer's own, which the sanitizer is not to free.
extern "C" const char* __asan_default_options() { return "use_sigaltstack=0"; }
#endif
