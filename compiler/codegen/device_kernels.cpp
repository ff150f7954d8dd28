#include "codegen/device_kernels.h"

#include "loops/analysis/written_captures.h"
#include "melix/abi.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/CallingConv.h>

#include <span>

namespace melix::codegen {
namespace {

/// A letter for each capture of a kernel (MelixCapture).
std::string captureKinds(const loops::Module& module, const loops::Function& kernel) {
  const loops::WrittenCaptures written(module, kernel);
  std::string out;
  for (loops::ValueId p : std::span(kernel.params()).subspan(2)) {
    const bool isArray = kernel.typeOf(p).cls == loops::ClassKind::Data;
    const MelixCapture ofArray = written.contains(p) ? MELIX_CAPTURE_WRITTEN : MELIX_CAPTURE_READ;
    out += static_cast<char>(isArray ? ofArray : MELIX_CAPTURE_NUMBER);
  }
  return out;
}

} // namespace

llvm::Constant* deviceKernel(ModuleEmitter& m, loops::FunctionId id) {
  const loops::Function& kernel = m.unit.module.functions[id];
  const std::string name = "kernel." + kernel.key;
  if (llvm::GlobalVariable* made = m.llvm->getNamedGlobal(name)) return made;
  const std::string captures = captureKinds(m.unit.module, kernel);
  llvm::Constant* record = llvm::ConstantStruct::getAnon({m.functionOf(id), m.cString(captures),
                                                          llvm::ConstantInt::get(m.i64(), captures.size()),
                                                          llvm::ConstantInt::get(m.i64(), 0)});
  return new llvm::GlobalVariable(*m.llvm, record->getType(), false, llvm::GlobalValue::InternalLinkage,
                                  record, name);
}

/// Letters, digits and `_` of the key; its number makes the name unique.
std::string deviceEntryName(const loops::Module& module, loops::FunctionId kernel) {
  std::string name = module.functions[kernel].key;
  for (char& c : name)
    if (!llvm::isAlnum(c)) c = '_';
  if (llvm::isDigit(name[0])) name.insert(0, "_");
  return name + "$" + std::to_string(kernel.index);
}

llvm::Function* declareDeviceEntry(ModuleEmitter& m, loops::FunctionId kernel) {
  const size_t captures = m.unit.module.functions[kernel].params().size() - loops::boundOperands;
  const std::vector<llvm::Type*> params(1 + captures, m.i64());
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(m.context), params, false);
  auto* made = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                      deviceEntryName(m.unit.module, kernel), *m.llvm);
  made->setCallingConv(llvm::CallingConv::PTX_Kernel);
  return made;
}

} // namespace melix::codegen
