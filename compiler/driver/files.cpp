#include "driver/files.h"

#include "support/write_all.h"

#include "driver/exit_status.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace melix::driver {
namespace {

std::string reason() { return std::strerror(errno); }

int outputFailure = 0; ///< why the first write to standard output that failed did so

void noteOutput(bool written) {
  if (!written && outputFailure == 0) outputFailure = errno;
}

constexpr size_t longestStream = size_t(64) << 20; ///< what is no file may never end

/// Reads to the end; gives the reason why not, or nothing.
std::string readAll(int descriptor, std::string& text) {
  struct stat kind = {};
  bool isFile = fstat(descriptor, &kind) == 0 && S_ISREG(kind.st_mode);
  char buffer[65536];
  for (;;) {
    ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got == 0) return {};
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return reason();
    text.append(buffer, static_cast<size_t>(got));
    if (!isFile && text.size() > longestStream) return "it is no file and longer than 64 MiB";
  }
}

/// Writes everything and closes, which may be the first to tell that space has run out.
bool fill(int descriptor, std::string_view bytes) {
  const bool written = writeAll(descriptor, bytes);
  const int failure = errno;
  const bool closed = close(descriptor) == 0;
  if (!written) errno = failure;
  return written && closed;
}

/// The file that links lead to, which may not be there yet: it is replaced, and the links stay.
std::string behindLinks(std::filesystem::path path) {
  std::error_code ignored;
  for (int steps = 0; steps < 40 && std::filesystem::is_symlink(path, ignored); ++steps)
    path = path.parent_path() / std::filesystem::read_symlink(path, ignored);
  return path.string();
}

mode_t newFileMode() {
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

} // namespace

std::optional<std::string> readFile(const std::string& path, std::string& error) {
  std::string text;
  bool isInput = path == "-";
  int descriptor = isInput ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string problem = descriptor >= 0 ? readAll(descriptor, text) : reason();
  if (!isInput && descriptor >= 0) close(descriptor);
  if (problem.empty()) return text;
  error = "cannot read " + (isInput ? "standard input" : "`" + path + "`") + ": " + problem;
  return std::nullopt;
}

std::optional<std::string> replaceFile(const std::string& path, std::string_view content, FileKind kind) {
  auto problem = [&] { return "cannot write `" + path + "`: " + reason(); };
  struct stat old = {};
  const bool exists = stat(path.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0 || !fill(descriptor, content)) return problem();
    return std::nullopt;
  }
  mode_t mode = exists ? old.st_mode & 07777 : newFileMode();
  if (kind == FileKind::Executable) mode |= S_IRUSR | S_IXUSR | (mode & 0444) >> 2;
  const std::string target = behindLinks(path);
  std::string temporary = target + ".melix-XXXXXX";
  int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return "cannot write beside `" + path + "`: " + reason();
  if (fill(descriptor, content) && chmod(temporary.c_str(), mode) == 0 &&
      std::rename(temporary.c_str(), target.c_str()) == 0)
    return std::nullopt;
  std::string failure = problem();
  unlink(temporary.c_str());
  return failure;
}

std::vector<std::string> expandFolders(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    size_t first = files.size();
    auto options = std::filesystem::directory_options::skip_permission_denied;
    for (std::filesystem::recursive_directory_iterator at(path, options, error), end; at != end && !error;
         at.increment(error))
      if (at->path().extension() == ".mlx" && at->is_regular_file(error))
        files.push_back(at->path().string());
    std::sort(files.begin() + static_cast<ptrdiff_t>(first), files.end());
  }
  return files;
}

void writeOutput(std::string_view text) {
  noteOutput(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

bool flushOutput() {
  noteOutput(std::fflush(stdout) == 0);
  return outputFailure == 0;
}

int endOutput(int status) {
  if (flushOutput()) return status;
  if (outputFailure != EPIPE)
    writeError(std::string("error: cannot write to standard output: ") + std::strerror(outputFailure) + "\n");
  return status == Success ? int(Failure) : status;
}

void writeError(std::string_view text) {
  flushOutput();
  writeAll(STDERR_FILENO, text);
}

bool wantsColour() { return isatty(STDERR_FILENO) && !std::getenv("NO_COLOR"); }

} // namespace melix::driver
