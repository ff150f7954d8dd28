#include "loops/analysis/row_reduction.h"

#include <algorithm>
#include <bit>

namespace melix::loops {

using core::OpKind;

namespace {

class SumFinder {
public:
  explicit SumFinder(const Function& fn) : fn_(fn) {}

  std::optional<RowSum> run(RegionId region) const {
    RowSum out;
    StmtId sum;
    for (StmtId id : fn_.regions[region].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::For && !sum.valid() && !out.store.valid())
        sum = id;
      else if (s.kind == StmtKind::Store && sum.valid() && !out.store.valid())
        out.store = id;
      else if (!isNumber(s) && s.kind != StmtKind::Load)
        return std::nullopt;
    }
    if (!out.store.valid() || !carriesOne(fn_.stmts[sum]) || !isKept(out.store, sum, region))
      return std::nullopt;
    if (isFromZero(fn_.stmts[sum])) {
      const StmtId inner =
          onlyLoop(fn_, fn_.stmts[sum].regions[0], [this](const Stmt& s) { return isNumber(s); });
      if (inner.valid() && carriesOne(fn_.stmts[inner]) && cutsInto(sum, inner, out)) return out;
      out.chain = sum;
      out.rows = fn_.stmts[sum].operands[1];
      return out;
    }
    return std::nullopt;
  }

private:
  /// Nothing that fails, whatever it is computed of.
  bool isNumber(const Stmt& s) const {
    if (s.kind == StmtKind::Const || s.kind == StmtKind::Yield) return true;
    if (s.kind != StmtKind::Scalar) return false;
    const OpKind op = s.as<ScalarAttr>().op;
    return op != OpKind::IDiv && op != OpKind::IRem;
  }
  static bool carriesOne(const Stmt& loop) { return loop.results.size() == 1 && !loop.as<ForAttr>().polls; }
  bool isFromZero(const Stmt& loop) const {
    const uint64_t* begin = asConstant(fn_, loop.operands[0]);
    return begin && *begin == 0;
  }
  /// Whether memory for the number that is stored can keep what the sum carries, at a place that is known
  /// without it.
  bool isKept(StmtId store, StmtId sum, RegionId region) const {
    const Stmt& s = fn_.stmts[store];
    const ValueType type = fn_.typeOf(fn_.stmts[sum].results[0]);
    const auto& access = s.as<Access>();
    return isNumberType(type) && isNumberType(access.elem) && bytesOf(access.elem) == bytesOf(type) &&
           access.elemBytes == bytesOf(type) &&
           std::all_of(s.operands.begin(), s.operands.end() - 1,
                       [&](ValueId v) { return isPlace(v, region); });
  }
  static bool isNumberType(ValueType type) {
    return type.cls == ClassKind::Scalar && type.scalar != TypeKind::Bool;
  }
  bool isPlace(ValueId v, RegionId region) const {
    const StmtId def = fn_.values[v].def;
    if (!def.valid() || fn_.values[v].region != region) return true;
    const Stmt& s = fn_.stmts[def];
    return isNumber(s) && std::ranges::all_of(s.operands, [&](ValueId o) { return isPlace(o, region); });
  }

  const Stmt* scalar(ValueId v, OpKind op) const {
    const Stmt* s = scalarOf(fn_, v);
    return s && s->as<ScalarAttr>().op == op && s->as<ScalarAttr>().from == TypeKind::I64 ? s : nullptr;
  }
  /// The other operand of an op in any order.
  std::optional<ValueId> besides(const Stmt* s, ValueId v) const {
    if (!s) return std::nullopt;
    if (s->operands[0] == v) return s->operands[1];
    return s->operands[1] == v ? std::optional(s->operands[0]) : std::nullopt;
  }

  /// Whether the iterations of the inner loop are the rows, so many in each iteration of the outer one.
  bool cutsInto(StmtId outer, StmtId inner, RowSum& out) const {
    const Stmt &blocks = fn_.stmts[outer], &chain = fn_.stmts[inner];
    const ValueId first = chain.operands[0], index = fn_.regions[blocks.regions[0]].params[0];
    const std::optional<ValueId> factor = besides(scalar(first, OpKind::Mul), index);
    const uint64_t* size = factor ? asConstant(fn_, *factor) : nullptr;
    if (!size || !std::has_single_bit(*size) || fn_.typeOf(chain.results[0]) != fn_.typeOf(blocks.results[0]))
      return false;
    const Stmt* least = scalar(chain.operands[1], OpKind::Min);
    for (size_t k = 0; least && k < 2; ++k) {
      const std::optional<ValueId> step = besides(scalar(least->operands[k], OpKind::Add), first);
      const uint64_t* known = step ? asConstant(fn_, *step) : nullptr;
      const ValueId rows = least->operands[1 - k];
      if (!known || *known != *size || !isCount(blocks.operands[1], rows, *size)) continue;
      out.blocks = outer;
      out.chain = inner;
      out.blockRows = static_cast<int64_t>(*size);
      out.rows = rows;
      return true;
    }
    return false;
  }
  /// Whether a number is how many blocks that is.
  bool isCount(ValueId v, ValueId rows, uint64_t size) const {
    const uint64_t *count = asConstant(fn_, v), *known = asConstant(fn_, rows);
    if (count && known) return *count == (*known + size - 1) / size;
    const Stmt* shift = scalar(v, OpKind::Shr);
    const uint64_t* bits = shift ? asConstant(fn_, shift->operands[1]) : nullptr;
    const std::optional<ValueId> more =
        bits ? besides(scalar(shift->operands[0], OpKind::Add), rows) : std::nullopt;
    const uint64_t* filled = more ? asConstant(fn_, *more) : nullptr;
    return filled && *filled == size - 1 && uint64_t(1) << *bits == size;
  }

  const Function& fn_;
};

} // namespace

std::optional<RowSum> findRowSum(const Function& fn, RegionId region) { return SumFinder(fn).run(region); }

} // namespace melix::loops
