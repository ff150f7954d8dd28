#include "loops/index_sets/split_predicated.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/iteration_bounds.h"
#include "loops/index_sets/interchange_masked_reduction.h"
#include "loops/index_sets/skip_masked_rows.h"
#include "loops/index_sets/split_reduction_range.h"
#include "loops/index_sets/triangular_reduction.h"
#include "loops/index_sets/trim_vector_reduction.h"
#include "loops/ir/clone.h"

#include <algorithm>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

/// Branches in a region and the region that each stands in.
void branchesWithin(const Function& fn, RegionId r, std::vector<std::pair<StmtId, RegionId>>& out) {
  for (StmtId id : fn.regions[r].stmts) {
    if (fn.stmts[id].kind == StmtKind::If) out.emplace_back(id, r);
    for (RegionId inner : fn.stmts[id].regions) branchesWithin(fn, inner, out);
  }
}

// --- rows in pieces
// ----------------------------------------------------------------------------------------------------------

/// Rows that are so few blocks are not cut: between ends most of what is left would be single ones.
constexpr int64_t fewBlocks = 2;

/// What stands before the rows at which masks hold, which are the loop itself then; none where the rows
/// stay as they are. Rows that the running program finds to be few stand there, all of them.
std::optional<RegionId> cutRows(Function& fn, StmtId loop) {
  const int64_t few = fewBlocks * fn.stmts[loop].as<ForAttr>().unrollJam;
  const std::optional<uint64_t> known = constantTripCount(fn, fn.stmts[loop]);
  if (known && *known <= static_cast<uint64_t>(few)) return std::nullopt;
  Builder b(fn);
  b.loc = fn.stmts[loop].loc;
  const RegionId front = b.begin();
  MaskRange range(b, loop);
  std::vector<std::pair<StmtId, RegionId>> branches;
  branchesWithin(fn, fn.stmts[loop].regions[0], branches);
  std::unordered_set<ValueId> taken;
  for (auto [branch, home] : branches)
    for (ValueId v : conjuncts(fn, fn.stmts[branch].operands[0]))
      if (!taken.contains(v) && range.take(v)) taken.insert(v);
  if (taken.empty()) {
    b.end();
    return std::nullopt;
  }
  const std::vector<ValueId> ends = fn.stmts[loop].operands;
  const ValueId tripCount = b.arith(OpKind::Sub, ends[1], ends[0]);
  const ValueId areFew = b.compare(ops::CmpKind::Le, tripCount, b.integer(few));
  MaskRange::Rows rows = range.rows();
  rows = {b.select(areFew, ends[1], rows.first), b.select(areFew, ends[1], rows.end)};
  b.carryLoop(b.integer(0), b.integer(2), {}, [&](ValueId end, const std::vector<ValueId>& none) {
    const ValueId isFirst = b.compare(ops::CmpKind::Eq, end, b.integer(0));
    Copies copies;
    fn.stmts[loop].operands = {b.select(isFirst, ends[0], rows.end), b.select(isFirst, rows.first, ends[1])};
    clone(b, loop, copies);
    return none;
  });
  b.end();
  fn.stmts[loop].operands = {rows.first, rows.end};
  std::ranges::reverse(branches); // inner ones first: an outer one may go
  for (auto [branch, home] : branches)
    dropProvenConjuncts(fn, branch, home, [&](ValueId v) { return taken.contains(v); });
  return front;
}

// --- sums under a mask
// ----------------------------------------------------------------------------------------------------------

/// Leaves sums of one contraction out as a whole where their masks say so.
class SumMasks {
public:
  SumMasks(const Module& module, Function& fn, const Contraction& found)
      : module_(module), fn_(fn), found_(found) {}

  void run() {
    for (size_t k = found_.sums.size(); k-- > 0;) {
      const StmtId outer = k > 0 ? found_.sums[k - 1] : found_.columns;
      if (!leaveOut(k, fn_.stmts[outer].regions[0])) return;
    }
  }

