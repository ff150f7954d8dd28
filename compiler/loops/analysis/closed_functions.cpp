#include "loops/analysis/closed_functions.h"

#include <algorithm>

namespace melix::loops {
namespace {

bool kindIsClosed(StmtKind kind) { return siteOf(kind) != SiteKind::Host; }

bool hasCheck(const Function& fn) {
  for (const Stmt& s : fn.stmts)
    if (s.kind == StmtKind::Check) return true;
  return false;
}

/// A loop that is to become a launch.
bool hasParallelLoop(const Function& fn) {
  for (const Stmt& s : fn.stmts)
    if (s.kind == StmtKind::For && s.as<ForAttr>().dependence == Dependence::None) return true;
  return false;
}

} // namespace

bool isClosed(const Module& module, const Function& fn, RegionId region) {
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    bool closed =
        kindIsClosed(s.kind) || (s.kind == StmtKind::Call && module.functions[s.as<FunctionId>()].isClosed());
    if (!closed) return false;
    for (RegionId r : s.regions)
      if (!isClosed(module, fn, r)) return false;
  }
  return true;
}

namespace {

bool isScalarType(ValueType type) { return type.cls == ClassKind::Scalar; }

/// What a function may do that its callers do not know of. What goes through a black box is done at each
/// call.
bool isEffectFree(const Stmt& s) { return kindIsClosed(s.kind) && s.kind != StmtKind::BlackBox; }

/// Whether a function is silent but for what it calls.
bool mayBeSilent(const Function& fn) {
  for (const Stmt& s : fn.stmts)
    if (s.kind != StmtKind::Call && s.kind != StmtKind::Panic && !isEffectFree(s)) return false;
  return std::ranges::all_of(fn.results, isScalarType) && !hasParallelLoop(fn) &&
         std::ranges::all_of(fn.modes, isReadOnly);
}

/// Whether a function is closed but for what it calls.
bool mayBeClosed(const Function& fn) {
  for (ValueId p : fn.params())
    if (fn.typeOf(p).counted()) return false;
  for (const Stmt& s : fn.stmts)
    if (s.kind != StmtKind::Call && !isEffectFree(s)) return false;
  return std::ranges::all_of(fn.results, isScalarType) && !hasCheck(fn) && !hasParallelLoop(fn);
}

/// Those of the functions that are open and call none but closed ones and each other.
void markSilent(Module& module, const std::vector<std::vector<FunctionId>>& callers) {
  std::vector<FunctionId> loud;
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    if (fn.isClosed()) continue;
    if (mayBeSilent(fn))
      fn.effects = EffectsKind::Silent;
    else
      loud.push_back(FunctionId(f));
  }
  while (!loud.empty()) {
    const FunctionId callee = loud.back();
    loud.pop_back();
    for (FunctionId caller : callers[callee.index])
      if (module.functions[caller].effects == EffectsKind::Silent) {
        module.functions[caller].effects = EffectsKind::Any;
        loud.push_back(caller);
      }
  }
}

} // namespace

bool ends(const Module& module, const Function& fn) {
  auto isSure = [](const Function& f) { return f.inlined || !f.source.valid(); };
  return fn.isClosed() &&
         (isSure(fn) || std::ranges::none_of(fn.stmts, [&](const Stmt& s) {
            return s.kind == StmtKind::While ||
                   (s.kind == StmtKind::Call && !isSure(module.functions[s.as<FunctionId>()]));
          }));
}

void inferEffects(Module& module) {
  // From below, each function once all that it calls are closed; recursion stays open, for it may use up the
  // stack.
  std::vector<std::vector<FunctionId>> callers(module.functions.size());
  std::vector<size_t> open(module.functions.size(), 0); // what keeps it from being closed, as far as is known
  std::vector<FunctionId> ready;
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    const Function& fn = module.functions[FunctionId(f)];
    open[f] = mayBeClosed(fn) ? 0 : 1;
    for (const Stmt& s : fn.stmts)
      if (s.kind == StmtKind::Call) {
        callers[s.as<FunctionId>().index].push_back(FunctionId(f));
        ++open[f];
      }
    if (open[f] == 0) ready.push_back(FunctionId(f));
  }
  while (!ready.empty()) {
    FunctionId closed = ready.back();
    ready.pop_back();
    module.functions[closed].effects = EffectsKind::Closed;
    for (FunctionId caller : callers[closed.index])
      if (--open[caller.index] == 0) ready.push_back(caller);
  }
  markSilent(module, callers);
}

} // namespace melix::loops
