#include "codegen/target.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/Triple.h>

#include <cassert>

namespace melix::codegen {
namespace {

/// By feature, not by name: processors under a hypervisor call themselves what they like. Without AVX-512
/// where registers are allocated fast: that allocator's spills in large frames trap. Without instructions
/// that round to bf16: they take subnormal numbers for zeros.
std::string hostFeatures(llvm::CodeGenOptLevel level) {
  llvm::SubtargetFeatures features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    const llvm::StringRef name = feature.first();
    const bool isAvx512 = name.starts_with("avx512") || name.starts_with("avx10");
    const bool roundsToBf16 = name == "avx512bf16" || name == "avxneconvert" || name == "avx10.2";
    const bool isUnwanted = roundsToBf16 || (isAvx512 && level == llvm::CodeGenOptLevel::None);
    features.AddFeature(name, feature.second && !isUnwanted);
  }
  return features.getString();
}

/// Whether the processor has all of these.
bool hasFeatures(llvm::StringRef names) {
  static const auto host = llvm::sys::getHostCPUFeatures();
  llvm::SmallVector<llvm::StringRef, 8> all;
  names.split(all, ' ');
  return llvm::all_of(all, [](llvm::StringRef name) { return host.lookup(name); });
}

const llvm::Target* target() {
  static const llvm::Target* const found = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(llvm::Triple("x86_64-unknown-linux-gnu"), error);
  }();
  return found;
}

const llvm::Target* gpuTarget() {
  static const llvm::Target* const found = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(llvm::Triple("nvptx64-nvidia-cuda"), error);
  }();
  return found;
}

} // namespace

const loops::Machine& machineOf(TargetKind target) {
  using loops::MachineKind;
  assert(target != TargetKind::Gpu && "its kernels have a schedule of their own");
  if (target == TargetKind::Portable) return loops::machines[static_cast<size_t>(MachineKind::Avx2)];
  for (const loops::Machine& machine : loops::machines)
    if (hasFeatures(machine.features)) return machine;
  return std::end(loops::machines)[-1];
}

loops::Options loopOptions(const Options& options) {
  loops::Options out;
  if (options.optimise && !options.vectorise) out.machine = &machineOf(options.target);
  out.devices = options.devices;
  out.device = options.device;
  return out;
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Options& options) {
  llvm::TargetOptions settings;
  settings.AllowFPOpFusion = llvm::FPOpFusion::Strict; // fma only where Core says so
  // One text section: the line table speaks of offsets into it.
  settings.FunctionSections = false;
  settings.DataSections = true;
  if (options.target == TargetKind::Gpu)
    return std::unique_ptr<llvm::TargetMachine>(gpuTarget()->createTargetMachine(
        llvm::Triple("nvptx64-nvidia-cuda"), "sm_80", "+ptx70", settings, llvm::Reloc::PIC_));
  bool host = options.target == TargetKind::Host;
  auto level = options.optimise ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None;
  static const std::string fast = hostFeatures(llvm::CodeGenOptLevel::None),
                           full = hostFeatures(llvm::CodeGenOptLevel::Default);
  const std::string& features = level == llvm::CodeGenOptLevel::None ? fast : full;
  return std::unique_ptr<llvm::TargetMachine>(target()->createTargetMachine(
      llvm::Triple("x86_64-unknown-linux-gnu"), host ? "x86-64" : "x86-64-v3", host ? features : "", settings,
      llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
}

/// The passes of code generation but those that have nothing to do in code of Melix, as it has no variables
/// for a debugger, is not collected, patched or traced, and has no funclets; and but those over loops, which
/// iteration what is computed of a loop's variable into more variables: an eighth of the whole time for
/// larger code that is no faster, as Loops has taken out of loops what can be.
class CodePasses : public llvm::legacy::PassManager {
public:
  /// The target adds its configuration first, which the passes after it go by.
  void add(llvm::Pass* pass) override {
    if (pass->getPassID() == &llvm::TargetPassConfig::ID)
      leaveOutIdle(static_cast<llvm::TargetPassConfig&>(*pass));
    if (pass->getPassKind() == llvm::PT_Loop)
      delete pass;
    else
      PassManager::add(pass);
  }

private:
  static void leaveOutIdle(llvm::TargetPassConfig& config) {
    for (llvm::AnalysisID pass :
         {&llvm::LiveDebugValuesID, &llvm::RemoveRedundantDebugValuesID, &llvm::RemoveLoadsIntoFakeUsesID,
          &llvm::StackMapLivenessID, &llvm::FixupStatepointCallerSavedID, &llvm::GCLoweringID,
          &llvm::ShadowStackGCLoweringID, &llvm::FEntryInserterID, &llvm::XRayInstrumentationID,
          &llvm::PatchableFunctionID, &llvm::FuncletLayoutID, &llvm::MachineSanitizerBinaryMetadataID,
          &llvm::StackFrameLayoutAnalysisPassID})
      config.disablePass(pass);
  }
};

/// Code of that kind; nothing if the target cannot.
template <class Passes>
static std::optional<std::string> emitted(llvm::Module& module, llvm::TargetMachine& machine,
                                          llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  Passes passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, kind)) return std::nullopt;
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

std::optional<std::string> objectOf(llvm::Module& module, llvm::TargetMachine& machine) {
  return emitted<CodePasses>(module, machine, llvm::CodeGenFileType::ObjectFile);
}

std::string assemblyOf(llvm::Module& module, llvm::TargetMachine& machine) {
  constexpr auto kind = llvm::CodeGenFileType::AssemblyFile;
  const bool isGpu = machine.getTargetTriple().isNVPTX();
  const auto text = isGpu ? emitted<llvm::legacy::PassManager>(module, machine, kind)
                          : emitted<CodePasses>(module, machine, kind);
  return text.value_or("");
}

} // namespace melix::codegen
