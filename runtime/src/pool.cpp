// The pool: melix_parallel hands out chunks by counters, so the caller never waits for a thread that still
// sleeps. Each thread has a share of them, chunks in a row, which it takes first, then what is left of
// others: of launches one after the other it works on the same parts, which its cache has. Of a launch that
// is thought to be short the caller runs some turns alone until a microsecond is over, and all the others too
// if by these they take next to no time: what recursion takes, say, no estimate knows. Idle workers spin for
// about a millisecond, never on the core of the caller, and then sleep on a futex. Threads start with the
// first launch.
//
// Protocol. The caller fills in the job and then stores its number in `open`. A worker that sees a new number
// enters (adds 1 to `active`) and looks at `open` again; if it is not 0 the job is valid until the worker
// leaves. When no chunk is left the caller stores 0 in `open` and waits for `active` to become 0; only then
// the job is changed again.
#include "futex.h"
#include "output.h"
#include "system.h"
#include "task.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

namespace melix::runtime {

namespace {

constexpr int maxThreads = 256;
constexpr int64_t leastChunk = 4'000; // nanoseconds
constexpr int64_t mostChunks = 256;
constexpr int64_t triedWork = 1'000'000; // nanoseconds; below, the first turns show what the others take
constexpr int64_t trial = 1'000;         // how long these run
constexpr int64_t unpolledWork = 20'000'000;
constexpr double shortRest = 3'000; // not worth the hand-over
constexpr int spinsBeforeSleep = 20'000;

/// What one thread knows of the first chunk it saw fail.
struct Failure {
  int64_t chunk;
  int64_t result; ///< of the function
  int32_t status; ///< MELIX_OK if the function returned
};

struct Job {
  MelixTask* caller;
  MelixChunkFn fn;
  void* context;
  int64_t first; ///< turn
  int64_t extent;
  int64_t grain;
  int64_t chunks;
};

struct Worker {
  MelixTask task;
  pthread_t thread;
  Failure failure;
  int32_t share; ///< its own
};

/// Chunks that one thread takes first.
struct alignas(64) Share {
  int64_t next, end;
};

struct Pool {
  alignas(64) uint32_t open;   ///< number of the job that may be entered; 0: none
  alignas(64) uint32_t signal; ///< changes with every launch; sleepers wait on it
  alignas(64) uint32_t sleepers;
  alignas(64) uint32_t active;     ///< workers inside a job
  alignas(64) int64_t firstFailed; ///< lowest failed chunk so far: later ones need not run
  alignas(64) Job job;
  Share shares[maxThreads]; ///< of the caller, then of each worker
  uint32_t lastNumber;
  uint32_t stop;
  int32_t core;      ///< where the last launch was made
  cpu_set_t allowed; ///< cores for threads
  uint32_t inUse;    ///< a launch is running; a second task's launch is inline
  int32_t threads;   ///< with the caller; 0: not yet decided
  int32_t started;   ///< worker threads that run
  int32_t spins;
  Worker* workers[maxThreads];
};
Pool pool;

/// The number in MELIX_THREADS, at most `maxThreads`; 0 if it is not set, -1 if there is none in it.
int64_t askedThreads() {
  const char* text = environmentVariable("MELIX_THREADS");
  if (!text || !*text) return 0;
  int64_t asked = 0;
  for (; *text >= '0' && *text <= '9'; text++)
    if (asked < maxThreads) asked = asked * 10 + (*text - '0');
  return *text || asked == 0 ? -1 : asked;
}

int32_t decideThreads() {
  int cpus = sched_getaffinity(0, sizeof pool.allowed, &pool.allowed) == 0 ? CPU_COUNT(&pool.allowed) : 1;
  int64_t asked = askedThreads();
  int64_t threads = asked > 0 ? asked : cpus;
  pool.spins = threads <= cpus ? spinsBeforeSleep : 100;
  return static_cast<int32_t>(threads > maxThreads ? maxThreads : threads);
}

/// Two threads on one core wait for each other while they spin: a worker that finds itself on the core of the
/// last launch goes to another one, if there is any.
void leaveCoreOfLaunch() {
  const int core = __atomic_load_n(&pool.core, __ATOMIC_RELAXED);
  if (core < 0 || sched_getcpu() != core) return;
  cpu_set_t others = pool.allowed;
  CPU_CLR(static_cast<unsigned>(core), &others);
  if (CPU_COUNT(&others) > 0) sched_setaffinity(0, sizeof others, &others);
}

void noteFailure(Failure& failure, int64_t chunk, int64_t result, int32_t status) {
  failure = {chunk, result, status};
  int64_t lowest = __atomic_load_n(&pool.firstFailed, __ATOMIC_RELAXED);
  while (chunk < lowest && !__atomic_compare_exchange_n(&pool.firstFailed, &lowest, chunk, false,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

struct ChunkLoop {
  int32_t share; ///< its own
  Failure failure;
  int64_t current;
};

/// Takes chunks of a share until there is none, or one fails. They are handed out in order, so all that come
/// after a failed one have higher indices.
void runShare(MelixTask* task, ChunkLoop* loop, Share& share) {
  const Job& job = pool.job;
  for (;;) {
    int64_t chunk = __atomic_fetch_add(&share.next, 1, __ATOMIC_RELAXED);
    if (chunk >= share.end || chunk > __atomic_load_n(&pool.firstFailed, __ATOMIC_RELAXED)) return;
    if (__atomic_load_n(&task->head.cancel, __ATOMIC_RELAXED)) [[unlikely]]
      melix_cancelled(task);
    loop->current = chunk;
    int64_t begin = job.first + chunk * job.grain;
    int64_t end = job.extent - begin < job.grain ? job.extent : begin + job.grain;
    int64_t result = job.fn(task, job.context, begin, end);
    if (result >= 0) {
      noteFailure(loop->failure, chunk, result, MELIX_OK);
      return;
    }
  }
}

/// What is left of all shares, its own first.
void runChunks(MelixTask* task, void* context) {
  auto* loop = static_cast<ChunkLoop*>(context);
  const int32_t shares = pool.started + 1;
  for (int32_t k = 0; k < shares; k++) runShare(task, loop, pool.shares[(loop->share + k) % shares]);
}

/// Behind a chunk that was left it looks for those with lower indices, which may fail too.
Failure takePart(MelixTask* task, int32_t share) {
  ChunkLoop loop{share, {INT64_MAX, -1, MELIX_OK}, 0};
  for (;;) {
    task->inChunk = true;
    int32_t status = runWithLanding(task, runChunks, &loop, false);
    task->inChunk = false;
    if (task->isWorker && task->overflowed) {
      task->overflowed = false;
      forgetPages(task->stack);
    }
    if (status == MELIX_OK) return loop.failure;
    noteFailure(loop.failure, loop.current, -1, status);
    if (status == MELIX_CANCELLED) return loop.failure;
  }
}

void work(Worker* self) {
  uint32_t seen = 0;
  for (;;) {
    for (int spins = 0; __atomic_load_n(&pool.signal, __ATOMIC_ACQUIRE) == seen;) {
      if (spins++ < pool.spins) {
        __builtin_ia32_pause();
        if (spins % 256 == 0) leaveCoreOfLaunch();
        continue;
      }
      __atomic_fetch_add(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
      if (__atomic_load_n(&pool.signal, __ATOMIC_SEQ_CST) == seen) futexWait(&pool.signal, seen);
      __atomic_fetch_sub(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
    }
    seen = __atomic_load_n(&pool.signal, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&pool.stop, __ATOMIC_ACQUIRE)) return;
    leaveCoreOfLaunch();
    __atomic_fetch_add(&pool.active, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool.open, __ATOMIC_SEQ_CST) != 0) {
      self->task.head.cancel = __atomic_load_n(&pool.job.caller->head.cancel, __ATOMIC_RELAXED);
      Failure failure = takePart(&self->task, self->share);
      if (failure.chunk < self->failure.chunk) self->failure = failure;
      self->task.small.share();
    }
    __atomic_fetch_sub(&pool.active, 1, __ATOMIC_SEQ_CST);
  }
}

void* threadMain(void* raw) {
  auto* self = static_cast<Worker*>(raw);
  watchStack(&self->task);
  work(self);
  unwatchStack(&self->task);
  return nullptr;
}

bool startWorker(int index) {
  auto* worker = static_cast<Worker*>(malloc(sizeof(Worker)));
  if (!worker) return false;
  memset(static_cast<void*>(worker), 0, sizeof *worker);
  initTask(&worker->task);
  worker->task.isWorker = true;
  worker->task.head.threaded = 1;
  worker->failure = {INT64_MAX, -1, MELIX_OK};
  worker->share = index + 1;
  Stack& stack = worker->task.stack;
  bool started = false;
  if (makeStack(stack, workerStackBytes())) {
    worker->task.stackLimit = stack.low + 256 * 1024;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack.low, static_cast<size_t>(stack.high - stack.low));
    sigset_t interrupt, before; // Ctrl-C is for the main thread
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before);
    started = pthread_create(&worker->thread, &attributes, threadMain, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
  }
  if (!started) {
    freeStack(stack);
    free(worker);
    return false;
  }
  pool.workers[index] = worker;
  return true;
}

void startThreads() {
  int wanted = melix_thread_count() - 1;
  while (pool.started < wanted && startWorker(pool.started)) pool.started++;
  // What could not be started is not tried again at every launch.
  pool.threads = pool.started + 1;
}

void freeWorker(Worker* worker) {
  worker->task.small.share();
  freeKept(&worker->task);
  freeStack(worker->task.stack);
  worker->task.panic.release();
  free(worker);
}

/// How many turns are in a chunk: a multiple of `grain`.
int64_t turnsOfChunk(int64_t extent, int64_t grain, int64_t work) {
  const int64_t grains = extent / grain + (extent % grain != 0);
  int64_t chunks = work / leastChunk;
  if (chunks > mostChunks) chunks = mostChunks;
  if (chunks < 1) chunks = 1;
  return chunks < grains ? grain * (grains / chunks + (grains % chunks != 0)) : grain;
}

/// Works on [first, extent) on this thread, in pieces between which a long piece of work looks for
/// cancellation.
int64_t runHere(MelixTask* task, const Job& job, int64_t work) {
  const int64_t pieces = work / unpolledWork;
  if (pieces < 2) return job.fn(task, job.context, job.first, job.extent);
  const int64_t grains = (job.extent - job.first) / job.grain + 1, step = job.grain * (grains / pieces + 1);
  for (int64_t first = job.first; first < job.extent; first += step) {
    if (__atomic_load_n(&task->head.cancel, __ATOMIC_RELAXED)) [[unlikely]]
      melix_cancelled(task);
    const int64_t end = job.extent - first < step ? job.extent : first + step;
    const int64_t failed = job.fn(task, job.context, first, end);
    if (failed >= 0) return failed;
  }
  return -1;
}

/// The launch proper: returns the failure of the lowest chunk, `failed` being the task it failed on.
Failure runOnPool(MelixTask* task, const Job& job, MelixTask*& failed) {
  pool.job = job;
  pool.firstFailed = INT64_MAX;
  __atomic_store_n(&pool.core, sched_getcpu(), __ATOMIC_RELAXED);
  const int64_t shares = pool.started + 1;
  for (int64_t k = 0; k < shares; k++)
    pool.shares[k] = {k * job.chunks / shares, (k + 1) * job.chunks / shares};
  int32_t threaded = task->head.threaded;
  task->head.threaded = 1;
  task->small.share();
  uint32_t number = ++pool.lastNumber ? pool.lastNumber : ++pool.lastNumber;
  __atomic_store_n(&pool.open, number, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&pool.signal, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&pool.sleepers, __ATOMIC_SEQ_CST)) futexWake(&pool.signal, INT32_MAX);

  Failure failure = takePart(task, 0);

  __atomic_store_n(&pool.open, 0, __ATOMIC_SEQ_CST);
  for (int spins = 0; __atomic_load_n(&pool.active, __ATOMIC_SEQ_CST) != 0; spins++) {
    if (spins < 10'000)
      __builtin_ia32_pause();
    else
      sched_yield();
  }
  task->head.threaded = threaded;
  failed = task;
  int64_t before = task->stats.liveBytes, peaks = 0;
  for (int k = 0; k < pool.started; k++) {
    Worker* worker = pool.workers[k];
    if (worker->failure.chunk < failure.chunk) {
      failure = worker->failure;
      failed = &worker->task;
    }
    worker->failure = {INT64_MAX, -1, MELIX_OK};
    peaks += worker->task.stats.peakBytes;
    if (worker->task.stats.allocations || worker->task.stats.liveBlocks) adoptBlocks(task, &worker->task);
  }
  if (before + peaks > task->stats.peakBytes) task->stats.peakBytes = before + peaks;
  return failure;
}

} // namespace

/// Its threads are gone or were never here; MELIX_THREADS is read again.
static void forgetPool() { memset(static_cast<void*>(&pool), 0, sizeof pool); }

bool threadsAreANumber() { return askedThreads() >= 0; }

} // namespace melix::runtime

using namespace melix::runtime;

int32_t melix_thread_count(void) {
  int32_t threads = __atomic_load_n(&pool.threads, __ATOMIC_RELAXED);
  if (threads == 0) {
    threads = decideThreads();
    __atomic_store_n(&pool.threads, threads, __ATOMIC_RELAXED);
  }
  return threads;
}

int64_t melix_parallel(MelixTask* task, MelixChunkFn fn, void* context, int64_t extent, int64_t grain,
                       int64_t work) {
  if (extent <= 0) return -1;
  const int64_t turns = turnsOfChunk(extent, grain, work);
  const auto jobFrom = [&](int64_t from) { return Job{task, fn, context, from, extent, grain, 0}; };
  if (work < MELIX_INLINE_WORK || turns >= extent || task->isWorker || task->inChunk ||
      melix_thread_count() == 1)
    return runHere(task, jobFrom(0), work);
  int64_t first = 0;
  if (work < triedWork) { // an estimate may be far off, as of recursion
    const int64_t begun = nanosecondsNow();
    int64_t took = 0;
    for (int64_t some = grain; first < extent && took < trial; some *= 4) {
      const int64_t end = extent - first < some ? extent : first + some;
      const int64_t failed = fn(task, context, first, end);
      if (failed >= 0) return failed;
      first = end;
      took = nanosecondsNow() - begun;
    }
    if (first == extent) return -1;
    const double rest =
        static_cast<double>(took) / static_cast<double>(first) * static_cast<double>(extent - first);
    if (rest < shortRest) return fn(task, context, first, extent);
  }
  if (__atomic_exchange_n(&pool.inUse, 1, __ATOMIC_ACQUIRE)) return runHere(task, jobFrom(first), work);
  if (pool.started < pool.threads - 1) startThreads();
  MelixTask* failed;
  const int64_t left = extent - first;
  Failure failure =
      runOnPool(task, {task, fn, context, first, extent, turns, left / turns + (left % turns != 0)}, failed);
  int32_t status = failure.status;
  __atomic_store_n(&pool.inUse, 0, __ATOMIC_RELEASE);
  if (status == MELIX_OK) return failure.result;
  if (status == MELIX_PANIC) raiseAgain(task, failed);
  if (failed != task) task->around.exitStatus = failed->around.exitStatus;
  leaveToLanding(task, status);
}

void melix_pool_stop(void) {
  if (pool.started > 0) {
    __atomic_store_n(&pool.stop, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&pool.signal, 1, __ATOMIC_SEQ_CST);
    futexWake(&pool.signal, INT32_MAX);
    for (int k = 0; k < pool.started; k++) {
      pthread_join(pool.workers[k]->thread, nullptr);
      freeWorker(pool.workers[k]);
    }
  }
  forgetPool();
}

void melix_after_fork(void) {
  forgetPool();
  forgetWriter();
}
