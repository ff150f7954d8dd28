#include "codegen/device_kernels.h"

#include "loops/analysis/written_captures.h"
#include "melix/abi.h"

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

} // namespace melix::codegen
