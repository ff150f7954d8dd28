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

/// Links ELF objects and the runtime archive, all given as bytes, into a position-independent executable. The
/// executable needs `libc.so.6`, and `libm.so.6` and `libz.so.1` where used. One of the objects, or the
/// archive, defines `main`; sections that `main` does not reach are left out. The C library linked against is
/// the one this process runs with. So neither a compiler nor the C library's development files are needed,
/// and `PATH` is never read.
///
/// Returns the bytes of the executable. If it cannot be made: nothing, and `problem` holds the linker's
/// messages, one a line.
std::optional<std::string> linkExecutable(std::span<const std::string_view> objects,
                                          std::string_view runtimeArchive, std::string& problem,
                                          const LinkOptions& options = {});

} // namespace melix::aot
