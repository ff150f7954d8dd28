#pragma once
// Functions of Core as units of code: compiled by themselves, they take their arguments from the host and
// give it their results, by numbers (builtins `host_take`, `host_give`).

#include "core/ir/ir.h"

#include <optional>
#include <string>
#include <vector>

namespace melix::repl {

/// The parameters of an entry at the prompt are the variables before it. These are left of them, and of the
/// tuple that it gives.
struct EntryVariables {
  std::vector<uint32_t> read; ///< by parameter: the number of the variable
  std::vector<std::optional<uint32_t>>
      passedOn; ///< by part of the tuple as it was: the variable it is, unchanged
};
/// Removes the parameters that an entry does not read, and the parts that are variables as they were.
EntryVariables dropUnchanged(core::Module& module, core::FunctionId entry);

/// Text that is equal for functions that do the same, in any module of a session: their own code and that of
/// all that they reach.
std::string contentsOf(const core::Module& module, core::FunctionId f);

/// The functions that stand around one, both without parameters and kept.
struct UnitFunctions {
  core::FunctionId run;      ///< takes the sizes, then the arguments; gives the sizes of results, then these
  core::FunctionId describe; ///< takes the same, and does no more
};
/// Of an entry, the parts of its tuple are the results.
UnitFunctions addUnit(core::Module& module, core::FunctionId f, bool isEntry);

/// Replaces a call by: give the sizes and arguments, run the unit, take the sizes and results.
void replaceCall(core::Module& module, core::FunctionId caller, core::OpId call, int64_t unit);

} // namespace melix::repl
