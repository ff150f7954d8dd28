#include "codegen/units.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace melix::codegen {

using loops::FunctionId;

namespace {

/// Statements after which a unit ends: below, a thread and a module of its own cost more than they save.
constexpr size_t unitStatements = 384;

/// The copies that `f` needs, and what these need.
void collectCopies(const loops::Module& module, FunctionId f, std::set<FunctionId>& copies) {
  for (const loops::Stmt& s : module.functions[f].stmts) {
    if (s.kind != loops::StmtKind::Call) continue;
    auto callee = s.as<FunctionId>();
    if (isCopied(module.functions[callee]) && copies.insert(callee).second)
      collectCopies(module, callee, copies);
  }
}

/// The functions that are no copies, up to each that begins another unit.
template <class Begins>
std::vector<Unit> cut(const loops::Module& module, const Begins& begins) {
  std::vector<Unit> units{Unit{module, {}, {}}};
  for (uint32_t k = 0; k < module.functions.size(); ++k) {
    const FunctionId f(k);
    if (isCopied(module.functions[f])) continue;
    if (begins(module.functions[f])) units.push_back({module, {}, {}});
    units.back().functions.push_back(f);
  }
  for (Unit& unit : units) {
    std::set<FunctionId> copies;
    for (FunctionId f : unit.functions) collectCopies(module, f, copies);
    unit.copies.assign(copies.begin(), copies.end());
    unit.alone = units.size() == 1;
  }
  return units;
}

} // namespace

std::vector<FunctionId> Unit::all() const {
  std::vector<FunctionId> out = functions;
  out.insert(out.end(), copies.begin(), copies.end());
  return out;
}

size_t Unit::statements() const {
  size_t sum = 0;
  for (FunctionId f : all()) sum += module.functions[f].stmts.size();
  return sum;
}

bool isCopied(const loops::Function& fn) { return fn.inlined && fn.isClosed() && !fn.exported; }

Unit wholeModule(const loops::Module& module) {
  return cut(module, [](const loops::Function&) { return false; }).front();
}

namespace {

void collectCallees(const loops::Module& module, FunctionId f, std::set<FunctionId>& all) {
  if (!all.insert(f).second) return;
  for (const loops::Stmt& s : module.functions[f].stmts)
    if (s.kind == loops::StmtKind::Call) collectCallees(module, s.as<FunctionId>(), all);
}

} // namespace

Unit deviceUnit(const loops::Module& module) {
  std::set<FunctionId> all;
  for (FunctionId f(0); f.index < module.functions.size(); ++f.index)
    if (module.functions[f].kind == loops::FunctionKind::Device) collectCallees(module, f, all);
  Unit unit{module, {}, {}, true};
  for (FunctionId f : all) (isCopied(module.functions[f]) ? unit.copies : unit.functions).push_back(f);
  return unit;
}

std::vector<size_t> longestFirst(const std::vector<Unit>& units) {
  std::vector<size_t> out(units.size());
  std::iota(out.begin(), out.end(), size_t(0));
  std::ranges::stable_sort(out, std::greater(), [&](size_t k) { return units[k].statements(); });
  return out;
}

std::vector<Unit> unitsOf(const loops::Module& module) {
  size_t statements = 0;
  return cut(module, [&](const loops::Function& fn) {
    const bool isFull = statements >= unitStatements;
    statements = (isFull ? 0 : statements) + fn.stmts.size();
    return isFull;
  });
}

} // namespace melix::codegen
