#include "loops/lanes.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

bool isExact(OpKind op, TypeKind kind) {
  switch (op) {
  case OpKind::Add:
  case OpKind::Mul: return types::isIntKind(kind);
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::And:
  case OpKind::Or:
  case OpKind::Xor: return types::isIntKind(kind) || kind == TypeKind::Bool;
  default: return false;
  }
}

size_t usesOf(const Function& fn, RegionId region, ValueId v) {
  size_t uses = 0;
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    uses += static_cast<size_t>(std::ranges::count(s.operands, v));
    for (RegionId r : s.regions) uses += usesOf(fn, r, v);
  }
  return uses;
}

/// Looks for what no lane can do.
class Reader {
public:
  Reader(const Module& module, const Function& fn, const Variance& variance)
      : module_(module), fn_(fn), variance_(variance) {}

  bool canDo(RegionId r) const {
    return std::ranges::all_of(fn_.regions[r].stmts, [&](StmtId id) { return canDo(fn_.stmts[id]); });
  }

private:
  bool canDo(const Stmt& s) const {
    if (siteOf(s.kind) != SiteKind::Lane && s.kind != StmtKind::Call) return false;
    auto isFine = [&](ValueId v) { return !fn_.typeOf(v).counted() || variance_.isUniform(v); };
    if (!std::ranges::all_of(s.results, isFine)) return false;
    return isSideBySide(s) && std::ranges::all_of(s.regions, [&](RegionId r) { return canDo(r); });
  }

  bool isSideBySide(const Stmt& s) const {
    switch (s.kind) {
    case StmtKind::Load: return !fn_.typeOf(s.results[0]).counted();
    case StmtKind::Store: // one place for all lanes is a conflict
      return !fn_.typeOf(s.operands.back()).counted() &&
             !variance_.allUniform(std::span(s.operands).first(s.operands.size() - 1));
    case StmtKind::Call: return canCall(s);
    case StmtKind::For:
      return variance_.isUniform(s.operands[0]) && s.as<ForAttr>().mark != MarkKind::Parallel;
    default: return true;
    }
  }

  bool canCall(const Stmt& s) const {
    const Function& callee = module_.functions[s.as<FunctionId>()];
    if (!callee.inlined || !callee.closed) return false;
    return variance_.allUniform(s.operands) ||
           Reader(module_, callee, varianceOfCall(module_, s, variance_)).canDo(callee.body);
  }

  const Module& module_;
  const Function& fn_;
  const Variance& variance_;
};

} // namespace

Variance varianceOfCall(const Module& module, const Stmt& call, const Variance& caller) {
  std::vector<VarianceKind> params;
  for (ValueId v : call.operands)
    params.push_back(caller.isUniform(v) ? VarianceKind::Uniform : VarianceKind::Varying);
  return Variance(module.functions[call.as<FunctionId>()], params);
}

std::optional<ExactStep> exactStep(const Function& fn, const Stmt& loop, size_t k) {
  const RegionId body = loop.regions[0];
  const ValueId carried = fn.regions[body].params[k + 1];
  const ValueId next = fn.stmts[fn.regions[body].stmts.back()].operands[k];
  const StmtId def = fn.values[next].def;
  if (!def.valid() || fn.values[next].region != body || fn.stmts[def].kind != StmtKind::Scalar)
    return std::nullopt;
  const Stmt& step = fn.stmts[def];
  const auto& attr = step.as<ScalarAttr>();
  if (!isExact(attr.op, attr.from) || usesOf(fn, body, carried) != 1 || usesOf(fn, body, next) != 1)
    return std::nullopt;
  for (size_t side : {0, 1})
    if (step.operands[side] == carried) return ExactStep{attr.op, step.operands[1 - side], attr.from};
  return std::nullopt;
}

bool writesToFrame(const Function& fn, RegionId region) {
  return std::ranges::any_of(fn.regions[region].stmts, [&](StmtId id) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::Store) {
      const StmtId base = fn.values[s.operands[0]].def;
      if (base.valid() && fn.stmts[base].kind == StmtKind::Scratch) return true;
    }
    return std::ranges::any_of(s.regions, [&](RegionId r) { return writesToFrame(fn, r); });
  });
}

bool canWiden(const Module& module, const Function& fn, const Stmt& loop) {
  if (loop.kind != StmtKind::For || loop.as<ForAttr>().mark != MarkKind::Points) return false;
  for (size_t k = 0; k < loop.results.size(); ++k)
    if (!exactStep(fn, loop, k)) return false;
  const Variance variance(fn, loop);
  return Reader(module, fn, variance).canDo(loop.regions[0]);
}

} // namespace melix::loops
