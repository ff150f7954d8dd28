#include "loops/analysis/variance.h"

#include "loops/ir/build.h"

#include <algorithm>
#include <array>
#include <bit>

namespace melix::loops {

using core::OpKind;
using enum VarianceKind;

Variance::Variance(const Function& fn, const Stmt& loop, FramesKind frames)
    : fn_(fn), frames_(frames), kinds_(fn.values.size(), Uniform) {
  const std::vector<ValueId>& params = fn.regions[loop.regions[0]].params;
  raise(params[0], Affine);
  strip_ = loop.as<ForAttr>().minDistance;
  if (strip_ > 0 && isMultipleOf(fn, loop.operands[0], strip_)) index_ = params[0];
  raiseAll(std::span(params).subspan(1), Varying);
  solve(loop.regions[0]);
}

Variance::Variance(const Function& fn, std::span<const VarianceKind> params)
    : fn_(fn), kinds_(fn.values.size(), Uniform) {
  for (size_t k = 0; k < params.size(); ++k) raise(fn.params()[k], params[k]);
  solve(fn.body);
}

bool Variance::allUniform(std::span<const ValueId> vs) const {
  return std::ranges::all_of(vs, [this](ValueId v) { return isUniform(v); });
}

/// In order; what loops carry may be raised after what uses it was looked at, and goes on from use to use:
/// each value is raised twice at most.
void Variance::solve(RegionId body) {
  inOrder_ = true;
  region(body);
  inOrder_ = false;
  if (late_.empty()) return;
  noteUses(body);
  std::ranges::stable_sort(uses_, {}, &Use::from);
  while (!late_.empty()) {
    const ValueId v = late_.back();
    late_.pop_back();
    for (const Use& use : std::ranges::equal_range(uses_, v, {}, &Use::from))
      use.stmt.valid() ? plain(fn_.stmts[use.stmt]) : raise(use.value, Varying);
  }
  uses_ = {};
}

void Variance::raise(ValueId v, VarianceKind kind) {
  if (kind == Uniform || of(v) >= kind) return;
  kinds_[v.index] = kind;
  if (!inOrder_) late_.push_back(v);
}

void Variance::raiseLate(ValueId param, bool varies) {
  if (!varies || of(param) == Varying) return;
  kinds_[param.index] = Varying;
  late_.push_back(param);
}

void Variance::raiseAll(std::span<const ValueId> vs, VarianceKind kind) {
  for (ValueId v : vs) raise(v, kind);
}

void Variance::region(RegionId r) {
  for (StmtId id : fn_.regions[r].stmts) statement(fn_.stmts[id]);
}

void Variance::statement(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::If:
  case StmtKind::Switch: return branches(s);
  case StmtKind::For: return forLoop(s);
  case StmtKind::While: return whileLoop(s);
  default:
    for (RegionId r : s.regions) region(r);
    plain(s);
  }
}

/// A statement that does the same each time.
void Variance::plain(const Stmt& s) {
  if (s.kind == StmtKind::Scalar) return raise(s.results[0], scalar(s));
  if (s.kind == StmtKind::Scratch && frames_ == FramesKind::OfEach) return raise(s.results[0], Varying);
  const bool isKnown = s.results.empty() || of(s.results[0]) == Varying;
  if (!isKnown && !allUniform(s.operands)) raiseAll(s.results, Varying);
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
    const bool same = std::ranges::all_of(s.regions, [&](RegionId r) { return isUniform(yields(r)[k]); });
    if (varies || !same) raise(s.results[k], Varying);
  }
}

/// Lanes whose ends differ are done at different iterations.
void Variance::forLoop(const Stmt& s) {
  const std::vector<ValueId>& params = fn_.regions[s.regions[0]].params;
  raise(params[0], of(s.operands[0]));
  const bool varies = !isUniform(s.operands[0]) || !isUniform(s.operands[1]);
  for (size_t k = 0; k < s.results.size(); ++k)
    if (varies || !isUniform(s.operands[k + 2])) raise(params[k + 1], Varying);
  region(s.regions[0]);
  for (size_t k = 0; k < s.results.size(); ++k) {
    raiseLate(params[k + 1], !isUniform(yields(s.regions[0])[k]));
    raise(s.results[k], of(params[k + 1]));
  }
}

/// Lanes that stop at different iterations.
void Variance::whileLoop(const Stmt& s) {
  const std::vector<ValueId>&tested = fn_.regions[s.regions[0]].params,
        &params = fn_.regions[s.regions[1]].params;
  for (size_t k = 0; k < s.results.size(); ++k)
    if (!isUniform(s.operands[k])) raiseAll(std::array{params[k], tested[k]}, Varying);
  region(s.regions[0]);
  region(s.regions[1]);
  const bool varies = !allUniform(yields(s.regions[0]));
  for (size_t k = 0; k < s.results.size(); ++k) {
    const bool later = varies || !isUniform(yields(s.regions[1])[k]);
    raiseLate(params[k], later);
    raiseLate(tested[k], later);
    raise(s.results[k], of(params[k]));
  }
}

// --- what follows from what
// ----------------------------------------------------------------------------------------------------------

void Variance::noteUses(RegionId r) {
  for (StmtId id : fn_.regions[r].stmts) noteUses(id);
}

void Variance::noteUses(StmtId id) {
  const Stmt& s = fn_.stmts[id];
  for (RegionId r : s.regions) noteUses(r);
  auto varies = [this](ValueId from, std::span<const ValueId> to) {
    for (ValueId v : to) uses_.push_back({from, {}, v});
  };
  switch (s.kind) {
  case StmtKind::If:
  case StmtKind::Switch:
    varies(s.operands[0], s.results);
    for (RegionId r : s.regions)
      for (size_t k = 0; k < s.results.size(); ++k) varies(yields(r)[k], {&s.results[k], 1});
    return;
  case StmtKind::For: {
    const std::span<const ValueId> params = fn_.regions[s.regions[0]].params;
    varies(s.operands[0], params);
    varies(s.operands[1], params.subspan(1));
    return noteCarries(s, 2, s.regions[0]);
  }
  case StmtKind::While: {
    const std::vector<ValueId>&tested = fn_.regions[s.regions[0]].params,
          &params = fn_.regions[s.regions[1]].params;
    for (ValueId v : yields(s.regions[0])) varies(v, params);
    for (size_t k = 0; k < params.size(); ++k) varies(params[k], {&tested[k], 1});
    return noteCarries(s, 0, s.regions[1]);
  }
  default:
    for (ValueId v : s.operands) uses_.push_back({v, id, {}});
  }
}

/// What goes into the values that a loop carries, and what comes out.
void Variance::noteCarries(const Stmt& s, size_t first, RegionId body) {
  const std::vector<ValueId>& params = fn_.regions[body].params;
  const size_t skipped = params.size() - s.results.size();
  for (size_t k = 0; k < s.results.size(); ++k) {
    const ValueId param = params[k + skipped];
    for (ValueId from : {s.operands[k + first], yields(body)[k]}) uses_.push_back({from, {}, param});
    uses_.push_back({param, {}, s.results[k]});
  }
}

} // namespace melix::loops
