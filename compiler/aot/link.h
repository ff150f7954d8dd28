#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Executables, made without any tool outside this process.
namespace melix::aot {

struct LinkOptions {
  bool strip = false; ///< no symbol table and no debug information in the executable
};

/// Links ELF objects and the runtime archive, all given as bytes, into a position-independent executable that
/// needs `libc.so.6`, and `libm.so.6` and `libz.so.1` where used. One of the objects, or the archive, defines
/// `main`; what `main` does not reach is left out. The C library linked against is the one this process runs
/// with, so neither a compiler nor the C library's development files are needed, and `PATH` is never read.
///
/// Returns the bytes of the executable. If it cannot be made: nothing, and `problem` is what is wrong, the
/// linker's problems a line each.
std::optional<std::string> linkExecutable(std::span<const std::string_view> objects,
                                          std::string_view runtimeArchive, std::string& problem,
                                          const LinkOptions& options = {});

} // namespace melix::aot
