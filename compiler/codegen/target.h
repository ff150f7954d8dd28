#pragma once
// Internal: the machine that code is made for.

#include "codegen/codegen.h"

#include <memory>

namespace llvm {
class Module;
class TargetMachine;
class raw_pwrite_stream;
} // namespace llvm

namespace melix::codegen {

/// Made anew for each module: cheap, and code generation is not shared between threads.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Options& options, bool hasLoops);

/// LLVM's passes before code generation; without `options.optimise` only what must be inlined.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, bool all);

/// Object or assembly. Returns false if the target cannot.
bool emitCode(llvm::Module& module, llvm::TargetMachine& machine, llvm::raw_pwrite_stream& out,
              bool assembly);

/// The table of a finished object: every call's return address with the frames of its inlining.
LineTable readLineTable(const std::string& object, const Options& options);

} // namespace melix::codegen