  /// Whether an iteration of the innermost sum in which the branch is not taken changes nothing.
  bool keepsInnermost(StmtId branch) const { return keepsCarries(found_.sums.size() - 1, branch); }

private:
  RegionId bodyOf(StmtId loop) const { return fn_.stmts[loop].regions[0]; }
  const std::vector<ValueId>& yieldsOf(RegionId r) const {
    return fn_.stmts[fn_.regions[r].stmts.back()].operands;
  }

  /// Whether the sum of a level is under a mask now.
  bool leaveOut(size_t level, RegionId home) {
    const StmtId sum = found_.sums[level];
    const std::optional<StmtId> branch = onlyBranch(bodyOf(sum));
    if (!branch || !keepsCarries(level, *branch)) return false;
    const Variance rows(fn_, fn_.stmts[found_.rows()]), columns(fn_, fn_.stmts[found_.columns]);
    std::unordered_set<StmtId> stmts;
    std::vector<ValueId> moved;
    for (ValueId v : conjuncts(fn_, fn_.stmts[*branch].operands[0])) {
      std::unordered_set<StmtId> all = stmts;
      if (!rows.isUniform(v) || !columns.isUniform(v) || !collect(all, bodyOf(sum), v)) continue;
      stmts = std::move(all);
      moved.push_back(v);
    }
    if (moved.empty()) return false;
    moveBefore(stmts, sum, home);
    dropProvenConjuncts(fn_, *branch, bodyOf(sum),
                        [&](ValueId v) { return std::ranges::find(moved, v) != moved.end(); });
    wrap(sum, home, moved);
    return true;
  }

