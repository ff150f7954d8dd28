#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

/// The files inside melix: the library's sources and the runtime that executables are linked with.
namespace melix::driver {

/// An entry of a table that the build makes.
struct EmbeddedFile {
  const char* path; ///< relative to stdlib/: `math/kernel/exp.mlx`
  const char* begin;
  const char* end;

  std::string_view bytes() const { return {begin, static_cast<size_t>(end - begin)}; }
};

/// The source of a library file, by its path relative to stdlib/; an empty view's data is null if there is
/// none.
std::string_view findLibraryFile(std::string_view path);

/// Paths of the library's files that start with `prefix`, sorted.
std::vector<std::string_view> libraryFiles(std::string_view prefix);

/// The archive of the runtime with the compiler's builtins.
std::string_view runtimeArchive();

} // namespace melix::driver
