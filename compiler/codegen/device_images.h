#pragma once
// Internal: kernels of a device, as entries of a GPU and as records of the runtime.

#include "codegen/function_emitter.h"

namespace melix::codegen {

/// The MelixKernel of a function of kind `Device`.
llvm::Constant* kernelRecord(ModuleEmitter& m, loops::FunctionId kernel);

/// The function by which a GPU runs a kernel, in each thread (MelixKernel::name).
llvm::Function* declareDeviceEntry(ModuleEmitter& m, loops::FunctionId kernel);

/// The object with the records of a unit's kernels, and their code for GPUs: `ptx` or none.
Object imageObject(const Unit& unit, const std::string& ptx, const Options& options, std::string& problem);

} // namespace melix::codegen
