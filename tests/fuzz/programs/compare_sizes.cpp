// Sizes against those that they must be, from what a program prints.
#include "fuzz/programs/compare.h"

#include <sstream>

namespace melix::fuzz::programs {

std::optional<Finding> checkSizes(const std::string& output, bool panicked) {
  std::istringstream in(output);
  bool mayPanic = true;
  for (std::string text; std::getline(in, text);) {
    std::istringstream line(text);
    std::string what, is, should;
    line >> what >> is >> should;
    if (what == "size" && is != should)
      return Finding{"sizes: another", "a size is " + is + " and should be " + should + "\n"};
    if (what == "done" && is == "2")
      return Finding{"sizes: no panic", "no panic about a size that is none\n"};
    if (what == "may") mayPanic = is != "0";
  }
  if (panicked && !mayPanic) return Finding{"sizes: panic", "a panic about a size that is one\n"};
  return std::nullopt;
}

} // namespace melix::fuzz::programs
