#pragma once
#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace melix::device {

/// GPUs of NVIDIA from compute capability 8.0 on. Each operation rounds by itself: no product and sum is made
/// one, but for `fma`.
std::unique_ptr<llvm::TargetMachine> makeGpuMachine();

/// Tells the module that it is for them.
void aimAtGpu(llvm::Module& module);

/// Such a module as assembly, which the driver of the GPU finishes.
std::string ptxOf(llvm::Module& module);

} // namespace melix::device
