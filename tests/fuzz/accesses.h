#pragma once
// Random programs that leave an array once, at a line that is known, or never.

#include "fuzz/run.h"

#include <string>
#include <vector>

namespace melix::fuzz {

/// A form of access of accesses.txt.
struct AccessForm {
  std::string kind, name;
  std::vector<std::string> lines;
  size_t leaves = 0; ///< which of them may leave an array
};
std::vector<AccessForm> accessForms();

struct AccessProgram {
  std::string text;
  std::string forms;   ///< which it has, for a reader
  std::string message; ///< of the panic that it ends with; empty: it never leaves an array
  size_t line = 0;     ///< of the text, from 1, that panics
};

/// A program of one to four forms, called with indices that lie inside, whatever they are made of and
/// wherever the call stands: in loops, builders, branches, function values, derivatives. The last call leaves
/// an array if `leaves`; it is of the form `last` if one is given.
AccessProgram randomAccesses(Random& random, const std::vector<AccessForm>& forms, bool leaves,
                             const AccessForm* last = nullptr);

} // namespace melix::fuzz
