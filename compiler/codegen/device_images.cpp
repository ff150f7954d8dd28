#include "codegen/device_images.h"

#include "codegen/data_module.h"
#include "loops/analysis/written_captures.h"
#include "melix/abi.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/CallingConv.h>

namespace melix::codegen {
namespace {

/// A letter for each capture of a kernel (MelixCapture).
std::string captureKinds(const loops::Module& module, const loops::Function& kernel) {
  const loops::WrittenCaptures written(module, kernel);
  std::string out;
  for (size_t k = loops::boundOperands; k < kernel.params().size(); ++k) {
    const loops::ValueId p = kernel.params()[k];
    const bool isArray = kernel.typeOf(p).cls == loops::ClassKind::Data;
    const bool isScratch = kernel.modeOf(k) == loops::ModeKind::Scratch;
    const MelixCapture ofArray = written.contains(p) ? MELIX_CAPTURE_WRITTEN : MELIX_CAPTURE_READ;
    out += static_cast<char>(isArray ? ofArray : isScratch ? MELIX_CAPTURE_SCRATCH : MELIX_CAPTURE_NUMBER);
  }
  return out;
}

/// Of the MelixKernel of a kernel, which is in the object of its image.
std::string recordSymbol(const loops::Function& kernel) { return "melix_kernel." + kernel.key; }

/// Letters, digits and `_` of the key; its number makes the name unique.
std::string deviceEntryName(const loops::Module& module, loops::FunctionId kernel) {
  std::string name = module.functions[kernel].key;
  for (char& c : name)
    if (!llvm::isAlnum(c)) c = '_';
  if (llvm::isDigit(name[0])) name.insert(0, "_");
  return name + "$" + std::to_string(kernel.index);
}

/// The MelixImage and the MelixKernels of its kernels.
class ImageModule : public DataModule {
public:
  ImageModule(const Unit& unit, const Options& options)
      : DataModule("kernels", options), unit_(unit), options_(options) {}

  void add(const std::string& ptx, const std::vector<Cubin>& cubins) {
    llvm::Constant* image = global(
        record({ptx.empty() ? null : text(ptx), word(ptx.size()), codeOf(cubins), word(cubins.size()), null}),
        false);
    for (loops::FunctionId f : unit_.functions)
      if (unit_.module.functions[f].kind == loops::FunctionKind::Device) addKernel(f, image);
  }

private:
  llvm::Constant* codeOf(const std::vector<Cubin>& cubins) {
    std::vector<llvm::Constant*> records;
    for (const Cubin& cubin : cubins) {
      auto* bytes = llvm::ConstantDataArray::getString(context, cubin.bytes, false);
      records.push_back(record({half(static_cast<uint32_t>(cubin.architecture)), half(0), global(bytes, true),
                                word(cubin.bytes.size())}));
    }
    return arrayOf(records, true);
  }

  void addKernel(loops::FunctionId id, llvm::Constant* image) {
    const loops::Function& kernel = unit_.module.functions[id];
    const std::string captures = captureKinds(unit_.module, kernel);
    const size_t checks = checksOf(kernel).size();
    llvm::Constant* emulated = options_.devices.emulator ? external(exportedSymbol(kernel)) : null;
    llvm::Constant* value =
        record({emulated, text(captures), word(captures.size()), word(checks), word(kernel.points.threads),
                word(0), text(deviceEntryName(unit_.module, id)), image, null});
    new llvm::GlobalVariable(module, value->getType(), false, llvm::GlobalValue::ExternalLinkage, value,
                             recordSymbol(kernel));
  }

  const Unit& unit_;
  const Options& options_;
};

} // namespace

llvm::Constant* kernelRecord(ModuleEmitter& m, loops::FunctionId id) {
  return m.llvm->getOrInsertGlobal(recordSymbol(m.unit.module.functions[id]), m.i8());
}

Object imageObject(const Unit& unit, const std::string& ptx, const Options& options, std::string& problem) {
  ImageModule image(unit, options);
  const bool isAssembled = options.assemble && !ptx.empty();
  image.add(ptx, isAssembled ? options.assemble(ptx, problem) : std::vector<Cubin>());
  if (!problem.empty()) return {};
  return {image.object(problem), {}};
}

llvm::Function* declareDeviceEntry(ModuleEmitter& m, loops::FunctionId kernel) {
  const loops::Function& fn = m.unit.module.functions[kernel];
  const size_t captures = fn.params().size() - loops::boundOperands;
  const std::vector<llvm::Type*> params(1 + captures + 2 * fn.hasScratch() + !checksOf(fn).empty(), m.i64());
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(m.context), params, false);
  auto* made = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                      deviceEntryName(m.unit.module, kernel), *m.llvm);
  made->setCallingConv(llvm::CallingConv::PTX_Kernel);
  return made;
}

} // namespace melix::codegen