  /// The only statement of a region that is not plain, or the only one with regions.
  std::optional<StmtId> onlyBranch(RegionId r) const {
    std::optional<StmtId> found;
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.regions.empty() && isPlain(module_, fn_, s)) continue;
      if (s.kind != StmtKind::If || found || !isPure(s)) return std::nullopt;
      found = id;
    }
    return found;
  }
  bool isPure(const Stmt& s) const {
    if (s.kind != StmtKind::For && s.kind != StmtKind::If) return isPlain(module_, fn_, s);
    return std::ranges::all_of(s.regions, [this](RegionId r) {
      return std::ranges::all_of(fn_.regions[r].stmts, [this](StmtId id) { return isPure(fn_.stmts[id]); });
    });
  }

  /// Whether an iteration in which the branch is not taken carries on what it began with.
  bool keepsCarries(size_t level, StmtId branch) const {
    const RegionId body = bodyOf(found_.sums[level]);
    const std::vector<ValueId>&params = fn_.regions[body].params, &yields = yieldsOf(body);
    for (size_t k = 0; k < yields.size(); ++k)
      if (!isKept(level, yields[k], params[k + 1], branch)) return false;
    return true;
  }
  bool isKept(size_t level, ValueId next, ValueId carried, StmtId branch) const {
    if (next == carried) return true;
    if (const std::optional<ValueId> other = otherwise(next, branch)) return *other == carried;
    const StmtId def = fn_.values[next].def;
    if (!def.valid() || fn_.stmts[def].kind != StmtKind::Scalar) return false;
    const Stmt& s = fn_.stmts[def];
    if (s.as<ScalarAttr>().op != OpKind::Add) return false;
    const size_t at = s.operands[0] == carried ? 1 : 0;
    if (s.operands[1 - at] != carried) return false;
    const std::optional<ValueId> term = otherwise(s.operands[at], branch);
    const uint64_t* zero = term ? asConstant(fn_, *term) : nullptr;
    if (!zero || *zero != 0) return false;
    return !types::isFloatKind(s.as<ScalarAttr>().from) || beginsAtZero(level, carried);
  }
  /// What a result of the branch is where it is not taken.
  std::optional<ValueId> otherwise(ValueId v, StmtId branch) const {
    const std::vector<ValueId>& results = fn_.stmts[branch].results;
    const auto at = std::ranges::find(results, v);
    if (at == results.end()) return std::nullopt;
    return yieldsOf(fn_.stmts[branch].regions[1])[static_cast<size_t>(at - results.begin())];
  }

  /// Whether what a sum carries, and only sums are added to, was +0 before all loops over it, or a sum
  /// with +0: it is never -0 then, which a sum is only if both its sides are.
  bool beginsAtZero(size_t level, ValueId carried) const {
    const Stmt& loop = fn_.stmts[found_.sums[level]];
    const std::optional<size_t> at = carryOf(loop, carried);
    if (!at) return false;
    const ValueId begun = loop.operands[*at + 2];
    if (isZero(begun) || isAddedToZero(begun)) return true;
    if (level == 0) return false;
    const Stmt& outer = fn_.stmts[found_.sums[level - 1]];
    const std::optional<size_t> around = carryOf(outer, begun);
    return around && yieldsOf(outer.regions[0])[*around] == loop.results[*at] &&
           beginsAtZero(level - 1, begun);
  }
  bool isZero(ValueId v) const {
    const uint64_t* known = asConstant(fn_, v);
    return known && *known == 0;
  }
  bool isAddedToZero(ValueId v) const {
    const StmtId def = fn_.values[v].def;
    return def.valid() && fn_.stmts[def].kind == StmtKind::Scalar &&
           fn_.stmts[def].as<ScalarAttr>().op == OpKind::Add &&
           std::ranges::any_of(fn_.stmts[def].operands, [this](ValueId side) { return isZero(side); });
  }
  /// As which of its values a loop carries it.
  std::optional<size_t> carryOf(const Stmt& loop, ValueId carried) const {
    const std::vector<ValueId>& params = fn_.regions[loop.regions[0]].params;
    const auto found = std::ranges::find(params.begin() + 1, params.end(), carried);
    if (found == params.end()) return std::nullopt;
    return static_cast<size_t>(found - params.begin()) - 1;
  }

  // --- conditions go before the sum
  // ---------------------------------------------------------------------------------------------------------
  /// Adds what makes the value in the region to the statements; whether all of it can stand before.
  bool collect(std::unordered_set<StmtId>& stmts, RegionId region, ValueId v) const {
    if (fn_.values[v].region != region) return true;
    const StmtId def = fn_.values[v].def;
    if (!def.valid()) return false;
    const Stmt& s = fn_.stmts[def];
    if (s.kind != StmtKind::Const && (s.kind != StmtKind::Scalar || mayFail(s))) return false;
    stmts.insert(def);
    return std::ranges::all_of(s.operands, [&](ValueId operand) { return collect(stmts, region, operand); });
  }
  /// A division, by what may be zero where the sum has no iterations.
  bool mayFail(const Stmt& s) const {
    const OpKind op = s.as<ScalarAttr>().op;
    if (op != OpKind::IDiv && op != OpKind::IRem) return false;
    const uint64_t* known = asConstant(fn_, s.operands[1]);
    return !known || *known == 0;
  }
  void moveBefore(const std::unordered_set<StmtId>& moved, StmtId sum, RegionId home) {
    std::vector<StmtId>&from = fn_.regions[bodyOf(sum)].stmts, &to = fn_.regions[home].stmts;
    std::vector<StmtId> stmts;
    std::ranges::copy_if(from, std::back_inserter(stmts), [&](StmtId id) { return moved.contains(id); });
    std::erase_if(from, [&](StmtId id) { return moved.contains(id); });
    for (StmtId id : stmts)
      for (ValueId v : fn_.stmts[id].results) fn_.values[v].region = home;
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(placeOf(fn_, home, sum)), stmts.begin(), stmts.end());
  }
  /// The sum stands in a branch; where that is not taken it is what it began with.
  void wrap(StmtId sum, RegionId home, const std::vector<ValueId>& conditions) {
    const Stmt loop = fn_.stmts[sum];
    std::vector<ValueType> types;
    for (ValueId v : loop.results) types.push_back(fn_.typeOf(v));
    Builder b(fn_);
    b.loc = loop.loc;
    const RegionId made = b.begin();
    ValueId all = conditions[0];
    for (size_t k = 1; k < conditions.size(); ++k) all = b.both(all, conditions[k]);
    const RegionId yes = b.begin();
    fn_.regions[yes].stmts.push_back(sum);
    b.end(loop.results);
    const RegionId no = b.begin();
    b.end({loop.operands.begin() + 2, loop.operands.end()});
    const StmtId branch = b.stmt(StmtKind::If, {all}, types, {}, {yes, no});
    b.end();
    const std::vector<ValueId> results = b.results(branch);
    for (size_t k = 0; k < results.size(); ++k) {
      replaceUses(fn_, home, loop.results[k], results[k]);
      fn_.values[loop.results[k]].region = yes;
    }
    replaceStmt(fn_, made, home, sum);
  }

  const Module& module_;
  Function& fn_;
  const Contraction& found_;
};

