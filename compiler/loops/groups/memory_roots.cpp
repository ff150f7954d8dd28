#include "loops/groups/memory_roots.h"

namespace melix::loops {

ValueId memoryOf(const Function& kernel, ValueId pointer) {
  for (;;) {
    const StmtId def = kernel.values[pointer].def;
    if (!def.valid()) return kernel.values[pointer].region == kernel.body ? pointer : ValueId();
    const Stmt& s = kernel.stmts[def];
    switch (s.kind) {
    case StmtKind::AddressOf:
    case StmtKind::PointerOf: pointer = s.operands[0]; break;
    case StmtKind::Scratch:
    case StmtKind::Shared:
    case StmtKind::FrameArray: return pointer;
    default: return {};
    }
  }
}

Touched touchedBy(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::Load: return {s.operands[0], {}};
  case StmtKind::Store:
  case StmtKind::ZeroBytes: return {{}, s.operands[0]};
  case StmtKind::CopyBytes: return {s.operands[1], s.operands[0]};
  default: return {};
  }
}

StmtId frameOf(const Function& kernel, ValueId root) { return kernel.values[root].def; }

} // namespace melix::loops
