#include "transforms/simplify/simplify.h"

#include "core/analysis/effect_audit.h"
#include "core/analysis/predicate.h"
#include "core/analysis/ranges.h"
#include "core/analysis/sharing.h"
#include "core/ir/flow.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/simplify/canonical_branches.h"
#include "transforms/simplify/fold_scalars.h"
#include "transforms/simplify/short_circuit.h"
#include "transforms/walks/cse_table.h"
#include "transforms/walks/dce.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class Folder {
public:
  Folder(Module& m, FunctionId id)
      : m_(m), id_(id), f_(m.functions[id]), types_(m.types), ranges_(m, f_), uses_(m, id),
        negation_(m, f_, ranges_), known_(f_), scratch_(f_.regions.add(Region{})) {
    bool any = false;
    forEachOp(f_, [&](OpId op) { any = any || isReadInPart(op); });
    if (any) sharing_.emplace(m, f_);
  }

  bool run() {
    region(f_.body);
    if (!dims_.empty()) replaceDims(m_, id_, dims_);
    return changed_;
  }

private:
  const Op* defOf(ValueId v, OpKind kind) const {
    OpId def = f_.values[v].def;
    return def.valid() && f_.ops[def].kind == kind ? &f_.ops[def] : nullptr;
  }
  std::optional<uint64_t> constantOf(ValueId v) const {
    const Op* op = defOf(v, OpKind::Const);
    if (!op || types_.kind(f_.typeOf(v)) == TypeKind::Str) return std::nullopt;
    return op->as<Constant>().bits;
  }
  bool isConstant(ValueId v, int64_t value) const {
    std::optional<uint64_t> bits = constantOf(v);
    return bits && types_.isInt(f_.typeOf(v)) && signedBits(types_.kind(f_.typeOf(v)), *bits) == value;
  }

  /// The ops of a region that stay, in order.
  struct Passed {
    RegionId region;
    std::vector<OpId> ops;
  };

  void region(RegionId r) {
    known_.open();
    const Ranges::Mark mark = ranges_.enter(r);
    const size_t decided = decided_.size();
    enterArm(r);
    Passed out{r, {}};
    splice(f_.regions[r].ops, out);
    f_.regions[r].ops = std::move(out.ops);
    decided_.resize(decided);
    ranges_.leave(mark);
    known_.close();
  }

  /// In an arm of a branch the condition is decided, and with it the conditions that it is made of.
  void enterArm(RegionId r) {
    const OpId parent = f_.regions[r].parent;
    if (!parent.valid() || f_.ops[parent].kind != OpKind::If) return;
    decide(f_.ops[parent].operands[0], r == f_.ops[parent].regions[0]);
  }
  void decide(ValueId condition, bool holds) {
    decided_.emplace_back(condition, holds);
    const OpId def = f_.values[condition].def;
    if (!def.valid()) return;
    const Op& op = f_.ops[def];
    if (op.kind == OpKind::Not) return decide(op.operands[0], !holds);
    if (op.kind != (holds ? OpKind::And : OpKind::Or)) return;
    for (ValueId each : op.operands) decide(each, holds);
  }
  /// Operands that are conditions decided by a branch around become constants.
  void useDecided(OpId id, Passed& out) {
    if (decided_.empty()) return;
    for (size_t k = 0; k < f_.ops[id].operands.size(); ++k) {
      const ValueId v = f_.ops[id].operands[k];
      if (types_.kind(f_.typeOf(v)) != TypeKind::Bool) continue;
      const auto at = std::ranges::find(decided_, v, &std::pair<ValueId, bool>::first);
      if (at == decided_.end()) continue;
      const bool holds = at->second;
      make(id, out, [&](Builder& b) {
        const ValueId known = b.boolean(holds);
        uses_.change(id, [&](Op& own) { own.operands[k] = known; });
      });
    }
  }

  void splice(const std::vector<OpId>& list, Passed& out) {
    work.ops += list.size();
    for (OpId id : list) {
      if (step(id, out)) {
        uses_.leave(id);
        changed_ = true;
      } else {
        const Op& stays = f_.ops[id];
        ranges_.define(stays);
        if (stays.kind == OpKind::BindDim && isAxis(stays.operands[0]))
          axes_.insert_or_assign(stays.resultDims[0], stays.operands[0]);
        out.ops.push_back(id);
      }
    }
  }
  bool isAxis(ValueId v) const {
    const Value& value = f_.values[v];
    if (value.def.valid() || value.region == f_.body) return false;
    return f_.ops[f_.regions[value.region].parent].kind == OpKind::Nest;
  }
  void replace(const Op& op, size_t k, ValueId by) { uses_.replace(op.results[k], by); }
  /// What a symbol stands for may mention symbols that were replaced before.
  void replaceDim(DimSym s, DimId by) { dims_.insert_or_assign(s, types_.dims.substitute(by, dims_)); }

  /// Whether the op is gone: its results stand for other values, or its region's ops were put in `out`.
  bool step(OpId id, Passed& out) {
    useDecided(id, out);
    Op& op = f_.ops[id];
    if (op.kind == OpKind::Yield) return false;
    if (op.kind == OpKind::If && chooseArm(op, out)) return true;
    if (op.kind == OpKind::Match && chooseCase(op, out)) return true;
    if (op.kind == OpKind::Nest && onePoint(op, out)) return true;
    if (op.kind == OpKind::For && fewTurns(op, out)) return true;
    if (op.kind == OpKind::Check && ranges_.isProved(op))
      return noteGone(f_, id_, id, GoneKind::Proved), true;
    for (RegionId inner : op.regions) region(inner);
    if (op.kind == OpKind::If) sameInBothArms(op);
    if (op.kind == OpKind::If && isOtherArm(op)) return takeRegion(op, op.regions[1], out);
    if (op.kind == OpKind::If) connect(id, out);
    if (op.kind == OpKind::If || op.kind == OpKind::Select) canonicalChoice(id, out);
    if (op.kind == OpKind::For || op.kind == OpKind::While) unchangedCarries(op);
    if (op.kind == OpKind::Cmp && compareCondition(id)) return true;
    if (op.kind == OpKind::Cmp) compare(id);
    if (op.kind == OpKind::Cmp) compareMagnitude(id, out);
    if (op.kind == OpKind::Not && negate(id, out)) return true;
    if (op.kind == OpKind::Get) readInPlace(id, out);
    if (op.kind == OpKind::IDiv) partOfSize(id);
    if (identity(op) || bindKnown(op)) return true;
    constants(id);
    return common(id);
  }

  /// Of sizes it is said as it was: no loop tells them apart.
  bool areSizes(ValueId a, ValueId b) { return ranges_.sizeOf(a) && ranges_.sizeOf(b); }
  /// What a comparison always is; `==` and `!=` with an end of what an i64 may be are orders, which ranges
  /// and loops are cut by: an index is 0 where it is at most 0, and the last one where it is no less.
  void compare(OpId id) {
    Op& op = f_.ops[id];
    const ValueId a = op.operands[0], b = op.operands[1];
    const auto kind = static_cast<ops::CmpKind>(op.index());
    const bool isEqual = kind == ops::CmpKind::Eq;
    auto become = [&](ops::CmpKind order) {
      op.attr = static_cast<uint32_t>(order);
      changed_ = true;
    };
    if (f_.typeOf(a) == types_.int64() && (isEqual || kind == ops::CmpKind::Ne) && !areSizes(a, b)) {
      if (ranges_.isNoLess(a, b))
        become(isEqual ? ops::CmpKind::Le : ops::CmpKind::Gt);
      else if (ranges_.isNoLess(b, a))
        become(isEqual ? ops::CmpKind::Ge : ops::CmpKind::Lt);
    }
    if (const std::optional<bool> always = ranges_.compared(op)) becomeConstant(id, *always);
  }

  /// `c == true` and `c != false` are c; `c == false` and `c != true` are `not c`.
  bool compareCondition(OpId id) {
    const Op& op = f_.ops[id];
    const auto how = static_cast<ops::CmpKind>(op.index());
    if (types_.kind(f_.typeOf(op.operands[0])) != TypeKind::Bool ||
        (how != ops::CmpKind::Eq && how != ops::CmpKind::Ne))
      return false;
    for (size_t k : {0, 1}) {
      const std::optional<uint64_t> known = constantOf(op.operands[k]);
      if (!known) continue;
      const ValueId condition = op.operands[1 - k];
      if ((*known != 0) == (how == ops::CmpKind::Eq)) return replace(op, 0, condition), true;
      uses_.change(id, [&](Op& own) {
        own.kind = OpKind::Not;
        own.operands = {condition};
        own.attr = {};
      });
      changed_ = true;
      return false;
    }
    return false;
  }
  /// The negation of a disjunction, or of a comparison of integers.
  bool negate(OpId id, Passed& out) {
    const ValueId condition = f_.ops[id].operands[0];
    if (types_.kind(f_.typeOf(condition)) != TypeKind::Bool || !negation_.isConjunction(condition))
      return false;
    make(id, out, [&](Builder& b) { replace(f_.ops[id], 0, negation_.emit(b, condition)); });
    return true;
  }
  /// `abs x <= y` is `x <= y and x >= -y`, and `abs x > y` is the opposite, unless `abs x` wraps.
  void compareMagnitude(OpId id, Passed& out) {
    using ops::CmpKind;
    const Op& op = f_.ops[id];
    if (op.kind != OpKind::Cmp || f_.typeOf(op.operands[0]) != types_.int64()) return;
    const auto how = static_cast<CmpKind>(op.index());
    const size_t side = defOf(op.operands[0], OpKind::Abs) ? 0 : 1;
    const Op* magnitude = defOf(op.operands[side], OpKind::Abs);
    if (!magnitude || how == CmpKind::Eq || how == CmpKind::Ne) return;
    const ValueId x = magnitude->operands[0], y = op.operands[1 - side];
    if (!ranges_.isAtLeast(x, -INT64_MAX)) return;
    const bool isBelow = (how == CmpKind::Lt || how == CmpKind::Le) == (side == 0);
    const bool isStrict = how == CmpKind::Lt || how == CmpKind::Gt;
    make(id, out, [&](Builder& b) {
      const CmpKind below = isStrict ? CmpKind::Lt : CmpKind::Le,
                    above = isStrict ? CmpKind::Gt : CmpKind::Ge;
      const ValueId first = b.compare(isBelow ? below : above, x, y),
                    second = b.compare(isBelow ? above : below, x, b.unary(OpKind::Neg, y));
      uses_.change(id, [&](Op& own) {
        own.kind = isBelow ? OpKind::And : OpKind::Or;
        own.operands = {first, second};
        own.attr = {};
      });
    });
  }

  // --- branches
  // ---------------------------------------------------------------------------------------------------

  /// The ops of the region come in the place of the op it belongs to; what ends it, which stays.
  OpId open(RegionId r, Passed& out) {
    std::vector<OpId> inner = std::move(f_.regions[r].ops);
    const OpId end = inner.back();
    f_.regions[r].ops = {end};
    inner.pop_back();
    for (OpId id : inner) uses_.move(id, out.region);
    splice(inner, out);
    return end;
  }
  bool takeRegion(const Op& op, RegionId r, Passed& out) {
    const OpId end = open(r, out);
    for (size_t k = 0; k < op.results.size(); ++k) replace(op, k, f_.ops[end].operands[k]);
    for (size_t k = 0; k < op.resultDims.size(); ++k) replaceDim(op.resultDims[k], f_.ops[end].dims[k]);
    return true;
  }
  bool chooseArm(const Op& op, Passed& out) {
    std::optional<uint64_t> c = constantOf(op.operands[0]);
    return c && takeArm(op, op.regions[*c ? 0 : 1], out);
  }
  /// The other regions never run.
  bool takeArm(const Op& op, RegionId taken, Passed& out) {
    for (RegionId r : op.regions)
      if (r != taken) noteGone(f_, id_, r, GoneKind::NeverRuns);
    return takeRegion(op, taken, out);
  }
  /// `if a { b } else { false }` becomes `a and b`.
  void connect(OpId id, Passed& out) {
    const std::optional<Connective> found = connectiveOf(m_, f_, f_.ops[id]);
    if (!found) return;
    const ValueId other = f_.ops[open(f_.ops[id].regions[found->condition], out)].operands[0];
    const ValueId first = f_.ops[id].operands[0];
    uses_.leave(id); // with what stood in its regions
    Op& op = f_.ops[id];
    op.kind = found->kind;
    op.operands = {first, other};
    op.regions.clear();
    uses_.enter(id, out.region);
    changed_ = true;
  }
  /// The canonical form of an `if` or a `select` (canonical_branches.h).
  void canonicalChoice(OpId id, Passed& out) {
    if (f_.ops[id].kind == OpKind::If) joinNested(id, out);
    if (f_.ops[id].kind != OpKind::If && f_.ops[id].kind != OpKind::Select) return;
    if (becomesExtremum(id, out)) return;
    if (!belongsLast(f_, f_.ops[id]) || !negation_.isConjunction(f_.ops[id].operands[0])) return;
    make(id, out, [&](Builder& b) {
      const ValueId other = negation_.emit(b, f_.ops[id].operands[0]);
      uses_.change(id, [&](Op& own) {
        own.operands[0] = other;
        if (own.kind == OpKind::If)
          std::swap(own.regions[0], own.regions[1]);
        else
          std::swap(own.operands[1], own.operands[2]);
      });
    });
  }
  bool becomesExtremum(OpId id, Passed& out) {
    const std::optional<Extremum> found = extremumOf(m_, f_, f_.ops[id], ranges_);
    if (!found) return false;
    Op& op = f_.ops[id];
    uses_.change(id, [&](Op& own) { // the sides as operands follow what their ops become
      own.operands.push_back(found->a);
      own.operands.push_back(found->b);
    });
    for (RegionId arm : Regions(op.regions)) open(arm, out);
    Operands sides = {op.operands.end()[-2], op.operands.end()[-1]};
    uses_.leave(id);
    op.kind = found->kind;
    op.operands = std::move(sides);
    op.regions.clear();
    uses_.enter(id, out.region);
    return changed_ = true;
  }
  /// Two branches, the second in the first arm of the first, as one.
  void joinNested(OpId id, Passed& out) {
    const std::optional<OpId> inner = nestedBranch(m_, f_, f_.ops[id]);
    if (!inner) return;
    const RegionId arm = f_.ops[id].regions[0], taken = f_.ops[*inner].regions[0];
    std::vector<OpId>& ops = f_.regions[arm].ops;
    std::vector<OpId> before(ops.begin(), ops.end() - 2);
    ops.erase(ops.begin(), ops.end() - 2);
    for (OpId each : before) uses_.move(each, out.region);
    splice(before, out);
    const ValueId first = f_.ops[id].operands[0], second = f_.ops[*inner].operands[0];
    uses_.leave(id);
    make(id, out, [&](Builder& b) {
      Op& op = f_.ops[id];
      op.operands[0] = b.binary(OpKind::And, first, second);
      op.regions[0] = taken;
      f_.regions[taken].parent = id;
      uses_.enter(id, out.region);
    });
  }
  /// Ops that `write` appends come before the op, which may already use them.
  template <class Write>
  void make(OpId before, Passed& out, const Write& write) {
    Builder b(m_, id_, scratch_, f_.ops[before].loc);
    write(b);
    const std::vector<OpId> made = std::move(f_.regions[scratch_].ops);
    f_.regions[scratch_].ops.clear();
    for (OpId each : made) uses_.enter(each, out.region);
    splice(made, out);
    changed_ = true;
  }
  bool chooseCase(const Op& op, Passed& out) {
    const Op* made = defOf(op.operands[0], OpKind::Variant);
    if (!made) return false;
    RegionId r = op.regions[op.as<MatchAttr>().regionOf[made->index()]];
    const std::vector<ValueId>& params = f_.regions[r].params;
    for (size_t k = 0; k < params.size(); ++k) uses_.replace(params[k], made->operands[k]);
    return takeArm(op, r, out);
  }
  /// A nest of no axes is its body, unless its accumulators begin here.
  bool onePoint(const Op& op, Passed& out) {
    if (!op.dims.empty()) return false;
    for (const NestResult& r : nestResults(op))
      if (r.kind != NestResultKind::Collect) return false;
    for (ValueId v : op.operands)
      if (types_.kind(f_.typeOf(v)) != TypeKind::Acc) return false;
    const std::vector<ValueId>& accs = f_.regions[op.regions[0]].params;
    for (size_t k = 0; k < accs.size(); ++k) uses_.replace(accs[k], op.operands[k]);
    return takeRegion(op, op.regions[0], out);
  }
  /// A loop that stacks nothing: of one turn it is its body, of none what it begins with.
  bool fewTurns(const Op& op, Passed& out) {
    const LoopView loop(f_, op);
    const std::optional<uint64_t> count = constantOf(loop.count());
    if (!count || loop.stacks() > 0 || !loop.bodyDims().empty()) return false;
    const auto turns = static_cast<int64_t>(*count);
    if (turns > 1) return false;
    if (turns < 1) {
      for (uint32_t k = 0; k < loop.carries(); ++k) replace(op, k, loop.carryOperands()[k]);
      noteGone(f_, id_, loop.body(), GoneKind::NeverRuns);
      return true;
    }
    uses_.replace(loop.index(), integer(0, op.loc, out));
    for (uint32_t k = 0; k < loop.carries(); ++k)
      uses_.replace(loop.carryParams()[k], loop.carryOperands()[k]);
    return takeRegion(op, loop.body(), out);
  }
  /// A constant that comes next.
  ValueId integer(int64_t value, LocId loc, Passed& out) {
    Builder b(m_, id_, scratch_, loc);
    const ValueId v = b.integer(value);
    const OpId made = f_.values[v].def;
    f_.regions[scratch_].ops.clear();
    uses_.enter(made, out.region);
    out.ops.push_back(made);
    return v;
  }
  void sameInBothArms(const Op& op) {
    for (size_t k = 0; k < op.results.size(); ++k) {
      ValueId a = terminator(f_, op.regions[0]).operands[k], b = terminator(f_, op.regions[1]).operands[k];
      if (a != b || !uses_.used(op.results[k]) || f_.typeOf(a) != f_.typeOf(op.results[k])) continue;
      replace(op, k, a);
      changed_ = true;
    }
  }

  /// `if x == 0 { 0 } else { x * y }` is x * y.
  bool isOtherArm(const Op& op) const {
    const Op* cmp = defOf(op.operands[0], OpKind::Cmp);
    if (!cmp || cmp->index() != static_cast<uint32_t>(ops::CmpKind::Eq) || !isConstant(cmp->operands[1], 0))
      return false;
    const ValueId x = cmp->operands[0];
    auto isProduct = [&](OpId id) {
      const OpKind kind = f_.ops[id].kind;
      return kind == OpKind::Const || kind == OpKind::DimValue || kind == OpKind::Mul ||
             kind == OpKind::Yield;
    };
    auto isFactor = [&](ValueId v) {
      const Op* product = defOf(v, OpKind::Mul);
      return v == x || (product && std::ranges::find(product->operands, x) != product->operands.end());
    };
    const Op &zero = terminator(f_, op.regions[0]), &other = terminator(f_, op.regions[1]);
    return op.resultDims.empty() && !op.results.empty() &&
           std::ranges::all_of(zero.operands, [&](ValueId v) { return isConstant(v, 0); }) &&
           std::ranges::all_of(other.operands, isFactor) &&
           std::ranges::all_of(f_.regions[op.regions[0]].ops, isProduct) &&
           std::ranges::all_of(f_.regions[op.regions[1]].ops, isProduct);
  }

  /// A carry that goes around as it is was there before the loop.
  void unchangedCarries(const Op& op) {
    const LoopView loop(f_, op);
    for (uint32_t k = 0; k < loop.carries(); ++k) {
      const ValueId before = loop.carryOperands()[k], yielded = loop.carryYields()[k];
      const ValueId param = loop.carryParams()[k], result = loop.carryResults()[k];
      const bool same = f_.typeOf(param) == f_.typeOf(before) && f_.typeOf(result) == f_.typeOf(before) &&
                        types_.kind(f_.typeOf(before)) != TypeKind::Acc;
      if (!same || (yielded != param && yielded != before)) continue;
      auto by = [&](ValueId v) {
        changed_ |= uses_.used(v);
        uses_.replace(v, before);
      };
      by(result);
      by(param);
      if (!loop.isCounted()) by(loop.carryParams(loop.condition())[k]);
    }
  }

  // --- what was put together
  // --------------------------------------------------------------------------------------

  bool identity(const Op& op) {
    switch (op.kind) {
    case OpKind::CastDims:
      if (f_.typeOf(op.operands[0]) != f_.typeOf(op.results[0])) return false;
      return replace(op, 0, op.operands[0]), true;
    case OpKind::DimValue: {
      const std::optional<DimSym> size = types_.dims.asSymbol(op.dims[0]);
      const auto axis = size ? axes_.find(*size) : axes_.end();
      return axis != axes_.end() && (replace(op, 0, axis->second), true);
    }
    case OpKind::Get: return takeApart(op);
    case OpKind::Capture: {
      const Op* made = defOf(op.operands[0], OpKind::Known);
      if (!made) return false;
      return replace(op, 0, made->operands[op.index()]), true;
    }
    case OpKind::Unpack: return unpack(op);
    case OpKind::Select: {
      std::optional<uint64_t> c = constantOf(op.operands[0]);
      if (!c && op.operands[1] != op.operands[2]) return false;
      return replace(op, 0, op.operands[!c || *c ? 1 : 2]), true;
    }
    case OpKind::Max:
    case OpKind::Min: return extremum(op);
    case OpKind::Convert:
      if (countedUnsigned(op)) return true;
      [[fallthrough]];
    case OpKind::Reshape:
      if (f_.typeOf(op.operands[0]) == f_.typeOf(op.results[0])) return replace(op, 0, op.operands[0]), true;
      if (op.kind == OpKind::Reshape && defOf(op.operands[0], OpKind::Zero))
        becomeZero(f_.values[op.results[0]].def);
      return false;
    case OpKind::Not:
    case OpKind::Neg: {
      const Op* inner = defOf(op.operands[0], op.kind);
      if (!inner) return false;
      return replace(op, 0, inner->operands[0]), true;
    }
    default: return arithmetic(op);
    }
  }

  /// Exact for floats too: x · 1, x / 1, x - 0. (x + 0 is not: the sum of -0 and 0 is 0.)
  bool arithmetic(const Op& op) {
    if (op.operands.size() != 2 || op.results.size() != 1) return false;
    ValueId a = op.operands[0], b = op.operands[1];
    TypeKind kind = types_.kind(f_.typeOf(a));
    auto is = [&](ValueId v, int64_t n) {
      std::optional<uint64_t> bits = constantOf(v);
      if (bits && (kind == TypeKind::F32 || kind == TypeKind::F64))
        return *bits == floatBits(kind, static_cast<double>(n));
      return isConstant(v, n);
    };
    bool isInt = types::isIntKind(kind);
    ValueId same;
    if (op.kind == OpKind::Mul && is(b, 1)) same = a;
    if (op.kind == OpKind::Mul && is(a, 1)) same = b;
    if ((op.kind == OpKind::Div || op.kind == OpKind::IDiv) && is(b, 1)) same = a;
    if (op.kind == OpKind::Sub && is(b, 0)) same = a;
    if (op.kind == OpKind::Add && isInt && is(b, 0)) same = a;
    if (op.kind == OpKind::Add && isInt && is(a, 0)) same = b;
    if (isInt && op.kind == OpKind::Mul && is(a, 0)) same = a;
    if (isInt && op.kind == OpKind::Mul && is(b, 0)) same = b;
    if (!same.valid() && isInt && op.kind == OpKind::Add) same = sumWithDifference(a, b);
    if (!same.valid() && isInt && op.kind == OpKind::Sub) same = differenceOfSum(a, b);
    if (kind == TypeKind::Bool && (op.kind == OpKind::And || op.kind == OpKind::Or))
      same = connective(op, a, b);
    if (!same.valid()) return false;
    return replace(op, 0, same), true;
  }
  /// (x - y) + y is x, also where it wraps.
  ValueId sumWithDifference(ValueId a, ValueId b) const {
    for (auto [difference, y] : {std::pair(a, b), std::pair(b, a)})
      if (const Op* sub = defOf(difference, OpKind::Sub); sub && sub->operands[1] == y)
        return sub->operands[0];
    return {};
  }
  /// (x + y) - y is x, also where it wraps.
  ValueId differenceOfSum(ValueId a, ValueId b) const {
    const Op* sum = defOf(a, OpKind::Add);
    if (!sum) return {};
    if (sum->operands[1] == b) return sum->operands[0];
    return sum->operands[0] == b ? sum->operands[1] : ValueId();
  }
  /// Of two i64 one of which is never the lesser.
  bool extremum(const Op& op) {
    if (f_.typeOf(op.results[0]) != types_.int64()) return false;
    ValueId a = op.operands[0], b = op.operands[1];
    bool isMax = op.kind == OpKind::Max;
    if (ranges_.isNoLess(a, b)) return replace(op, 0, isMax ? a : b), true;
    if (ranges_.isNoLess(b, a)) return replace(op, 0, isMax ? b : a), true;
    return false;
  }
  /// An i64 that is not negative, to u64 and back.
  bool countedUnsigned(const Op& op) {
    const Op* inner = defOf(op.operands[0], OpKind::Convert);
    bool back = inner && f_.typeOf(op.results[0]) == types_.int64() &&
                types_.kind(f_.typeOf(op.operands[0])) == TypeKind::U64 &&
                f_.typeOf(inner->operands[0]) == types_.int64();
    if (!back || !ranges_.isNatural(inner->operands[0])) return false;
    return replace(op, 0, inner->operands[0]), true;
  }
  ValueId connective(const Op& op, ValueId a, ValueId b) const {
    bool neutral = op.kind == OpKind::And;
    if (a == b) return a;
    if (std::optional<uint64_t> c = constantOf(a)) return (*c != 0) == neutral ? b : a;
    if (std::optional<uint64_t> c = constantOf(b)) return (*c != 0) == neutral ? a : b;
    return {};
  }

  /// Whether the op reads an element of a list that was read out of a place.
  bool isReadInPart(OpId id) const {
    const Op& op = f_.ops[id];
    if (op.kind != OpKind::Get) return false;
    auto isElement = [](const PathStep& s) { return s.kind == StepKind::Element; };
    auto isPart = [](const PathStep& s) { return s.kind == StepKind::Slice || s.kind == StepKind::All; };
    const Path& path = op.as<Path>();
    const Op* list = defOf(op.operands[0], OpKind::Get);
    return list && std::any_of(path.begin(), path.end(), isElement) &&
           std::none_of(list->as<Path>().begin(), list->as<Path>().end(), isPart);
  }
  /// Such an element is read there: its derivative is then that of the place, not a list of zeros beside it.
  /// Not where that would have to copy what is read later.
  void readInPlace(OpId id, const Passed& before) {
    if (!sharing_ || !isReadInPart(id)) return;
    const OpId read = f_.values[f_.ops[id].operands[0]].def;
    const Op* list = &f_.ops[read];
    if (uses_.regionOf(read) != before.region || !sharing_->mayUseLater(list->operands[0], read, id)) return;
    uses_.change(id, [&](Op& own) {
      const Path& outer = list->as<Path>();
      own.as<Path>().insert(own.as<Path>().begin(), outer.begin(), outer.end());
      own.operands.erase(own.operands.begin());
      own.operands.insert(own.operands.begin(), list->operands.begin(), list->operands.end());
    });
    changed_ = true;
  }
  /// The op reads another value than before.
  bool readFrom(const Op& op, ValueId v, bool dropStep) {
    uses_.change(f_.values[op.results[0]].def, [&](Op& own) {
      own.operands[0] = v;
      if (dropStep) own.as<Path>().erase(own.as<Path>().begin());
    });
    changed_ = true;
    return false;
  }

  bool takeApart(const Op& op) {
    const auto& path = op.as<Path>();
    if (std::ranges::all_of(path, [](const PathStep& s) { return s.kind == StepKind::All; }))
      return replace(op, 0, op.operands[0]), true;
    if (path[0].kind != StepKind::Field) return false;
    uint32_t k = path[0].number;
    ValueId from = op.operands[0];
    if (path.size() == 1) {
      if (const Op* made = defOf(from, OpKind::Make)) return replace(op, 0, made->operands[k]), true;
    } else if (const Op* made = defOf(from, OpKind::Make)) { // the rest of the path goes on in the part
      return readFrom(op, made->operands[k], true);
    }
    const Op* update = defOf(from, OpKind::Set);
    if (!update) return false;
    const auto& written = update->as<Path>();
    if (written.empty() || written[0].kind != StepKind::Field) return false;
    if (written[0].number != k) return readFrom(op, update->operands[0], false); // another field was replaced
    if (written.size() != 1 || path.size() != 1) return false;
    return replace(op, 0, update->operands[1]), true;
  }

  bool unpack(const Op& op) {
    const Op* made = defOf(op.operands[0], OpKind::Pack);
    if (!made) return false;
    for (size_t k = 0; k < op.resultDims.size(); ++k) replaceDim(op.resultDims[k], made->dims[k]);
    return replace(op, 0, made->operands[0]), true;
  }

  bool bindKnown(const Op& op) {
    if (op.kind != OpKind::BindDim) return false;
    const std::optional<DimId> size = ranges_.sizeOf(op.operands[0]); // an i64 that wraps is no dimension
    if (size) replaceDim(op.resultDims[0], *size);
    return size.has_value();
  }

  /// The quotient of a size is one as well, which is the same wherever it is asked for.
  void partOfSize(OpId id) {
    if (!defOf(f_.ops[id].operands[0], OpKind::DimValue)) return;
    const std::optional<DimId> part = ranges_.sizeOf(f_.ops[id].results[0]);
    if (!part || types_.dims.isTooLarge(*part)) return;
    uses_.change(id, [&](Op& op) {
      op.kind = OpKind::DimValue;
      op.operands.clear();
      op.dims = {*part};
      op.attr = {};
    });
    changed_ = true;
  }

  // --- constants
  // --------------------------------------------------------------------------------------------------

  void constants(OpId id) {
    const Op& op = f_.ops[id];
    if (op.kind == OpKind::DimValue) {
      if (std::optional<int64_t> c = types_.dims.asConstant(op.dims[0]))
        becomeConstant(id, static_cast<uint64_t>(*c));
      return;
    }
    if (op.results.size() != 1 || op.operands.empty() || !op.regions.empty()) return;
    std::vector<uint64_t> x;
    for (ValueId v : op.operands) {
      std::optional<uint64_t> c = constantOf(v);
      if (!c) return;
      x.push_back(*c);
    }
    const TypeKind kind = types_.kind(f_.typeOf(op.operands[0]));
    if (isRoundedProduct(op, kind, x)) return;
    std::optional<uint64_t> r = foldScalar(op, kind, types_.kind(f_.typeOf(op.results[0])), x);
    if (r) becomeConstant(id, *r);
  }
  void becomeZero(OpId id) {
    uses_.change(id, [](Op& op) {
      op.kind = OpKind::Zero;
      op.operands.clear();
    });
    changed_ = true;
  }
  void becomeConstant(OpId id, uint64_t bits) {
    uses_.change(id, [&](Op& op) {
      op.kind = OpKind::Const;
      op.operands.clear();
      op.dims.clear();
      op.attr = Constant{bits, {}};
    });
    changed_ = true;
  }

  // --- common subexpressions
  // --------------------------------------------------------------------------------------

  bool common(OpId id) {
    const Op& op = f_.ops[id];
    // What is opened or counted twice has the same sizes both times.
    const bool open = op.kind == OpKind::Unpack || op.kind == OpKind::BindDim;
    if (!open && !isComparable(op)) return false;
    const OpId before = known_.find(id);
    if (!before.valid()) return false;
    const Op& first = f_.ops[before];
    for (size_t k = 0; k < op.resultDims.size(); ++k)
      replaceDim(op.resultDims[k], types_.dims.symbol(first.resultDims[k]));
    for (size_t k = 0; k < op.results.size(); ++k) replace(op, k, first.results[k]);
    noteGone(f_, id_, id, GoneKind::Repeated);
    return true;
  }
  bool isComparable(const Op& op) const {
    const bool check = op.kind == OpKind::Check;
    if (!check && ops::opEffect(op.kind) != ops::EffectKind::None) return false;
    if (!op.resultDims.empty() || op.kind == OpKind::Undef || op.kind == OpKind::Zero) return false;
    if (op.operands.empty() && op.kind != OpKind::Const && op.kind != OpKind::DimValue && !check)
      return false;
    return std::none_of(op.operands.begin(), op.operands.end(),
                        [&](ValueId v) { return types_.kind(f_.typeOf(v)) == TypeKind::Acc; });
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  types::TypeStore& types_;
  Ranges ranges_;
  LiveUses uses_;
  Negation negation_;
  KnownOps known_;
  types::DimSubst dims_;                          ///< what symbols stand for, from the end of the round on
  std::unordered_map<DimSym, ValueId> axes_;      ///< of nests, that sizes are bound to
  std::vector<std::pair<ValueId, bool>> decided_; ///< conditions, by the branches around
  RegionId scratch_;                              ///< where constants are made
  std::optional<Sharing> sharing_;                ///< where it is asked
  bool changed_ = false;
};

} // namespace

bool foldFunction(Module& m, FunctionId f) { return Folder(m, f).run(); }

void simplify(Module& m) {
  // Folding makes values dead and dead values make folding possible; a few rounds are enough, the bound is a
  // guard. A function that did not change is left alone, unless what one that it calls may do did.
  std::vector<bool> left(m.functions.size(), true);
  Effects effects(m);
  for (int round = 0; round < 12; ++round) {
    bool changed = false;
    for (uint32_t i = 0; i < m.functions.size(); ++i) {
      FunctionId f(i);
      if (!left[i] || !m.functions[f].body.valid()) continue;
      left[i] = foldFunction(m, f);
      if (eliminateDeadValues(m, f, effects)) left[i] = true;
      changed |= left[i];
    }
    if (!changed) return;
    Effects now(m);
    if (!(now == effects)) left.assign(left.size(), true);
    effects = std::move(now);
  }
}

} // namespace melix::transforms
