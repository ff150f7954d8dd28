#include "codegen/units.h"

#include <set>

namespace melix::codegen {

using loops::FunctionId;

namespace {

/// Statements after which a unit ends: below, a thread and a module of its own cost more than they save.
constexpr size_t unitStatements = 4096;

/// The copies that `f` needs, and what these need.
void collectCopies(const loops::Module& module, FunctionId f, std::set<FunctionId>& copies) {
  for (const loops::Stmt& s : module.functions[f].stmts) {
    if (s.kind != loops::StmtKind::Call) continue;
    auto callee = s.as<FunctionId>();
    if (isCopied(module.functions[callee]) && copies.insert(callee).second)
      collectCopies(module, callee, copies);
  }
}

void finish(Unit& unit) {
  std::set<FunctionId> copies;
  for (FunctionId f : unit.functions) collectCopies(unit.module, f, copies);
  unit.copies.assign(copies.begin(), copies.end());
}

} // namespace

bool isCopied(const loops::Function& fn) { return fn.inlined && fn.closed && !fn.exported; }

Unit wholeModule(const loops::Module& module) {
  Unit unit{module, {}, {}};
  for (uint32_t k = 0; k < module.functions.size(); ++k)
    if (!isCopied(module.functions[FunctionId(k)])) unit.functions.push_back(FunctionId(k));
  finish(unit);
  unit.alone = true;
  return unit;
}

std::vector<Unit> unitsOf(const loops::Module& module) {
  std::vector<Unit> units{Unit{module, {}, {}}};
  size_t statements = 0;
  for (FunctionId f : wholeModule(module).functions) {
    if (statements >= unitStatements) {
      units.push_back({module, {}, {}});
      statements = 0;
    }
    units.back().functions.push_back(f);
    statements += module.functions[f].stmts.size();
  }
  for (Unit& unit : units) {
    finish(unit);
    unit.alone = units.size() == 1;
  }
  return units;
}

} // namespace melix::codegen
