#include "driver/driver.h"

#include "driver/command_line.h"
#include "driver/files.h"

namespace melix::driver {

int runMelix(std::vector<std::string> arguments) {
  auto parsed = parseCommandLine(std::move(arguments));
  if (auto* answer = std::get_if<Answer>(&parsed)) {
    (answer->status == 0 ? writeOutput : writeError)(answer->text);
    return answer->status;
  }
  return 0;
}

} // namespace melix::driver
