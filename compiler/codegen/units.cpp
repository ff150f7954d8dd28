#include "codegen/units.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <span>

namespace melix::codegen {

using loops::FunctionId;

namespace {

/// Statements after which a unit ends: below, a thread and a module of its own cost more than they save.
constexpr size_t unitStatements = 384;
/// Kernels of an image: fewer take longer to load, more take memory and time for those that do not run.
constexpr size_t kernelsOfImage = 16;

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
std::vector<Unit> cut(const loops::Module& module, const std::set<FunctionId>& without,
                      const Begins& begins) {
  std::vector<Unit> units{Unit{module, {}, {}}};
  for (uint32_t k = 0; k < module.functions.size(); ++k) {
    const FunctionId f(k);
    if (isCopied(module.functions[f]) || without.contains(f)) continue;
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
  return cut(module, {}, [](const loops::Function&) { return false; }).front();
}

namespace {

void collectCallees(const loops::Module& module, FunctionId f, std::set<FunctionId>& all) {
  if (!all.insert(f).second) return;
  for (const loops::Stmt& s : module.functions[f].stmts)
    if (s.kind == loops::StmtKind::Call) collectCallees(module, s.as<FunctionId>(), all);
}

/// What kernels of a device call beside them.
std::set<FunctionId> withCallees(const loops::Module& module, std::span<const FunctionId> kernels) {
  std::set<FunctionId> all;
  for (FunctionId f : kernels) collectCallees(module, f, all);
  return all;
}

std::vector<FunctionId> deviceKernels(const loops::Module& module) {
  std::vector<FunctionId> out;
  for (FunctionId f(0); f.index < module.functions.size(); ++f.index)
    if (module.functions[f].kind == loops::FunctionKind::Device) out.push_back(f);
  return out;
}

Unit unitOfKernels(const loops::Module& module, std::span<const FunctionId> kernels) {
  Unit unit{module, {}, {}, true};
  for (FunctionId f : withCallees(module, kernels))
    (isCopied(module.functions[f]) ? unit.copies : unit.functions).push_back(f);
  return unit;
}

/// What only kernels of a device reach.
std::set<FunctionId> functionsOfDevices(const loops::Module& module) {
  std::set<FunctionId> ofHost;
  for (FunctionId f(0); f.index < module.functions.size(); ++f.index)
    if (const loops::Function& fn = module.functions[f];
        fn.kind != loops::FunctionKind::Device && (fn.exported || !fn.isClosed()))
      collectCallees(module, f, ofHost);
  std::set<FunctionId> out;
  for (FunctionId f : withCallees(module, deviceKernels(module)))
    if (!ofHost.contains(f)) out.insert(f);
  return out;
}

} // namespace

Unit deviceUnit(const loops::Module& module) { return unitOfKernels(module, deviceKernels(module)); }

std::vector<Unit> imagesOf(const loops::Module& module) {
  const std::vector<FunctionId> kernels = deviceKernels(module);
  std::vector<Unit> out;
  for (size_t begin = 0; begin < kernels.size(); begin += kernelsOfImage)
    out.push_back(unitOfKernels(
        module, std::span(kernels).subspan(begin, std::min(kernelsOfImage, kernels.size() - begin))));
  return out;
}

std::vector<size_t> longestFirst(const std::vector<Unit>& units) {
  std::vector<size_t> out(units.size());
  std::iota(out.begin(), out.end(), size_t(0));
  std::ranges::stable_sort(out, std::greater(), [&](size_t k) { return units[k].statements(); });
  return out;
}

std::vector<Unit> unitsOf(const loops::Module& module, bool emulates) {
  size_t statements = 0;
  const auto without = emulates ? std::set<FunctionId>() : functionsOfDevices(module);
  return cut(module, without, [&](const loops::Function& fn) {
    const bool isFull = statements >= unitStatements;
    statements = (isFull ? 0 : statements) + fn.stmts.size();
    return isFull;
  });
}

} // namespace melix::codegen
