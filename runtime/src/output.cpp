// Standard output, buffered by ourselves, and standard error.
#include "builtins.h"
#include "status_line.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace melix::runtime {

namespace {

constexpr int64_t bufferBytes = 16 * 1024;
uint8_t buffer[bufferBytes];
int64_t used;
int terminal = -1; // of standard output: unknown, no, yes
int failure;       // the reason (errno) why the first write to standard output that failed did so
uint32_t lock;
StatusLine status;
MelixWriteFn hostWriter;
void* hostContext;

void writeOutput(const uint8_t* data, int64_t len) {
  if (terminal > 0) status.makeRoom(data, len);
  if (!writeAll(1, data, len) && failure == 0) failure = errno;
}

void flushBuffer() {
  if (used > 0) writeOutput(buffer, used);
  used = 0;
}

/// A program whose output goes nowhere does not go on; melix_end_output says why.
void leaveIfFailed(MelixTask* task) {
  if (failure == 0) return;
  task->exitStatus = MELIX_FAILED;
  leaveToLanding(task, MELIX_EXIT);
}

} // namespace

bool writeAll(int fd, const uint8_t* data, int64_t len) {
  while (len > 0) {
    ssize_t n = write(fd, data, static_cast<size_t>(len));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    len -= n;
  }
  return true;
}

void writeText(int fd, const uint8_t* data, int64_t len) {
  if (len <= 0) return;
  SpinLock guard(&lock);
  if (hostWriter) {
    hostWriter(hostContext, fd, data, len);
    return;
  }
  if (fd != 1) {
    flushBuffer();
    status.makeRoom(data, len);
    writeAll(fd, data, len);
    return;
  }
  if (terminal < 0) terminal = isatty(1);
  if (len > bufferBytes - used) flushBuffer();
  if (len > bufferBytes) {
    writeOutput(data, len);
    return;
  }
  memcpy(buffer + used, data, static_cast<size_t>(len));
  used += len;
  if (terminal && memchr(data, '\n', static_cast<size_t>(len))) flushBuffer();
}

int statusColumns() { return hostWriter ? 0 : terminalColumns(); }

void showStatus(const TextBuffer& text, bool stays) {
  SpinLock guard(&lock);
  if (stays) flushBuffer();
  status.show(text.data, text.len, stays);
}

/// print: all pieces in one write to the buffer, so that lines stay whole.
static void printPieces(int fd, const uint64_t* args) {
  auto count = static_cast<int64_t>(args[0]);
  auto* pieces = reinterpret_cast<const MelixStr*>(args[1]);
  if (count == 1 && fd == 1) {
    writeText(1, pieces[0].data, pieces[0].len);
    writeText(1, reinterpret_cast<const uint8_t*>("\n"), 1);
    return;
  }
  ScopedBuffer text;
  for (int64_t k = 0; k < count; k++) {
    if (k > 0) text.addByte(' ');
    text.add(pieces[k]);
  }
  text.addByte('\n');
  writeText(fd, text.data, text.len);
}

} // namespace melix::runtime

using namespace melix::runtime;

void melix_flush(void) {
  SpinLock guard(&lock);
  flushBuffer();
  status.clear();
}

int32_t melix_end_output(int32_t exitStatus) {
  {
    SpinLock guard(&lock);
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
  SpinLock guard(&lock);
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
