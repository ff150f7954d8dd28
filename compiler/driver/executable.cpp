#include "driver/executable.h"

#include "aot/link.h"
#include "driver/embedded.h"
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
  auto problem = aot::linkExecutable(objects, runtimeArchive(), invocation.output, options);
  if (problem) writeProblem(*problem);
  return !problem;
}

} // namespace melix::driver
