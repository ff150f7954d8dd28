#pragma once
#include <sstream>
#include <string>

namespace melix::harness {

/// LLVM instructions, in text, of the functions whose head holds `symbol`.
inline size_t instructionsOf(const std::string& ir, const std::string& symbol) {
  std::istringstream lines(ir);
  size_t count = 0;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("define ")) inside = line.find(symbol) != std::string::npos;
    if (line.starts_with("}")) inside = false;
    count += inside && line.starts_with("  ") && !line.starts_with("   ") &&
             line.find("#dbg") == std::string::npos;
  }
  return count;
}

} // namespace melix::harness
