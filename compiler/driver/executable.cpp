#include "driver/executable.h"

#include "aot/link.h"
#include "driver/embedded.h"
#include "driver/files.h"
#include "driver/program_input.h"

#include <filesystem>

namespace melix::driver {

namespace {

namespace fs = std::filesystem;

/// Without `-o` it lies in the working folder.
std::string outputOf(const Invocation& invocation) {
  return invocation.output.empty() ? fs::path(invocation.program.file).stem().string() : invocation.output;
}

/// Why a file must not be replaced; empty if it may be, or is not there.
std::string whyKept(const std::string& output, const Invocation& invocation) {
  std::error_code ignored;
  if (fs::equivalent(output, invocation.program.file, ignored))
    return "the executable `" + output + "` would replace its own source: `-o OUT` gives it another name";
  const fs::file_status found = fs::status(output, ignored);
  const bool runs = (found.permissions() & fs::perms::owner_exec) != fs::perms::none;
  if (invocation.output.empty() && fs::exists(found) && (fs::is_directory(found) || !runs))
    return "`" + output + "` is there and no executable: `-o OUT` gives this one another name";
  return {};
}

} // namespace

bool writeExecutable(std::span<const std::string_view> objects, const Invocation& invocation) {
  const std::string output = outputOf(invocation);
  if (const std::string why = whyKept(output, invocation); !why.empty()) {
    writeProblem(why);
    return false;
  }
  aot::LinkOptions options{.strip = invocation.strip};
  std::string linkProblem;
  std::optional<std::string> bytes = aot::linkExecutable(objects, runtimeArchive(), linkProblem, options);
  std::optional<std::string> problem = bytes ? replaceFile(output, *bytes, FileKind::Executable)
                                             : "cannot link `" + output + "`:\n" + linkProblem;
  if (problem) writeProblem(*problem);
  return !problem;
}

} // namespace melix::driver
