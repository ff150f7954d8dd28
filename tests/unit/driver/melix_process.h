#pragma once
#include "harness/process.h"

#include <string>
#include <unistd.h>

namespace melix::driver {

/// Runs `melix` with a command line as the shell reads it and a text on standard input.
inline harness::ProcessResult melix(const std::string& arguments, const std::string& input = "") {
  std::string path = "/tmp/melix_input_" + std::to_string(getpid());
  if (FILE* file = std::fopen(path.c_str(), "w")) {
    std::fwrite(input.data(), 1, input.size(), file);
    std::fclose(file);
  }
  std::string command = MELIX_BINARY_DIR "/melix " + arguments + " < " + path;
  harness::ProcessResult result = harness::runProcess({"/bin/sh", "-c", command});
  unlink(path.c_str());
  return result;
}

} // namespace melix::driver
