#include "driver/embedded.h"

#include <algorithm>

extern "C" {
// Sorted by path.
extern const melix::driver::EmbeddedFile melixEmbeddedLibrary[];
extern const uint64_t melixEmbeddedLibraryCount;
extern const melix::driver::EmbeddedFile melixEmbeddedRuntime[];
}

namespace melix::driver {

std::string_view findLibraryFile(std::string_view path) {
  const EmbeddedFile* end = melixEmbeddedLibrary + melixEmbeddedLibraryCount;
  const EmbeddedFile* found =
      std::lower_bound(melixEmbeddedLibrary, end, path,
                       [](const EmbeddedFile& file, std::string_view wanted) { return file.path < wanted; });
  return found != end && found->path == path ? found->bytes() : std::string_view();
}

std::vector<std::string_view> libraryFiles(std::string_view prefix) {
  std::vector<std::string_view> out;
  for (uint64_t k = 0; k < melixEmbeddedLibraryCount; ++k)
    if (std::string_view path = melixEmbeddedLibrary[k].path; path.starts_with(prefix)) out.push_back(path);
  return out;
}

std::string_view runtimeArchive() { return melixEmbeddedRuntime[0].bytes(); }

} // namespace melix::driver
