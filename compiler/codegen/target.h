#pragma once
// Internal: the machine that code is made for.

#include "codegen/codegen.h"

#include <memory>
#include <optional>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace melix::codegen {

/// Made anew for each module: cheap, and code generation is not shared between threads.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Options& options);

/// Attribute of a function whose loops come from nests.
inline constexpr const char* runsNests = "melix-nests";

/// LLVM's passes before code generation; without `options.optimise` only the inlining that is required.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, const Options& options);

/// The bytes of an object file; nothing if the target has none.
std::optional<std::string> objectOf(llvm::Module& module, llvm::TargetMachine& machine);
constexpr const char* noObjectFiles = "this target has no object files";

/// The code as assembly.
std::string assemblyOf(llvm::Module& module, llvm::TargetMachine& machine);

/// The table of a finished object: every call's return address with the frames of its inlining.
LineTable readLineTable(const std::string& object, const Options& options);

} // namespace melix::codegen
