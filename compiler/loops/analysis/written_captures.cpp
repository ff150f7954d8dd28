#include "loops/analysis/written_captures.h"

namespace melix::loops {

bool mayWriteOperand(const Module& module, const Function& fn, const Stmt& call, size_t operand) {
  const ModeKind mode = module.functions[call.as<FunctionId>()].modeOf(operand);
  const bool isAddress = fn.typeOf(call.operands[operand]).cls == ClassKind::Address;
  return isAddress ? mode != ModeKind::Elements : !isReadOnly(mode);
}

WrittenCaptures::WrittenCaptures(const Module& module, const Function& launched)
    : module_(module), launched_(launched) {
  for (const Stmt& s : launched.stmts)
    for (size_t k = 0; k < s.operands.size(); ++k)
      if (launched.typeOf(s.operands[k]).cls != ClassKind::Scalar && !onlyReads(s, k)) note(s.operands[k]);
}

/// Whether a statement reads what the operand points to, or makes an address of it, which is looked at by
/// itself.
bool WrittenCaptures::onlyReads(const Stmt& s, size_t operand) const {
  switch (s.kind) {
  case StmtKind::Load:
  case StmtKind::AddressOf:
  case StmtKind::PointerOf:
  case StmtKind::KeepAlive:
  case StmtKind::Retain:
  case StmtKind::Drop:
  case StmtKind::Format: return true;
  case StmtKind::Store: return operand + 1 == s.operands.size(); // the reference, not what it points to
  case StmtKind::CopyBytes: return operand == 1;
  case StmtKind::Call: return !mayWriteOperand(module_, launched_, s, operand);
  default: return false;
  }
}

/// Of which nobody else knows.
static bool makesMemory(StmtKind kind) {
  switch (kind) {
  case StmtKind::FrameArray:
  case StmtKind::Scratch:
  case StmtKind::Shared:
  case StmtKind::AllocArray:
  case StmtKind::AllocNode:
  case StmtKind::Format:
  case StmtKind::Text: return true;
  default: return false;
  }
}

void WrittenCaptures::note(ValueId v) {
  const StmtId def = launched_.values[v].def;
  if (!def.valid()) {
    written_.insert(v);
    all_ |= launched_.values[v].region != launched_.body;
    return;
  }
  const Stmt& s = launched_.stmts[def];
  if (s.kind == StmtKind::AddressOf || s.kind == StmtKind::PointerOf)
    note(s.operands[0]);
  else if (!makesMemory(s.kind))
    all_ = true;
}

/// Operands of a launch stand where the parameters do.
bool LaunchWrites::mayWrite(const Stmt& launch, size_t operand) {
  const FunctionId f = launch.as<FunctionId>();
  const WrittenCaptures& written = written_.try_emplace(f, module_, module_.functions[f]).first->second;
  return written.contains(module_.functions[f].params()[operand]);
}

} // namespace melix::loops
