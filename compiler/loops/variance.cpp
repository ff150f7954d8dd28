#include "loops/variance.h"

#include "loops/build.h"

#include <algorithm>
#include <bit>

namespace melix::loops {

using core::OpKind;
using enum VarianceKind;

Variance::Variance(const Function& fn, const Stmt& loop) : fn_(fn) {
  const std::vector<ValueId>& params = fn.regions[loop.regions[0]].params;
  raise(params[0], Affine);
  strip_ = loop.as<ForAttr>().strip;
  if (strip_ > 0 && isMultipleOf(fn, loop.operands[0], strip_)) index_ = params[0];
  raiseAll(std::span(params).subspan(1), Varying);
  solve(loop.regions[0]);
}

Variance::Variance(const Function& fn, std::span<const VarianceKind> params) : fn_(fn) {
  for (size_t k = 0; k < params.size(); ++k) raise(fn.params()[k], params[k]);
  solve(fn.body);
}

bool Variance::allUniform(std::span<const ValueId> vs) const {
  return std::ranges::all_of(vs, [this](ValueId v) { return isUniform(v); });
}

/// Until nothing is raised any more: each value is twice at most.
void Variance::solve(RegionId body) {
  do {
    changed_ = false;
    region(body);
  } while (changed_);
}

void Variance::raise(ValueId v, VarianceKind kind) {
  if (kind == Uniform || of(v) >= kind) return;
  kinds_[v] = kind;
  changed_ = true;
}

void Variance::raiseAll(std::span<const ValueId> vs, VarianceKind kind) {
  for (ValueId v : vs) raise(v, kind);
}

void Variance::region(RegionId r) {
  for (StmtId id : fn_.regions[r].stmts) statement(fn_.stmts[id]);
}

void Variance::statement(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::Scalar: return raise(s.results[0], scalar(s));
  case StmtKind::If:
  case StmtKind::Switch: return branches(s);
  case StmtKind::For: return forLoop(s);
  case StmtKind::While: return whileLoop(s);
  default:
    for (RegionId r : s.regions) region(r);
    if (!allUniform(s.operands)) raiseAll(s.results, Varying);
  }
}

VarianceKind Variance::scalar(const Stmt& s) const {
  if (allUniform(s.operands)) return Uniform;
  const auto& attr = s.as<ScalarAttr>();
  if (attr.from != TypeKind::I64) return Varying;
  const bool none = std::ranges::none_of(s.operands, [this](ValueId v) { return of(v) == Varying; });
  switch (attr.op) {
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Neg: return none ? Affine : Varying;
  case OpKind::Mul: return none && (isUniform(s.operands[0]) || isUniform(s.operands[1])) ? Affine : Varying;
  case OpKind::And: return isInStrip(s) ? Affine : Varying;
  default: return Varying;
  }
}

/// Lanes are in one strip: none is beyond the end of it.
bool Variance::isInStrip(const Stmt& s) const {
  const uint64_t* mask = asConstant(fn_, s.operands[1]);
  return s.operands[0] == index_ && mask && std::has_single_bit(*mask + 1) && *mask + 1 >= strip_;
}

/// Lanes that take different branches get different values.
void Variance::branches(const Stmt& s) {
  for (RegionId r : s.regions) region(r);
  const bool varies = !isUniform(s.operands[0]);
  for (size_t k = 0; k < s.results.size(); ++k) {
    const bool same = std::ranges::all_of(
        s.regions, [&](RegionId r) { return isUniform(fn_.stmts[fn_.regions[r].stmts.back()].operands[k]); });
    if (varies || !same) raise(s.results[k], Varying);
  }
}

void Variance::carry(ValueId param, ValueId first, ValueId next, bool varies) {
  if (varies || !isUniform(first) || !isUniform(next)) raise(param, Varying);
}

/// Lanes whose ends differ are done at different turns.
void Variance::forLoop(const Stmt& s) {
  const Region& body = fn_.regions[s.regions[0]];
  raise(body.params[0], of(s.operands[0]));
  const bool varies = !isUniform(s.operands[0]) || !isUniform(s.operands[1]);
  region(s.regions[0]);
  const std::vector<ValueId>& next = fn_.stmts[body.stmts.back()].operands;
  for (size_t k = 0; k < s.results.size(); ++k) {
    carry(body.params[k + 1], s.operands[k + 2], next[k], varies);
    raise(s.results[k], of(body.params[k + 1]));
  }
}

void Variance::whileLoop(const Stmt& s) {
  const Region &test = fn_.regions[s.regions[0]], &body = fn_.regions[s.regions[1]];
  region(s.regions[0]);
  region(s.regions[1]);
  const bool varies = !allUniform(fn_.stmts[test.stmts.back()].operands);
  const std::vector<ValueId>& next = fn_.stmts[body.stmts.back()].operands;
  for (size_t k = 0; k < s.results.size(); ++k) {
    carry(body.params[k], s.operands[k], next[k], varies);
    raise(test.params[k], of(body.params[k]));
    raise(s.results[k], of(body.params[k]));
  }
}

} // namespace melix::loops
