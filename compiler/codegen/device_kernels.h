#pragma once
// The records of the runtime for kernels of a device.

#include "codegen/emitter.h"

namespace melix::codegen {

/// The MelixKernel of a function of kind `Device`.
llvm::Constant* deviceKernel(ModuleEmitter& m, loops::FunctionId kernel);

/// The name of a kernel's entry on a GPU.
std::string deviceEntryName(const loops::Module& module, loops::FunctionId kernel);
/// The function by which a GPU runs a kernel: (extent, captures…), words, in each thread.
llvm::Function* declareDeviceEntry(ModuleEmitter& m, loops::FunctionId kernel);

} // namespace melix::codegen
