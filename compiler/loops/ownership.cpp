#include "loops/ownership.h"

namespace melix::loops {

bool consumes(const Module& module, const Stmt& stmt, size_t operand) {
  switch (stmt.kind) {
  case StmtKind::Drop:
  case StmtKind::EnsureUnique:
  case StmtKind::Yield:
  case StmtKind::While: return true;
  case StmtKind::For: return operand >= 2;
  case StmtKind::Store: return operand + 1 == stmt.operands.size() && operand > 0 && !stmt.as<Access>().lend;
  case StmtKind::Call: {
    const std::vector<ModeKind>& modes = module.functions[stmt.as<FunctionId>()].modes;
    return operand < modes.size() && modes[operand] == ModeKind::Own;
  }
  default: return false;
  }
}

void inferModes(Module& module) {
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    fn.modes.resize(fn.params().size(), ModeKind::Borrow);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t f = 0; f < module.functions.size(); ++f) {
      Function& fn = module.functions[FunctionId(f)];
      for (const Stmt& stmt : fn.stmts)
        for (size_t k = 0; k < stmt.operands.size(); ++k) {
          const Value& v = fn.values[stmt.operands[k]];
          if (v.def || v.region != fn.body || !v.type.counted() || !consumes(module, stmt, k)) continue;
          for (size_t p = 0; p < fn.params().size(); ++p)
            if (fn.params()[p] == stmt.operands[k] && fn.modes[p] == ModeKind::Borrow) {
              fn.modes[p] = ModeKind::Own;
              changed = true;
            }
        }
    }
  }
}

} // namespace melix::loops
