#include "aot/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace melix::aot {
namespace {

std::string problem(const std::string& path) {
  return "cannot write `" + path + "`: " + std::strerror(errno);
}

/// What the permissions of a new file may be.
mode_t allowed() {
  mode_t mask = umask(0);
  umask(mask);
  return 0777 & ~mask;
}

/// Writes, syncs nothing, and closes. Space that runs out may be told only by the close.
bool fill(int descriptor, std::string_view bytes) {
  bool written = writeAll(descriptor, bytes);
  int reason = errno;
  if (close(descriptor) != 0 && written) return false;
  errno = reason;
  return written;
}

std::optional<std::string> writeInto(const std::string& path, std::string_view bytes) {
  int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0 || !fill(descriptor, bytes)) return problem(path);
  return std::nullopt;
}

} // namespace

bool writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::optional<std::string> writeExecutable(const std::string& path, std::string_view bytes) {
  struct stat old = {};
  if (stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode)) return writeInto(path, bytes);
  std::string temporary = path + ".melix-XXXXXX";
  int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return problem(path);
  const int refused = fchmod(descriptor, allowed()) == 0 ? 0 : errno;
  bool written = fill(descriptor, bytes) && !refused;
  if (refused) errno = refused;
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return std::nullopt;
  std::string message = problem(path);
  unlink(temporary.c_str());
  return message;
}

} // namespace melix::aot
