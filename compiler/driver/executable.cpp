#include "driver/executable.h"

#include "aot/link.h"
#include "driver/embedded.h"
#include "driver/files.h"
#include "driver/program_input.h"

#include <filesystem>

namespace melix::driver {

bool writeExecutable(std::span<const std::string_view> objects, const Invocation& invocation) {
  std::error_code ignored;
  if (std::filesystem::equivalent(invocation.output, invocation.program.file, ignored)) {
    writeProblem("the executable `" + invocation.output + "` would replace its own source");
    return false;
  }
  aot::LinkOptions options{.strip = invocation.strip};
  std::string linkProblem;
  std::optional<std::string> bytes = aot::linkExecutable(objects, runtimeArchive(), linkProblem, options);
  std::optional<std::string> problem = bytes ? replaceFile(invocation.output, *bytes, FileKind::Executable)
                                             : "cannot link `" + invocation.output + "`:\n" + linkProblem;
  if (problem) writeProblem(*problem);
  return !problem;
}

} // namespace melix::driver
