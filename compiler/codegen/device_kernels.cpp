#include "codegen/device_kernels.h"

#include "melix/abi.h"

#include <span>
#include <unordered_set>

namespace melix::codegen {
namespace {

using loops::StmtKind;

/// The captures of a kernel of which it may write elements: those whose data or addresses it uses for more
/// than reads. All where it does so with memory of which this does not say whose it is.
class WrittenCaptures {
public:
  WrittenCaptures(const loops::Module& module, const loops::Function& kernel)
      : module_(module), kernel_(kernel) {
    for (const loops::Stmt& s : kernel.stmts)
      for (size_t k = 0; k < s.operands.size(); ++k)
        if (kernel.typeOf(s.operands[k]).cls != loops::ClassKind::Scalar && !onlyReads(s, k))
          note(s.operands[k]);
  }
  bool contains(loops::ValueId param) const { return all_ || written_.contains(param); }

private:
  /// Whether a statement reads what the operand points to, or makes an address of it, which is looked at by
  /// itself.
  bool onlyReads(const loops::Stmt& s, size_t operand) const {
    switch (s.kind) {
    case StmtKind::Load:
    case StmtKind::AddressOf:
    case StmtKind::PointerOf:
    case StmtKind::KeepAlive: return true;
    case StmtKind::CopyBytes: return operand == 1;
    case StmtKind::Call: return isReadOnly(module_.functions[s.as<loops::FunctionId>()].modeOf(operand));
    default: return false;
    }
  }
  void note(loops::ValueId v) {
    const loops::StmtId def = kernel_.values[v].def;
    if (!def.valid()) {
      written_.insert(v);
      all_ |= kernel_.values[v].region != kernel_.body;
      return;
    }
    const loops::Stmt& s = kernel_.stmts[def];
    if (s.kind == StmtKind::AddressOf || s.kind == StmtKind::PointerOf)
      note(s.operands[0]);
    else if (s.kind != StmtKind::FrameArray && s.kind != StmtKind::Scratch)
      all_ = true;
  }

  const loops::Module& module_;
  const loops::Function& kernel_;
  std::unordered_set<loops::ValueId> written_;
  bool all_ = false;
};

/// A letter for each capture of a kernel (MelixCapture).
std::string captureKinds(const loops::Module& module, const loops::Function& kernel) {
  const WrittenCaptures written(module, kernel);
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
