#include "loops/index_sets/interchange_masked_reduction.h"

#include "core/analysis/evaluate.h"
#include "loops/analysis/iteration_bounds.h"
#include "loops/ir/build.h"
#include "loops/ir/clone.h"
#include "loops/strip_mining/sweep_analysis.h"

#include <algorithm>
#include <cassert>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr uint64_t leastTermsOfRow =
    8; ///< terms of a chain that pay; as many are assumed where nothing is known

/// A condition of the branch in a chain, and what it waits for: all values outside of the rows, and the
/// indices of so many sums.
struct BranchCondition {
  ValueId value;
  size_t sums = 0;
  bool boundsRows = false;
};

class Mover {
public:
  Mover(const Module& module, Function& fn, const Contraction& found)
      : module_(module), fn_(fn), b_(fn), found_(found), rows_(found.rows()),
        inside_(regionsWithin(fn, bodyOf(rows_))),
        fixed_(fn, [this](ValueId v) { return inside_.contains(fn_.values[v].region) && !isMoved(v); }) {}

  std::optional<InterchangedReduction> run() {
    if (found_.rowSum || !findStore() || !findBranch() || !findConditions()) return std::nullopt;
    b_.loc = fn_.stmts[rows_].loc;
    InterchangedReduction out;
    Copies copies;
    out.front = b_.begin();
    out.when = areKnown(copies);
    b_.end();
    out.made = b_.begin();
    if (first_ > 0) copies.set(indexOf(outermost()), b_.integer(0));
    begin(copies);
    sum(first_, copies);
    if (hasEpilogue()) finish(copies);
    b_.end();
    return out;
  }

private:
  RegionId bodyOf(StmtId loop) const { return fn_.stmts[loop].regions[0]; }
  const std::vector<ValueId>& yieldsOf(RegionId r) const {
    return fn_.stmts[fn_.regions[r].stmts.back()].operands;
  }
  ValueId indexOf(StmtId loop) const { return fn_.regions[bodyOf(loop)].params[0]; }
  const Stmt& stmt(StmtId id) const { return fn_.stmts[id]; }
  StmtId outermost() const { return found_.sums[0]; }

  // --- whether it can be
  // -----------------------------------------------------------------------------------------------------