class PredicateSplitter {
public:
  PredicateSplitter(const Module& module, Function& fn) : module_(module), fn_(fn) {}

  void region(RegionId r) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      if (fn_.stmts[id].kind == StmtKind::For && fn_.stmts[id].as<ForAttr>().unrollJam > 1) {
        rows(id, r);
        continue;
      }
      if (fn_.stmts[id].kind == StmtKind::For &&
          fn_.stmts[id].as<ForAttr>().vectorWidth > 0) { // no rows in it
        trimVectorReduction(fn_, id, r);
        continue;
      }
      const std::vector<RegionId> inner = fn_.stmts[id].regions;
      for (RegionId each : inner) region(each);
    }
  }

private:
  void rows(StmtId loop, RegionId home) {
    const std::optional<Contraction> found = findContraction(fn_, loop);
    if (!found) return;
    if (const std::optional<InterchangedReduction> around =
            interchangeMaskedReduction(module_, fn_, *found)) {
      home = putAround(loop, home, *around);
      if (!around->when.valid()) return;
    }
    if (const std::optional<RegionId> without = skipMaskedRows(module_, fn_, loop))
      splice(fn_, *without, home, placeOf(fn_, home, loop));
    if (narrows(loop)) return leaveOutSums(loop);
    const std::optional<RegionId> front = cutRows(fn_, loop);
    leaveOutSums(loop);
    if (!front) return cutChainOf(loop, home);
    leaveOutSumsIn(*front);
    splice(fn_, *front, home, placeOf(fn_, home, loop));
  }
  /// Whether rows leave out iterations of the chain when they are swept together.
  bool narrows(StmtId loop) {
    const std::optional<Contraction> found = findContraction(fn_, loop);
    return found && !found->rowSum &&
           narrowChain(fn_, found->chain(), Variance(fn_, fn_.stmts[loop]),
                       Variance(fn_, fn_.stmts[found->columns]));
  }
  /// Where the rows stand then, if they are still there.
  RegionId putAround(StmtId loop, RegionId home, const InterchangedReduction& around) {
    Builder b(fn_);
    b.loc = fn_.stmts[loop].loc;
    const RegionId made = b.begin(), no = b.begin();
    fn_.regions[no].stmts.push_back(loop);
    b.end();
    if (around.when.valid()) b.stmt(StmtKind::If, {around.when}, {}, {}, {around.made, no});
    b.end();
    splice(fn_, around.front, home, placeOf(fn_, home, loop));
    replaceStmt(fn_, around.when.valid() ? made : around.made, home, loop);
    return no;
  }
  void leaveOutSums(StmtId loop) {
    if (const std::optional<Contraction> found = findContraction(fn_, loop))
      SumMasks(module_, fn_, *found).run();
  }
  /// In the loop over both ends of the rows.
  void leaveOutSumsIn(RegionId front) {
    const std::vector<StmtId> stmts = fn_.regions[front].stmts;
    for (StmtId id : stmts) {
      if (fn_.stmts[id].kind != StmtKind::For) continue;
      const RegionId ends = fn_.stmts[id].regions[0];
      const std::vector<StmtId> inner = fn_.regions[ends].stmts;
      for (StmtId each : inner) {
        if (fn_.stmts[each].kind != StmtKind::For) continue;
        leaveOutSums(each);
        cutChainOf(each, ends);
      }
    }
  }
  void cutChainOf(StmtId loop, RegionId home) {
    splitReductionRange(fn_, loop, home, [this](const Contraction& found, StmtId branch) {
      return SumMasks(module_, fn_, found).keepsInnermost(branch);
    });
  }

  const Module& module_;
  Function& fn_;
};

} // namespace

void splitPredicated(const Module& module, Function& function) {
  PredicateSplitter(module, function).region(function.body);
}

} // namespace melix::loops
