#include "repl/history/history.h"

#include "support/characters.h"
#include "support/write_all.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace melix::repl {
namespace {

/// As much of the end of a file is read. One that is twice as long, or has twice as many entries as count, is
/// written anew.
constexpr off_t mostBytes = off_t(4) << 20;

std::string lineOf(const std::string& entry) {
  std::string line;
  for (char c : entry)
    if (c == '\n')
      line += "\\n";
    else if (c == '\\')
      line += "\\\\";
    else
      line += c;
  return line + '\n';
}

std::string entryOf(std::string_view line) {
  std::string entry;
  for (size_t k = 0; k < line.size(); ++k)
    if (line[k] == '\\' && k + 1 < line.size())
      entry += line[++k] == 'n' ? '\n' : line[k];
    else
      entry += line[k];
  return printable(entry);
}

/// The last bytes of an open file, from the begin of a line on.
std::string tailOf(int descriptor, off_t size) {
  const off_t from = std::max<off_t>(0, size - mostBytes);
  std::string text(static_cast<size_t>(size - from), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got =
        pread(descriptor, text.data() + have, text.size() - have, from + static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  if (from > 0) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

/// A file that is closed at the end, and then no longer locked.
struct File {
  int descriptor;
  explicit File(int d) : descriptor(d) {}
  File(const File&) = delete;
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
};

} // namespace

History::History(std::string file) : file_(std::move(file)) {
  if (!file_.empty()) read();
}

void History::fail(const char* what) {
  if (problem_.empty()) problem_ = std::string(what) + " `" + file_ + "`: " + std::strerror(errno);
}

std::optional<std::string> History::takeProblem() {
  if (problem_.empty() || isTold_) return std::nullopt;
  isTold_ = true;
  return problem_;
}

void History::read() {
  const File file(open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.descriptor < 0) {
    if (errno != ENOENT) fail("cannot read the history");
    return;
  }
  if (fstat(file.descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    errno = EINVAL;
    return fail("cannot read the history");
  }
  // Under the lock, so that nobody appends between this and a file that is written anew.
  flock(file.descriptor, LOCK_EX);
  fstat(file.descriptor, &status);
  const std::string text = tailOf(file.descriptor, status.st_size);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string entry = entryOf(std::string_view(text).substr(at, end - at));
    if (!entry.empty() && (entries_.empty() || entries_.back() != entry))
      entries_.push_back(std::move(entry));
    at = end + 1;
  }
  const bool isLong = status.st_size > 2 * mostBytes || entries_.size() > 2 * mostEntries;
  if (entries_.size() > mostEntries)
    entries_.erase(entries_.begin(), entries_.end() - static_cast<ptrdiff_t>(mostEntries));
  if (isLong) writeAnew();
}

/// Writes a long file anew, under its lock. Who appends meanwhile waits for that, and finds that the file is
/// another one.
void History::writeAnew() {
  std::string text;
  for (const std::string& entry : entries_) text += lineOf(entry);
  const std::string other = file_ + ".new";
  const File made(open(other.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (made.descriptor < 0 || !writeAll(made.descriptor, text) || rename(other.c_str(), file_.c_str()) != 0)
    unlink(other.c_str());
}

void History::add(const std::string& entry) {
  if (entry.empty() || (!entries_.empty() && entries_.back() == entry)) return;
  entries_.push_back(entry);
  if (entries_.size() > mostEntries) entries_.erase(entries_.begin());
  if (!file_.empty()) append(lineOf(entry));
}

void History::append(const std::string& line) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const File file(open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
    struct stat open{}, named{};
    if (file.descriptor < 0 || flock(file.descriptor, LOCK_EX) != 0 || fstat(file.descriptor, &open) != 0)
      return fail("cannot write the history");
    const bool isSame = stat(file_.c_str(), &named) == 0 && named.st_ino == open.st_ino;
    if (!isSame) continue; // another prompt has written it anew
    if (!writeAll(file.descriptor, line)) fail("cannot write the history");
    return;
  }
}

std::optional<size_t> History::findBefore(std::string_view text, size_t number) const {
  for (size_t k = std::min(number, entries_.size()); k-- > 0;)
    if (entries_[k].find(text) != std::string::npos) return k;
  return std::nullopt;
}

std::optional<size_t> History::findAfter(std::string_view text, size_t number) const {
  for (size_t k = number + 1; k < entries_.size(); ++k)
    if (entries_[k].find(text) != std::string::npos) return k;
  return std::nullopt;
}

std::string historyFile() {
  if (const char* own = std::getenv("MELIX_HISTORY")) return own;
  const char *data = std::getenv("XDG_DATA_HOME"), *home = std::getenv("HOME");
  std::filesystem::path folder;
  if (data && *data == '/')
    folder = data;
  else if (home && *home)
    folder = std::filesystem::path(home) / ".local/share";
  else
    return "";
  folder /= "melix";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return (folder / "history").string();
}

} // namespace melix::repl