  /// The only statement beside the sum that is not plain: it stores a number as large as the sum, at a place
  /// that is known without it, and nothing in the loop reads what is stored.
  bool findStore() {
    const Stmt& sum = stmt(outermost());
    if (sum.results.size() != 1) return false;
    for (StmtId id : fn_.regions[bodyOf(found_.columns)].stmts) {
      const Stmt& s = stmt(id);
      if (id == outermost() || isPlain(module_, fn_, s)) continue;
      if (s.kind != StmtKind::Store || store_.valid()) return false;
      store_ = id;
    }
    if (!store_.valid() || stmt(store_).as<Access>().elem != fn_.typeOf(sum.results[0])) return false;
    const std::vector<ValueId>& operands = stmt(store_).operands;
    const MemoryUse stored = memoryOf(fn_, stmt(store_)), used = memoryOf(fn_, stmt(rows_));
    return std::all_of(operands.begin(), operands.end() - 1, [this](ValueId v) { return isPlace(v); }) &&
           std::ranges::none_of(stored.writes, [&](ValueId v) { return used.reads.contains(v); });
  }
  /// Numbers beside the sum, computed without it.
  bool isPlace(ValueId v) const {
    if (!isBesides(v)) return true;
    const Stmt& s = stmt(fn_.values[v].def);
    return (s.kind == StmtKind::Const || s.kind == StmtKind::Scalar) &&
           std::ranges::all_of(s.operands, [this](ValueId o) { return isPlace(o); });
  }
  /// Whether a statement beside the loops makes it, at a row and column.
  bool isBesides(ValueId v) const {
    const Value& value = fn_.values[v];
    return value.def.valid() && (value.region == bodyOf(rows_) || value.region == bodyOf(found_.columns));
  }
  /// Sums that hand on what the chain in them adds; where its only branch is not taken, that is nothing.
  bool findBranch() {
    first_ = isOverBlocks() ? 1 : 0;
    for (size_t k = first_; k + 1 < found_.sums.size(); ++k) {
      const StmtId inner = found_.sums[k + 1];
      const RegionId body = bodyOf(found_.sums[k]);
      if (fn_.regions[body].params.size() != 2 || stmt(inner).operands[2] != fn_.regions[body].params[1] ||
          yieldsOf(body)[0] != stmt(inner).results[0] || !isOnlyPlainExcept(body, inner))
        return false;
    }
    const RegionId body = bodyOf(found_.chain());
    if (fn_.regions[body].params.size() != 2) return false;
    for (StmtId id : fn_.regions[body].stmts) {
      if (!isPlain(module_, fn_, stmt(id))) return false;
      if (stmt(id).kind != StmtKind::If) continue;
      if (branch_.valid()) return false;
      branch_ = id;
    }
    return branch_.valid() && leavesAlone(yieldsOf(body)[0], fn_.regions[body].params[1]);
  }
  /// Whether the outermost sum adds blocks of terms, each of which begins anew.
  bool isOverBlocks() const {
    if (found_.sums.size() < 2) return false;
    const RegionId body = bodyOf(outermost());
    const StmtId inner = found_.sums[1], def = fn_.values[yieldsOf(body)[0]].def;
    if (fn_.regions[body].params.size() != 2 || !def.valid() || stmt(def).kind != StmtKind::Scalar ||
        stmt(def).as<ScalarAttr>().op != OpKind::Add || !isZero(stmt(inner).operands[2]))
      return false;
    const std::vector<ValueId> sides{fn_.regions[body].params[1], stmt(inner).results[0]};
    return std::ranges::is_permutation(stmt(def).operands, sides) && isOnlyPlainExcept(body, inner) &&
           isZero(stmt(outermost()).operands[0]);
  }
  bool isOnlyPlainExcept(RegionId body, StmtId inner) const {
    return std::ranges::all_of(fn_.regions[body].stmts,
                               [&](StmtId id) { return id == inner || isPlain(module_, fn_, stmt(id)); });
  }
  bool leavesAlone(ValueId next, ValueId carried) const {
    if (const std::optional<ValueId> other = otherwise(next)) return *other == carried;
    const StmtId def = fn_.values[next].def;
    if (!def.valid() || stmt(def).kind != StmtKind::Scalar || stmt(def).as<ScalarAttr>().op != OpKind::Add)
      return false;
    const std::vector<ValueId>& sides = stmt(def).operands;
    const std::optional<ValueId> term = otherwise(sides[sides[0] == carried ? 1 : 0]);
    if (!term || (sides[0] != carried && sides[1] != carried) || !isZero(*term)) return false;
    // Only sums of -0 are -0.
    return !types::isFloatKind(stmt(def).as<ScalarAttr>().from) ||
           isZero(stmt(found_.sums[first_]).operands[2]);
  }
  bool isZero(ValueId v) const {
    const uint64_t* known = asConstant(fn_, v);
    return known && *known == 0;
  }
  /// What a result of the branch is where it is not taken.
  std::optional<ValueId> otherwise(ValueId v) const {
    const std::vector<ValueId>& results = stmt(branch_).results;
    const auto at = std::ranges::find(results, v);
    if (at == results.end()) return std::nullopt;
    return yieldsOf(stmt(branch_).regions[1])[static_cast<size_t>(at - results.begin())];
  }

