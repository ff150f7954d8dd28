// The program's surroundings: clock, arguments, environment, standard input, exit.
#include "system.h"

#include "builtins.h"
#include "melix/input.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

namespace melix::runtime {

namespace {

int32_t count;
char** texts;

uint8_t inputBuffer[4096];
int64_t inputAt, inputEnd;

/// More input in the buffer, which has been taken; what `read` gives.
ssize_t fillInput() {
  const ssize_t n = read(0, inputBuffer, sizeof inputBuffer);
  inputAt = 0;
  inputEnd = n > 0 ? n : 0;
  return n;
}

/// The next byte of standard input, or -1.
int nextByte(MelixTask* task) {
  while (inputAt == inputEnd) {
    const ssize_t n = fillInput();
    if (n > 0) break;
    if (n == 0 || errno != EINTR || task->head.cancel) return -1;
  }
  return inputBuffer[inputAt++];
}

bool isText(const char* bytes) {
  return findBadUtf8(reinterpret_cast<const uint8_t*>(bytes), static_cast<int64_t>(strlen(bytes))) < 0;
}

} // namespace

const char* environmentVariable(const char* name) { return getenv(name); }

int32_t argumentCount() { return count; }
const char* argument(int32_t k) { return texts[k]; }

} // namespace melix::runtime

using namespace melix::runtime;

void melix_set_arguments(int32_t argc, char** argv) {
  count = argc;
  texts = argv;
  forgetCommandLine();
}

void melix_clock(MelixTask*, const uint64_t*, uint64_t* results) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double seconds = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  memcpy(results, &seconds, sizeof seconds);
}

void melix_arguments(MelixTask* task, const uint64_t*, uint64_t* results) {
  void* list = nullptr;
  for (int32_t k = 1; k < count; k++) {
    int64_t values[] = {k};
    if (!isText(texts[k])) melix_panic_format(task, "argument {0} of the program is not UTF-8", 1, values);
    MelixStr text = makeStr(task, texts[k]);
    *static_cast<MelixStr*>(melix_list_push(task, &list, &melix_scalar_types[MELIX_KIND_STR])) = text;
  }
  results[0] = reinterpret_cast<uint64_t>(list);
}

void melix_environment(MelixTask* task, const uint64_t* args, uint64_t* results) {
  TextBuffer name;
  name.add(strArg(args));
  name.addByte(0);
  const char* value = name.data ? environmentVariable(reinterpret_cast<const char*>(name.data)) : nullptr;
  name.release();
  if (value && !isText(value)) panicText(task, "the value of this environment variable is not UTF-8");
  results[0] = value != nullptr;
  setStr(results + 1, value ? makeStr(task, value) : MelixStr{nullptr, 0});
}

void melix_io_read_line(MelixTask* task, const uint64_t*, uint64_t* results) {
  melix_flush(); // a question stands before its answer
  TextBuffer line;
  int c = nextByte(task);
  results[0] = c >= 0;
  for (; c >= 0 && c != '\n'; c = nextByte(task)) line.addByte(static_cast<char>(c));
  if (line.len > 0 && line.data[line.len - 1] == '\r') line.len--;
  if (findBadUtf8(line.data, line.len) >= 0) {
    line.release();
    panicText(task, "a line of standard input is not UTF-8");
  }
  setStr(results + 1, takeStr(task, line));
}

int64_t melix_read_input(uint8_t* to, int64_t size) {
  if (inputAt == inputEnd)
    if (const ssize_t n = fillInput(); n <= 0) return n;
  int64_t taken = 0;
  while (taken < size && inputAt < inputEnd) {
    to[taken++] = inputBuffer[inputAt++];
    if (to[taken - 1] == '\n') break;
  }
  return taken;
}

void melix_exit(MelixTask* task, const uint64_t* args, uint64_t*) {
  auto status = static_cast<int64_t>(args[0]);
  if (status < 0 || status > 255)
    melix_panic_format(task, "exit status {0} is not within 0..255", 1, &status);
  task->around.exitStatus = static_cast<int32_t>(status);
  leaveToLanding(task, MELIX_EXIT);
}
