#pragma once
#include <string>
#include <vector>

/// The command line: the only part of the compiler that touches files and the terminal.
namespace melix::driver {

/// Carries out a command line (without the program's name) and returns the exit status.
int runMelix(std::vector<std::string> arguments);

} // namespace melix::driver
