// Standard output, buffered by ourselves, and standard error.
#include "output.h"

#include "builtins.h"
#include "futex.h"
#include "status_line.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

namespace melix::runtime {

namespace {

constexpr int64_t bufferBytes = 16 * 1024;
uint8_t buffer[bufferBytes];
int64_t used;
int terminal = -1;        // of standard output: unknown, no, yes
int failure;              // the reason (errno) why the first write to standard output that failed did so
uint32_t lock;            // of all that stands here
int64_t since;            // when what is in the buffer began to wait, in nanoseconds; 0: there is nothing
bool writerSleeps = true; // the thread that writes what has waited is to be woken
StatusLine status;
MelixWriteFn hostWriter;
void* hostContext;

constexpr int64_t longestWait = 100'000'000; // nanoseconds

void writeOutput(const uint8_t* data, int64_t len) {
  if (terminal > 0) status.makeRoom(data, len);
  if (!writeAll(1, data, len) && failure == 0) failure = errno;
}

void flushBuffer() {
  if (used > 0) writeOutput(buffer, used);
  used = 0;
  since = 0;
}

void put(const uint8_t* data, int64_t len) {
  if (len > bufferBytes - used) flushBuffer();
  if (len > bufferBytes) return writeOutput(data, len);
  if (len > 0) memcpy(buffer + used, data, static_cast<size_t>(len));
  used += len;
}

/// After something was put. A terminal shows whole lines at once.
void settle(bool endsLine) {
  if (terminal < 0) terminal = isatty(1);
  if (terminal && endsLine) return flushBuffer();
  if (since != 0 || used == 0) return;
  since = nanosecondsNow();
  if (!writerSleeps) return;
  writerSleeps = false;
  wakeWriter();
}

/// A program whose output goes nowhere does not go on; melix_end_output says why.
void leaveIfFailed(MelixTask* task) {
  if (failure == 0) return;
  task->around.exitStatus = MELIX_FAILED;
  leaveToLanding(task, MELIX_EXIT);
}

} // namespace

bool writeAll(int fd, const uint8_t* data, int64_t len) {
  while (len > 0) {
    ssize_t n = write(fd, data, static_cast<size_t>(len));
    if (n < 0 && errno == EAGAIN) { // whoever started the program has made its output a file that never waits
      pollfd reader = {fd, POLLOUT, 0};
      poll(&reader, 1, -1);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    len -= n;
  }
  return true;
}

void writeText(int fd, const uint8_t* data, int64_t len) {
  if (len <= 0) return;
  SleepingLock guard(&lock);
  if (hostWriter) {
    hostWriter(hostContext, fd, data, len);
  } else if (fd == 1) {
    put(data, len);
    settle(memchr(data, '\n', static_cast<size_t>(len)));
  } else {
    flushBuffer();
    status.makeRoom(data, len);
    writeAll(fd, data, len);
  }
}

/// A line of standard output, unless the host takes it.
static bool putLine(MelixStr text) {
  SleepingLock guard(&lock);
  if (hostWriter) return false;
  put(text.data, text.len);
  put(reinterpret_cast<const uint8_t*>("\n"), 1);
  settle(true);
  return true;
}

int statusColumns() { return hostWriter ? 0 : terminalColumns(); }

void showStatus(const TextBuffer& text, bool stays) {
  SleepingLock guard(&lock);
  if (stays) flushBuffer();
  status.show(text.data, text.len, stays);
}

/// print: all pieces in one write to the buffer, so that lines stay whole.
static void printPieces(int fd, const uint64_t* args) {
  auto count = static_cast<int64_t>(args[0]);
  auto* pieces = reinterpret_cast<const MelixStr*>(args[1]);
  if (count == 1 && fd == 1 && putLine(pieces[0])) return;
  ScopedBuffer text;
  for (int64_t k = 0; k < count; k++) {
    if (k > 0) text.addByte(' ');
    text.add(pieces[k]);
  }
  text.addByte('\n');
  writeText(fd, text.data, text.len);
}

int64_t writeWaiting() {
  SleepingLock guard(&lock);
  const int64_t left = since ? since + longestWait - nanosecondsNow() : 0;
  if (left > 0) return left;
  flushBuffer();
  writerSleeps = true;
  return -1;
}

void writeLast() {
  constexpr int milliseconds = 200;
  for (int waited = 0; !SleepingLock::tryLock(&lock); waited++) { // and keeps it
    if (waited == milliseconds) return;
    poll(nullptr, 0, 1);
  }
  constexpr int64_t fits = 4096; // what a pipe that can be written to takes without waiting
  for (int64_t at = 0; at < used;) {
    pollfd reader = {1, POLLOUT, 0};
    if (poll(&reader, 1, milliseconds) <= 0) return;
    ssize_t n = write(1, buffer + at, static_cast<size_t>(used - at < fits ? used - at : fits));
    if (n <= 0 && errno != EINTR && errno != EAGAIN) return;
    if (n > 0) at += n;
  }
}

void forgetWriter() {
  lock = 0;
  writerSleeps = true;
  forgetThread();
}

} // namespace melix::runtime

using namespace melix::runtime;

void melix_flush(void) {
  SleepingLock guard(&lock);
  flushBuffer();
  status.clear();
}

int32_t melix_end_output(int32_t exitStatus) {
  {
    SleepingLock guard(&lock);
    flushBuffer();
    status.keep();
  }
  if (failure == 0) return exitStatus;
  if (failure != EPIPE) {
    ScopedBuffer text;
    text.add("error: cannot write to standard output: ");
    text.add(strerror(failure));
    text.addByte('\n');
    writeAll(2, text.data, text.len);
  }
  return exitStatus == MELIX_OK ? MELIX_FAILED : exitStatus;
}

void melix_hold_standard_files(void) {
  struct stat info;
  for (int fd = 0; fd <= 2; fd++)
    if (fstat(fd, &info) < 0 && errno == EBADF) open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

void melix_set_writer(MelixWriteFn writer, void* context) {
  SleepingLock guard(&lock);
  flushBuffer();
  hostWriter = writer;
  hostContext = context;
}

void melix_io_print(MelixTask* task, const uint64_t* args, uint64_t*) {
  printPieces(1, args);
  leaveIfFailed(task);
}

void melix_io_eprint(MelixTask* task, const uint64_t* args, uint64_t*) {
  printPieces(2, args);
  leaveIfFailed(task);
}

void melix_io_write(MelixTask* task, const uint64_t* args, uint64_t*) {
  writeText(1, reinterpret_cast<const uint8_t*>(args[0]), static_cast<int64_t>(args[1]));
  leaveIfFailed(task);
}
