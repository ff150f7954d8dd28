#pragma once
#include "loops/ir/ir.h"

namespace melix::harness {

/// Every launch takes long, as far as the program knows: it goes to the pool, in as many chunks as there may
/// be.
inline void makeLaunchesLong(loops::Module& module) {
  for (loops::Function& fn : module.functions)
    for (uint32_t s = 0, count = static_cast<uint32_t>(fn.stmts.size()); s < count; ++s) {
      if (fn.stmts[loops::StmtId(s)].kind != loops::StmtKind::Launch) continue;
      const loops::StmtId constant =
          fn.stmts.add({loops::StmtKind::Const, {}, {}, {}, {}, uint64_t(1'000'000'000)});
      const loops::ValueId work = fn.values.add({loops::indexType, constant, fn.body});
      fn.stmts[constant].results = {work};
      std::vector<loops::StmtId>& body = fn.regions[fn.body].stmts;
      body.insert(body.begin(), constant);
      fn.stmts[loops::StmtId(s)].operands[1] = work;
    }
}

} // namespace melix::harness
