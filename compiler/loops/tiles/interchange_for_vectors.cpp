#include "loops/tiles/interchange_for_vectors.h"

#include "loops/analysis/perfect_nest.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/analysis/shared_operand.h"
#include "loops/analysis/vectorizability.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

/// Of a sum, iterations that do not make up for what is put side by side; less do where iterations store
/// neighbours, which lanes of parts would scatter.
constexpr int64_t fewInnerIterations = 16, fewStored = 8;
constexpr int64_t fewPoints = 32; ///< of the outer loop, which is to fill the lanes

class Exchange {
public:
  Exchange(const Module& module, Function& fn) : module_(module), fn_(fn), b_(fn) {}

  void run() {
    rewriteStmts(fn_, fn_.body, [this](StmtId id, RegionId r) { return exchanged(id, r); });
  }

private:
  bool exchanged(StmtId id, RegionId home) {
    if (!isPointsLoop(fn_.stmts[id])) return false;
    const std::vector<StmtId> around = perfectPoints(module_, fn_, id);
    if (around.size() < 2) return false;
    const StmtId inner = around[1];
    Contraction found{{id}, inner, sumsIn(fn_, inner), {}, {}};
    const std::optional<size_t> rows = rowsOf(found);
    if (!rows) return false;
    const SharedSide side(module_, fn_, found);
    const auto sum = side.extentOf(*rows), chain = side.extentOf(found.sums.size() - 1);
    if (!sum || !chain || !side.areEndsFixed(inner)) return false;
    const int64_t few = storesAlong(fn_, fn_.stmts[found.sums[*rows]]) ? fewStored : fewInnerIterations;
    std::vector<std::pair<ValueId, int64_t>> unknown;
    for (ValueId v : {sum->end, chain->end})
      if (const uint64_t* size = asConstant(fn_, v); !size)
        unknown.emplace_back(v, few);
      else if (static_cast<int64_t>(*size) < few)
        return false;
    const std::optional<uint64_t> points = constantTripCount(fn_, fn_.stmts[id]);
    if (points && static_cast<int64_t>(*points) < fewPoints) return false;
    write(id, inner, home, side, unknown);
    return true;
  }

  /// The sum whose iterations are the rows if the outer loop is in lanes. It is none if the inner one is.
  std::optional<size_t> rowsOf(const Contraction& found) const {
    if (found.sums.size() < 2 || sumForRows(fn_, found.columns, found.sums)) return std::nullopt;
    const Stmt &outer = fn_.stmts[found.rows()], &inner = fn_.stmts[found.columns];
    if (!canVectorize(module_, fn_, outer) || !canVectorize(module_, fn_, inner)) return std::nullopt;
    const std::optional<StmtId> sum = sumForRows(fn_, found.rows(), found.sums);
    if (!sum || !computesForBoth(fn_.stmts[found.chain()], outer, inner, fn_.stmts[*sum]))
      return std::nullopt;
    return static_cast<size_t>(std::ranges::find(found.sums, *sum) - found.sums.begin());
  }
  /// Whether a chain computes what differs between both, and is the same in all iterations of the sum.
  bool computesForBoth(const Stmt& chain, const Stmt& outer, const Stmt& inner, const Stmt& sum) const {
    const Variance p(fn_, outer), q(fn_, inner), rows(fn_, sum);
    return std::ranges::any_of(fn_.regions[chain.regions[0]].stmts, [&](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      return s.kind == StmtKind::Scalar && rows.isUniform(s.results[0]) && !p.isUniform(s.results[0]) &&
             !q.isUniform(s.results[0]);
    });
  }

  /// In place of the loop: a choice, or one of both, where that is known.
  void write(StmtId outer, StmtId inner, RegionId home, const SharedSide& side,
             const std::vector<std::pair<ValueId, int64_t>>& unknown) {
    b_.loc = fn_.stmts[outer].loc;
    const RegionId made = b_.begin();
    Copies copies;
    const std::vector<ValueId> ends = fn_.stmts[outer].operands;
    ValueId isWorthIt = b_.boolean(true);
    auto ask = [&](ValueId size, int64_t least) {
      isWorthIt = b_.both(isWorthIt, b_.compare(CmpKind::Ge, size, b_.integer(least)));
    };
    if (!constantTripCount(fn_, fn_.stmts[outer])) ask(b_.arith(OpKind::Sub, ends[1], ends[0]), fewPoints);
    for (auto [size, least] : unknown) ask(side.writeFixed(b_, size, copies), least);
    const RegionId other = b_.begin();
    writeExchanged(outer, inner, side);
    b_.end();
    const RegionId same = b_.begin();
    fn_.regions[same].stmts.push_back(outer);
    b_.end();
    b_.stmt(StmtKind::If, {isWorthIt}, {}, {}, {other, same});
    b_.end();
    replaceStmt(fn_, made, home, outer);
  }
  void writeExchanged(StmtId outerId, StmtId innerId, const SharedSide& side) {
    const Stmt outer = fn_.stmts[outerId], inner = fn_.stmts[innerId];
    const std::vector<StmtId> stmts = fn_.regions[outer.regions[0]].stmts;
    Copies copies;
    const ValueId first = side.writeFixed(b_, inner.operands[0], copies);
    const ValueId end = side.writeFixed(b_, inner.operands[1], copies);
    b_.carryLoop(
        first, end, {},
        [&](ValueId q, const std::vector<ValueId>& none) {
          b_.carryLoop(
              outer.operands[0], outer.operands[1], {},
              [&](ValueId p, const std::vector<ValueId>& nothing) {
                Copies here;
                here.set(fn_.regions[outer.regions[0]].params[0], p);
                here.set(fn_.regions[inner.regions[0]].params[0], q);
                for (StmtId id : stmts)
                  if (id != innerId && fn_.stmts[id].kind != StmtKind::Yield) clone(b_, id, here);
                const std::vector<StmtId> body = fn_.regions[inner.regions[0]].stmts;
                for (StmtId id : body)
                  if (fn_.stmts[id].kind != StmtKind::Yield) clone(b_, id, here);
                return nothing;
              },
              outer.as<ForAttr>());
          return none;
        },
        inner.as<ForAttr>());
  }

  const Module& module_;
  Function& fn_;
  Builder b_;
};

} // namespace

void interchangeForVectors(const Module& module, Function& function) { Exchange(module, function).run(); }

} // namespace melix::loops