  /// Conditions that are asked around the chain; one at least distinguishes rows, and a sum around.
  bool findConditions() {
    const Variance rows(fn_, stmt(rows_)), columns(fn_, stmt(found_.columns));
    for (ValueId v : conjuncts(fn_, stmt(branch_).operands[0])) {
      if (!columns.isUniform(v)) continue;
      BranchCondition c{v, 0, !rows.isUniform(v)};
      if (!reads(v, c) || (c.boundsRows && (c.sums <= first_ || !bounds(v) || !areSmallIn(v)))) continue;
      conditions_.push_back(c);
      if (c.boundsRows) moved_ = std::max(moved_, c.sums);
    }
    std::erase_if(conditions_, [this](const BranchCondition& c) { return c.sums > moved_; });
    return moved_ > first_ && moved_ < found_.sums.size() && areLong() && canMove() &&
           areSmall(stmt(rows_).operands[0]) && areSmall(stmt(rows_).operands[1]);
  }
  /// Whether the ends of sums, and what the first begins with, are known before the rows.
  bool canMove() const {
    for (size_t k = 0; k < moved_; ++k) {
      const Stmt& sum = stmt(found_.sums[k]);
      if (sum.as<ForAttr>().vectorWidth > 0 || !isFixedAt(sum.operands[0], k) ||
          !isFixedAt(sum.operands[1], k))
        return false;
    }
    return first_ == 0 || isFixedAt(stmt(outermost()).operands[2], 0);
  }
  /// Whether a number is computed of the row, of indices of sums but the last, and of what does not change.
  bool reads(ValueId v, BranchCondition& c) const {
    if (!inside_.contains(fn_.values[v].region) || v == indexOf(rows_)) return true;
    for (size_t k = 0; k + 1 < found_.sums.size(); ++k)
      if (v == indexOf(found_.sums[k])) return c.sums = std::max(c.sums, k + 1), true;
    const StmtId def = fn_.values[v].def;
    if (!def.valid()) return false;
    const Stmt& s = stmt(def);
    if (s.kind == StmtKind::Const) return true;
    if (s.kind != StmtKind::Scalar || mayFail(s)) return false;
    return std::ranges::all_of(s.operands, [&](ValueId o) { return reads(o, c); });
  }
  bool mayFail(const Stmt& s) const {
    const OpKind op = s.as<ScalarAttr>().op;
    return (op == OpKind::IDiv || op == OpKind::IRem) && !isPositive(s.operands[1]);
  }
  bool isPositive(ValueId v) const {
    if (const uint64_t* known = asConstant(fn_, v)) return static_cast<int64_t>(*known) > 0;
    const Stmt* max = scalar(v, OpKind::Max);
    return max && std::ranges::any_of(max->operands, [this](ValueId o) { return isPositive(o); });
  }
  const Stmt* scalar(ValueId v, OpKind op) const {
    const StmtId def = fn_.values[v].def;
    if (!def.valid() || stmt(def).kind != StmtKind::Scalar) return nullptr;
    return stmt(def).as<ScalarAttr>().op == op ? &stmt(def) : nullptr;
  }
  bool bounds(ValueId condition) {
    b_.begin();
    const bool is = MaskRange(b_, rows_).take(condition);
    b_.end();
    return is;
  }
  /// Whether all numbers in a condition are small, if some from outside of the rows are, which are noted.
  bool areSmallIn(ValueId v) {
    if (v == indexOf(rows_)) return true;
    for (StmtId sum : found_.sums)
      if (v == indexOf(sum))
        return areSmall(stmt(sum).operands[0], OpKind::Max) && areSmall(stmt(sum).operands[1], OpKind::Min);
    if (!inside_.contains(fn_.values[v].region) || asConstant(fn_, v)) return areSmall(v);
    return std::ranges::all_of(std::vector(stmt(fn_.values[v].def).operands),
                               [this](ValueId o) { return areSmallIn(o); });
  }
  /// Whether a number is, or one of those that this op takes the greater or smaller of.
  bool areSmall(ValueId v, std::optional<OpKind> bound = std::nullopt) {
    if (const uint64_t* known = asConstant(fn_, v)) return *known <= static_cast<uint64_t>(smallNumber);
    if (!inside_.contains(fn_.values[v].region)) return requireSmall(v), true;
    const Stmt* s = bound ? scalar(v, *bound) : nullptr;
    return s && std::ranges::any_of(std::vector(s->operands), [&](ValueId o) { return areSmall(o, bound); });
  }
  void requireSmall(ValueId v) {
    if (std::ranges::find(small_, v) == small_.end()) small_.push_back(v);
  }
  bool areLong() const {
    uint64_t terms = 1;
    for (size_t k = moved_; k < found_.sums.size(); ++k)
      terms *=
          std::min(constantTripCount(fn_, stmt(found_.sums[k])).value_or(leastTermsOfRow), leastTermsOfRow);
    return terms >= leastTermsOfRow;
  }
  /// Whether a number is known in the body of so many sums around the rows.
  bool isFixedAt(ValueId v, size_t sums) const {
    BranchCondition c{v};
    return reads(v, c) && c.sums <= sums && !dependsOnRow(v);
  }
  bool dependsOnRow(ValueId v) const {
    if (v == indexOf(rows_)) return true;
    if (!inside_.contains(fn_.values[v].region) || !fn_.values[v].def.valid()) return false;
    return std::ranges::any_of(stmt(fn_.values[v].def).operands,
                               [this](ValueId o) { return dependsOnRow(o); });
  }
  /// The index of a sum that goes around the rows.
  bool isMoved(ValueId v) const {
    return std::any_of(found_.sums.begin(), found_.sums.begin() + static_cast<std::ptrdiff_t>(moved_),
                       [&](StmtId sum) { return indexOf(sum) == v; });
  }
  bool hasEpilogue() const { return stmt(store_).operands.back() != stmt(outermost()).results[0]; }

