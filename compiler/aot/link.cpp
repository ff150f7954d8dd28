#include "aot/link.h"

#include "aot/lld.h"
#include "aot/memory_file.h"
#include "aot/shared_objects.h"

#include <vector>

extern "C" const char melixEntryBegin[], melixEntryEnd[];

namespace melix::aot {
namespace {

/// The inputs of one link: their bytes as files, and the name each has in messages.
class Inputs {
public:
  bool add(std::string name, std::string_view bytes) {
    files_.emplace_back(bytes);
    names_.push_back(std::move(name));
    return files_.back().isOpen();
  }

  void appendPaths(std::vector<std::string>& arguments) const {
    for (const MemoryFile& file : files_) arguments.push_back(file.path());
  }

  /// The linker's messages with each path replaced by the input's name.
  std::string rename(std::string messages) const {
    // Backwards, so that no path is replaced where it is the beginning of a longer one.
    for (size_t i = files_.size(); i-- > 0;) {
      std::string path = files_[i].path();
      for (size_t at = messages.find(path); at != std::string::npos;
           at = messages.find(path, at + names_[i].size()))
        messages.replace(at, path.size(), names_[i]);
    }
    return messages;
  }

private:
  std::vector<MemoryFile> files_;
  std::vector<std::string> names_;
};

std::vector<std::string> baseArguments(const LinkOptions& options) {
  std::vector<std::string> arguments{
      "-pie",
      "-dynamic-linker",
      "/lib64/ld-linux-x86-64.so.2",
      "--gc-sections",
      "-z",
      "now",
      "-z",
      "relro",
      "-z",
      "noexecstack",
      "--hash-style=gnu",
      "--no-rosegment",
      "--color-diagnostics=never",
      // Linking takes milliseconds: starting threads would cost more than they give.
      "--threads=1",
  };
  if (options.strip) arguments.push_back("--strip-all");
  return arguments;
}

struct Library {
  const char* name;
  bool isAlwaysThere; ///< else a program that reaches it cannot be linked where it is missing
};
constexpr Library libraries[] = {
#ifdef MELIX_SANITIZE_PROGRAMS
    {MELIX_ASAN_LIBRARY, true}, // which wants to be the first
#endif
    {"libc.so.6", true},
    {"libm.so.6", true},
    {"libz.so.1", false}};

std::string withoutTrailingNewline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

} // namespace

std::optional<std::string> linkExecutable(std::span<const std::string_view> objects,
                                          std::string_view runtimeArchive, std::string& problem,
                                          const LinkOptions& options) {
  Inputs inputs;
  bool opened = inputs.add("entry", {melixEntryBegin, melixEntryEnd});
  for (std::string_view object : objects) opened = inputs.add("program", object) && opened;
  if (!runtimeArchive.empty()) opened = inputs.add("runtime", runtimeArchive) && opened;
  if (!opened) {
    problem = "no memory for the linker's inputs";
    return std::nullopt;
  }

  std::vector<std::string> arguments = baseArguments(options);
  inputs.appendPaths(arguments);
  arguments.push_back("--as-needed");
  for (const Library& library : libraries) {
    std::string path = findSharedObject(library.name);
    if (!path.empty()) {
      arguments.push_back(path);
    } else if (library.isAlwaysThere) {
      problem = std::string("the C library's `") + library.name + "` was not found";
      return std::nullopt;
    }
  }

  std::string messages;
  std::optional<std::string> bytes = runLld(arguments, messages);
  if (!bytes) problem = withoutTrailingNewline(inputs.rename(std::move(messages)));
  return bytes;
}

} // namespace melix::aot
