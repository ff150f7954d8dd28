#pragma once
// The records of the runtime for kernels of a device.

#include "codegen/emitter.h"

namespace melix::codegen {

/// The MelixKernel of a function of kind `Device`.
llvm::Constant* deviceKernel(ModuleEmitter& m, loops::FunctionId kernel);

} // namespace melix::codegen