  // --- sweeps
  // -----------------------------------------------------------------------------------------------------

  /// Whether numbers are small, and all terms are one block, which is added to -0; none if that is known.
  ValueId areKnown(Copies& copies) {
    ValueId all;
    auto require = [&](ValueId v) { all = all.valid() ? b_.both(all, v) : v; };
    for (ValueId v : small_) require(emitFitsWithoutOverflow(b_, v));
    if (first_ == 0) return all;
    const Stmt sum = stmt(outermost());
    const TypeKind kind = fn_.typeOf(sum.results[0]).scalar;
    const TypeKind bits = types::scalarBits(kind) == 32 ? TypeKind::I32 : TypeKind::I64;
    const ValueId begun = b_.scalar(OpKind::Bitcast, {fixed_.write(b_, sum.operands[2], copies)}, kind, bits);
    const ValueId negativeZero =
        b_.constant(scalarType(bits), core::lowBits(bits, uint64_t(1) << (types::scalarBits(kind) - 1)));
    require(b_.compare(ops::CmpKind::Eq, fixed_.write(b_, sum.operands[1], copies), b_.integer(1)));
    require(b_.compare(ops::CmpKind::Eq, begun, negativeZero, bits));
    return all;
  }

  /// A loop over the rows, around one over the columns, with what `body` writes.
  template <class Body>
  StmtId sweep(const Copies& around, uint32_t rows, const Body& body) {
    Copies copies(&around);
    const Stmt outer = stmt(rows_), inner = stmt(found_.columns);
    ForAttr attr = outer.as<ForAttr>();
    attr.unrollJam = rows;
    b_.carryLoop(
        outer.operands[0], outer.operands[1], {},
        [&](ValueId row, std::vector<ValueId> none) {
          take(copies, indexOf(rows_), row);
          copyUpTo(found_.columns, bodyOf(rows_), copies);
          const ValueId first = number(inner.operands[0], copies), end = number(inner.operands[1], copies);
          b_.carryLoop(
              first, end, {},
              [&](ValueId column, std::vector<ValueId> nothing) {
                take(copies, indexOf(found_.columns), column);
                body(copies);
                return nothing;
              },
              inner.as<ForAttr>());
          return none;
        },
        attr);
    return fn_.regions[b_.current()].stmts.back();
  }
  /// A new index stands for the one of a loop.
  void take(Copies& copies, ValueId original, ValueId index) {
    fn_.values[index].hint = fn_.values[original].hint;
    copies.set(original, index);
  }
  /// A number at a point, with what computes it beside the loops.
  ValueId number(ValueId v, Copies& copies) {
    if (!isBesides(v) || copies.of(v) != v) return copies.of(v);
    const StmtId def = fn_.values[v].def;
    for (ValueId operand : std::vector(stmt(def).operands)) number(operand, copies);
    clone(b_, def, copies);
    return copies.of(v);
  }
  void keep(ValueId sum, Copies& copies) {
    std::vector<ValueId> operands;
    for (ValueId v : std::vector(stmt(store_).operands))
      operands.push_back(v == stmt(store_).operands.back() ? sum : number(v, copies));
    b_.stmt(StmtKind::Store, std::move(operands), {}, stmt(store_).attr);
  }
  ValueId kept(Copies& copies) {
    const std::vector<ValueId> operands = stmt(store_).operands;
    std::vector<Term> terms;
    for (size_t k = 1; k + 1 < operands.size(); k += 2)
      terms.push_back({number(operands[k], copies), number(operands[k + 1], copies)});
    Access access = stmt(store_).as<Access>();
    access.borrowed = access.nonTemporal = false;
    return b_.load(number(operands[0], copies), terms, access);
  }

  void begin(const Copies& around) {
    const Stmt& sum = stmt(outermost());
    const ValueId begun = first_ == 0 ? sum.operands[2] : b_.zero(fn_.typeOf(sum.results[0]));
    sweep(around, 0, [&](Copies& copies) { keep(number(begun, copies), copies); });
  }
  void finish(const Copies& around) {
    sweep(around, 0, [this](Copies& copies) {
      copies.set(stmt(outermost()).results[0], kept(copies));
      keep(number(stmt(store_).operands.back(), copies), copies);
    });
  }

  // --- sums
  // -----------------------------------------------------------------------------------------------------

