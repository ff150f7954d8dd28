#include "device/ptx.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

namespace melix::device {

std::unique_ptr<llvm::TargetMachine> makeGpuMachine() {
  static const llvm::Target* const target = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(llvm::Triple("nvptx64-nvidia-cuda"), error);
  }();
  llvm::TargetOptions settings;
  settings.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple("nvptx64-nvidia-cuda"), "sm_80", "", settings, llvm::Reloc::PIC_));
}

void aimAtGpu(llvm::Module& module) {
  const std::unique_ptr<llvm::TargetMachine> machine = makeGpuMachine();
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
}

std::string ptxOf(llvm::Module& module) {
  const std::unique_ptr<llvm::TargetMachine> machine = makeGpuMachine();
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile)) return "";
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace melix::device
