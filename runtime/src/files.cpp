#include "files.h"

#include "builtins.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace melix::runtime {

namespace {

/// The path with a terminator; null (and a message) if it holds a zero byte or memory is short.
char* pathText(MelixStr path) {
  if (path.len > 0 && memchr(path.data, 0, static_cast<size_t>(path.len))) return nullptr;
  auto* text = static_cast<char*>(malloc(static_cast<size_t>(path.len) + 1));
  if (!text) return nullptr;
  if (path.len > 0) memcpy(text, path.data, static_cast<size_t>(path.len));
  text[path.len] = 0;
  return text;
}

bool fail(TextBuffer& error, MelixStr path, const char* what, int code) {
  error.add("cannot ");
  error.add(what);
  error.add(" `");
  error.addShown(path);
  error.add("`: ");
  error.add(code ? strerror(code) : "not a path");
  return false;
}

int openFile(MelixStr path, int flags, TextBuffer& error, const char* what) {
  char* text = pathText(path);
  if (!text) {
    fail(error, path, what, 0);
    return -1;
  }
  int fd;
  do fd = open(text, flags | O_CLOEXEC, 0666);
  while (fd < 0 && errno == EINTR);
  int code = errno;
  free(text);
  if (fd < 0) fail(error, path, what, code);
  return fd;
}

} // namespace

bool readFile(MelixStr path, TextBuffer& out, TextBuffer& error) {
  int fd = openFile(path, O_RDONLY, error, "read");
  if (fd < 0) return false;
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) out.reserve(info.st_size + 1);
  for (;;) {
    if (!out.reserve(64 * 1024 < out.cap - out.len ? out.cap - out.len : 64 * 1024)) {
      close(fd);
      return fail(error, path, "read", ENOMEM);
    }
    ssize_t n = read(fd, out.data + out.len, static_cast<size_t>(out.cap - out.len));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      int code = errno;
      close(fd);
      return fail(error, path, "read", code);
    }
    if (n == 0) break;
    out.len += n;
  }
  close(fd);
  return true;
}

bool writeFile(MelixStr path, const uint8_t* data, int64_t len, bool append, TextBuffer& error) {
  int fd = openFile(path, O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC), error, "write");
  if (fd < 0) return false;
  bool written = writeAll(fd, data, len);
  int code = errno;
  if (close(fd) != 0 && written) {
    written = false;
    code = errno;
  }
  return written ? true : fail(error, path, "write", code);
}

/// Results of a builtin that gives (Bool, Str or Bytes, Str).
static void readResult(MelixTask* task, MelixStr path, uint64_t* results, bool text) {
  TextBuffer content, error;
  bool ok = readFile(path, content, error);
  int64_t bad = ok && text ? findBadUtf8(content.data, content.len) : -1;
  if (bad >= 0) {
    ok = false;
    error.add("cannot read `");
    error.addShown(path);
    error.add("` as text: byte ");
    error.addInt(bad);
    error.add(" is not UTF-8");
  }
  results[0] = ok;
  setStr(results + 1, {nullptr, 0});
  setStr(results + 3, {nullptr, 0});
  if (!ok) {
    content.release();
    setStr(results + 3, takeStr(task, error));
    return;
  }
  error.release();
  if (!text && content.len == 0)
    setStr(results + 1, {static_cast<const uint8_t*>(melix_alloc(task, 0)), 0});
  else
    setStr(results + 1, takeStr(task, content));
}

static void writeResult(MelixTask* task, MelixStr path, MelixStr content, bool append, uint64_t* results) {
  TextBuffer error;
  results[0] = writeFile(path, content.data, content.len, append, error);
  setStr(results + 1, takeStr(task, error));
}

} // namespace melix::runtime

using namespace melix::runtime;

void melix_file_read(MelixTask* task, const uint64_t* args, uint64_t* results) {
  readResult(task, strArg(args), results, true);
}

void melix_file_read_bytes(MelixTask* task, const uint64_t* args, uint64_t* results) {
  readResult(task, strArg(args), results, false);
}

void melix_file_write(MelixTask* task, const uint64_t* args, uint64_t* results) {
  writeResult(task, strArg(args), strArg(args + 2), false, results);
}

void melix_file_write_bytes(MelixTask* task, const uint64_t* args, uint64_t* results) {
  writeResult(task, strArg(args), strArg(args + 2), false, results);
}

void melix_file_append(MelixTask* task, const uint64_t* args, uint64_t* results) {
  writeResult(task, strArg(args), strArg(args + 2), true, results);
}

void melix_file_exists(MelixTask*, const uint64_t* args, uint64_t* results) {
  char* path = pathText(strArg(args));
  results[0] = path && access(path, F_OK) == 0;
  free(path);
}