  /// The iterations of a sum, or the rows, as far as all conditions that are known before them hold.
  void sum(size_t level, Copies& copies) {
    std::vector<ValueId> asked;
    for (const BranchCondition& c : conditions_)
      if (!c.boundsRows && std::max(c.sums, first_) == level)
        asked.push_back(fixed_.write(b_, c.value, copies));
    if (asked.empty()) return loopOver(level, copies);
    ValueId all = asked[0];
    for (size_t k = 1; k < asked.size(); ++k) all = b_.both(all, asked[k]);
    const RegionId yes = b_.begin();
    Copies inner(&copies);
    loopOver(level, inner);
    b_.end();
    const RegionId no = b_.begin();
    b_.end();
    b_.stmt(StmtKind::If, {all}, {}, {}, {yes, no});
  }
  void loopOver(size_t level, Copies& copies) {
    if (level == moved_) return rows(copies);
    const Stmt loop = stmt(found_.sums[level]);
    const ValueId first = fixed_.write(b_, loop.operands[0], copies),
                  end = fixed_.write(b_, loop.operands[1], copies);
    b_.carryLoop(first, end, {}, [&](ValueId index, std::vector<ValueId> none) {
      Copies inner(&copies);
      take(inner, indexOf(found_.sums[level]), index);
      small_.push_back(index);
      sum(level + 1, inner);
      return none;
    });
  }

  /// Chains that go on from what is in memory, at the rows at which all conditions hold.
  void rows(const Copies& around) {
    StmtId branch;
    std::vector<ValueId> bounds, hold;
    chains_ = sweep(around, stmt(rows_).as<ForAttr>().unrollJam, [&](Copies& copies) {
      copyUpTo(outermost(), bodyOf(found_.columns), copies);
      const ValueId begun = kept(copies);
      for (size_t k = 0; k < moved_; ++k) {
        const RegionId body = bodyOf(found_.sums[k]);
        if (k >= first_) copies.set(fn_.regions[body].params[1], begun);
        copyUpTo(found_.sums[k + 1], body, copies);
      }
      clone(b_, found_.sums[moved_], copies);
      for (const BranchCondition& c : conditions_)
        (c.boundsRows ? bounds : hold).push_back(copies.of(c.value));
      branch = fn_.values[copies.of(stmt(branch_).results[0])].def;
      keep(copies.of(stmt(found_.sums[moved_]).results[0]), copies);
    });
    narrow(bounds, hold);
    dropProvenConjuncts(fn_, branch, fn_.values[stmt(branch).results[0]].region,
                        [&](ValueId v) { return std::ranges::find(hold, v) != hold.end(); });
  }
  /// Numbers before a statement.
  void copyUpTo(StmtId last, RegionId region, Copies& copies) {
    for (StmtId id : std::vector(fn_.regions[region].stmts)) {
      if (id == last) return;
      if (copies.of(stmt(id).results[0]) == stmt(id).results[0]) clone(b_, id, copies);
    }
  }
  /// The rows are those at which these conditions hold.
  void narrow(const std::vector<ValueId>& bounds, std::vector<ValueId>& hold) {
    const RegionId front = b_.begin();
    MaskRange range(b_, chains_);
    for (ValueId v : small_) range.assumeSmall(v);
    std::vector<ValueId> taken;
    for (ValueId v : bounds)
      if (range.take(v)) taken.push_back(v);
    const MaskRange::Rows rows = range.rows();
    b_.end();
    assert(!range.mayWrap() && "all numbers are small where sums go around rows");
    splice(fn_, front, b_.current(), placeOf(fn_, b_.current(), chains_));
    fn_.stmts[chains_].operands = {rows.first, rows.end};
    hold.insert(hold.end(), taken.begin(), taken.end());
  }

  const Module& module_;
  Function& fn_;
  Builder b_;
  const Contraction& found_;
  const StmtId rows_;
  const std::unordered_set<RegionId> inside_; ///< the rows
  const FixedNumbers fixed_;
  StmtId store_, branch_;
  std::vector<BranchCondition> conditions_;
  size_t moved_ = 0;           ///< so many sums go around the rows
  size_t first_ = 0;           ///< of these: of blocks of terms there is one
  std::vector<ValueId> small_; ///< numbers that have to be, and indices that are then
  StmtId chains_;
};

} // namespace

std::optional<InterchangedReduction> interchangeMaskedReduction(const Module& module, Function& fn,
                                                                const Contraction& found) {
  return Mover(module, fn, found).run();
}

} // namespace melix::loops
