#include "aot/memory_file.h"

#include "support/write_all.h"

#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace melix::aot {
MemoryFile::MemoryFile(std::string_view bytes) : descriptor_(memfd_create("melix", MFD_CLOEXEC)) {
  if (descriptor_ < 0 || writeAll(descriptor_, bytes)) return;
  close(descriptor_);
  descriptor_ = -1;
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<std::string> MemoryFile::content() const {
  off_t size = lseek(descriptor_, 0, SEEK_END);
  std::string out(size < 0 ? 0 : static_cast<size_t>(size), '\0');
  for (size_t at = 0; at < out.size();) {
    ssize_t got = pread(descriptor_, out.data() + at, out.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    at += static_cast<size_t>(got);
  }
  return out;
}

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

} // namespace melix::aot
