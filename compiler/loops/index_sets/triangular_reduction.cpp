#include "loops/index_sets/triangular_reduction.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/iteration_bounds.h"
#include "loops/ir/clone.h"

#include <algorithm>

namespace melix::loops {
namespace {

constexpr uint64_t fewTermsOfSum = 16;

bool isNumberOrYield(const Stmt& s) { return isNumber(s) || s.kind == StmtKind::Yield; }
bool onlyReads(const Function& fn, RegionId r) {
  return std::ranges::all_of(fn.regions[r].stmts, [&](StmtId id) {
    const Stmt& s = fn.stmts[id];
    return isNumberOrYield(s) || (s.kind == StmtKind::If && std::ranges::all_of(s.regions, [&](RegionId arm) {
                                    return onlyReads(fn, arm);
                                  }));
  });
}
const std::vector<ValueId>& yieldsOf(const Function& fn, RegionId r) {
  return fn.stmts[fn.regions[r].stmts.back()].operands;
}

/// The only branch of a chain, if there is one.
std::optional<StmtId> onlyBranch(const Function& fn, StmtId chain) {
  const std::vector<StmtId> branches = branchesOf(fn, chain);
  return branches.size() == 1 ? std::optional(branches[0]) : std::nullopt;
}

/// Conditions of a branch that bound the iterations of each row, all columns alike; none if none differs
/// between rows.
std::vector<ValueId> boundsOf(Function& fn, StmtId chain, StmtId branch, const Variance& rows,
                              const Variance& columns) {
  Builder b(fn);
  b.begin();
  MaskRange range(b, chain);
  std::vector<ValueId> out;
  bool any = false;
  for (ValueId v : conjuncts(fn, fn.stmts[branch].operands[0]))
    if (columns.isUniform(v) && range.take(iterationBound(fn, chain, v).compared)) {
      out.push_back(v);
      any |= !rows.isUniform(v);
    }
  b.end();
  return any ? out : std::vector<ValueId>();
}

/// The branch asks for the rest of its condition inside of another, which asks for `bounds`.
void nest(Function& fn, StmtId chain, StmtId branch, const std::vector<ValueId>& bounds) {
  const RegionId body = fn.stmts[chain].regions[0];
  const Stmt old = fn.stmts[branch];
  std::vector<ValueType> types;
  for (ValueId v : old.results) types.push_back(fn.typeOf(v));
  Builder b(fn);
  b.loc = old.loc;
  const RegionId made = b.begin();
  auto all = [&](const std::vector<ValueId>& of) {
    ValueId holds = of[0];
    for (size_t k = 1; k < of.size(); ++k) holds = b.both(holds, of[k]);
    return holds;
  };
  std::vector<ValueId> rest = conjuncts(fn, old.operands[0]);
  std::erase_if(rest, [&](ValueId v) { return std::ranges::find(bounds, v) != bounds.end(); });
  const ValueId outer = all(bounds), inner = all(rest);
  const RegionId no = b.begin();
  Copies copies;
  const std::vector<StmtId> otherwise = fn.regions[old.regions[1]].stmts;
  for (StmtId id : std::span(otherwise).first(otherwise.size() - 1)) clone(b, id, copies);
  b.end(copies.of(yieldsOf(fn, old.regions[1])));
  const RegionId yes = b.begin();
  const StmtId within = b.stmt(StmtKind::If, {inner}, types, old.attr, old.regions);
  b.end(b.results(within));
  b.end();
  splice(fn, made, body, placeOf(fn, body, branch));
  fn.stmts[branch].operands[0] = outer;
  fn.stmts[branch].regions = {yes, no};
}

} // namespace

std::vector<StmtId> branchesOf(const Function& fn, StmtId chain) {
  const Stmt& loop = fn.stmts[chain];
  const std::optional<uint64_t> tripCount = constantTripCount(fn, loop);
  const RegionId body = loop.regions[0];
  if (loop.results.empty() || loop.as<ForAttr>().unrollJam > 1 ||
      (tripCount && *tripCount <= fewTermsOfSum) || !onlyReads(fn, body))
    return {};
  std::vector<StmtId> branches;
  for (StmtId id : fn.regions[body].stmts)
    if (fn.stmts[id].kind == StmtKind::If) branches.push_back(id);
  const std::vector<ValueId>&params = fn.regions[body].params, &yields = yieldsOf(fn, body);
  auto goesOn = [&](size_t k) {
    if (yields[k] == params[k + 1]) return true;
    return std::ranges::any_of(branches, [&](StmtId branch) {
      const Stmt& s = fn.stmts[branch];
      const auto at = std::ranges::find(s.results, yields[k]);
      return at != s.results.end() &&
             yieldsOf(fn, s.regions[1])[static_cast<size_t>(at - s.results.begin())] == params[k + 1];
    });
  };
  for (size_t k = 0; k < yields.size(); ++k)
    if (!goesOn(k)) return {};
  return branches;
}

IterationBound iterationBound(const Function& fn, StmtId chain, ValueId condition) {
  const StmtId def = fn.values[condition].def;
  if (!def.valid() || fn.stmts[def].kind != StmtKind::Scalar) return {condition, {}};
  const Stmt& s = fn.stmts[def];
  if (s.as<ScalarAttr>().op != core::OpKind::Or || s.as<ScalarAttr>().from != TypeKind::Bool)
    return {condition, {}};
  const std::unordered_set<RegionId> inside = regionsWithin(fn, fn.stmts[chain].regions[0]);
  for (size_t k : {0, 1})
    if (!inside.contains(fn.values[s.operands[k]].region)) return {s.operands[1 - k], s.operands[k]};
  return {condition, {}};
}

std::optional<StmtId> narrowBranch(Function& fn, StmtId chain, const Variance& rows,
                                   const Variance& columns) {
  const std::optional<StmtId> branch = onlyBranch(fn, chain);
  if (!branch) return std::nullopt;
  const size_t all = conjuncts(fn, fn.stmts[*branch].operands[0]).size();
  return boundsOf(fn, chain, *branch, rows, columns).size() == all ? branch : std::nullopt;
}

bool narrowChain(Function& fn, StmtId chain, const Variance& rows, const Variance& columns) {
  const std::optional<StmtId> branch = onlyBranch(fn, chain);
  if (!branch) return false;
  const std::vector<ValueId> bounds = boundsOf(fn, chain, *branch, rows, columns);
  if (bounds.empty()) return false;
  if (bounds.size() < conjuncts(fn, fn.stmts[*branch].operands[0]).size()) nest(fn, chain, *branch, bounds);
  return true;
}

} // namespace melix::loops
