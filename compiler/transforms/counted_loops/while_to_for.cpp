#include "transforms/counted_loops/while_to_for.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/flow.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// The number that a loop counts, and how far.
struct Count {
  size_t carry;
  int64_t step; ///< not 0
  ValueId end;
  ops::CmpKind compares; ///< the number with the end: Lt, Le, Gt or Ge
};

class LoopCounter {
public:
  LoopCounter(Module& m, FunctionId f) : m_(m), f_(f) {}
  bool changed = false;

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      for (RegionId inner : Regions(fn().ops[id].regions)) run(inner);
      if (fn().ops[id].kind != OpKind::While) return true;
      const std::optional<Count> count = countOf(id);
      if (!count) return true;
      Builder b(m_, f_, region, fn().ops[id].loc);
      convert(b, id, *count);
      return !(changed = true);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  std::optional<int64_t> constantOf(ValueId v) const {
    const OpId def = fn().values[v].def;
    if (!def.valid() || fn().ops[def].kind != OpKind::Const) return std::nullopt;
    return static_cast<int64_t>(fn().ops[def].as<Constant>().bits);
  }

  std::optional<Count> countOf(OpId id) const {
    const LoopView loop(fn(), fn().ops[id]);
    if (!loop.bodyDims().empty() || !loop.resultDims().empty()) return std::nullopt;
    std::optional<Count> count = comparisonOf(loop);
    if (!count) return std::nullopt;
    const std::optional<int64_t> step = stepOf(loop, count->carry);
    if (!step || *step == 0 || *step == INT64_MIN) return std::nullopt;
    const bool rises = count->compares == ops::CmpKind::Lt || count->compares == ops::CmpKind::Le;
    count->step = *step;
    const bool isByOne =
        std::abs(*step) == 1 && (count->compares == ops::CmpKind::Lt || count->compares == ops::CmpKind::Gt);
    return rises == (*step > 0) && (isByOne || isFarFromWrapping(count->end, *step)) ? count : std::nullopt;
  }

  /// The condition, if it is one comparison of a carried number with one from outside.
  std::optional<Count> comparisonOf(const LoopView& loop) const {
    const Region& region = fn().regions[loop.condition()];
    std::unordered_set<OpId> own(region.ops.begin(), region.ops.end());
    for (OpId each : region.ops) {
      const OpKind kind = fn().ops[each].kind;
      if (kind != OpKind::Const && kind != OpKind::Cmp && kind != OpKind::DimValue && kind != OpKind::Yield)
        return std::nullopt;
    }
    const OpId test = fn().values[terminator(fn(), loop.condition()).operands[0]].def;
    if (!test.valid() || !own.contains(test) || fn().ops[test].kind != OpKind::Cmp) return std::nullopt;
    const Op& op = fn().ops[test];
    auto kind = static_cast<ops::CmpKind>(op.index());
    auto carryOf = [&](ValueId v) {
      const auto params = loop.carryParams(loop.condition());
      return static_cast<size_t>(std::ranges::find(params, v) - params.begin());
    };
    size_t carry = carryOf(op.operands[0]), other = carryOf(op.operands[1]);
    ValueId end = op.operands[1];
    if (carry == loop.carries()) {
      std::swap(carry, other);
      end = op.operands[0];
      kind = mirrored(kind);
    }
    const bool isOrder = kind == ops::CmpKind::Lt || kind == ops::CmpKind::Le || kind == ops::CmpKind::Gt ||
                         kind == ops::CmpKind::Ge;
    if (!isOrder || carry == loop.carries() || other != loop.carries() ||
        m_.types.kind(fn().typeOf(end)) != TypeKind::I64)
      return std::nullopt;
    return Count{carry, 0, end, kind};
  }

  /// Whether a number that passes `end` by a step does not wrap, and no loop that ends has a trip count of
  /// 2^42 or more: `end` is a size, or a constant, and neither it nor the step is too large.
  bool isFarFromWrapping(ValueId end, int64_t step) const {
    constexpr int64_t far = int64_t(1) << 61, wide = int64_t(1) << 20;
    const OpId def = fn().values[end].def;
    const std::optional<int64_t> constant = constantOf(end);
    const bool isSmall = constant ? *constant > -far && *constant < far
                                  : def.valid() && fn().ops[def].kind == OpKind::DimValue;
    return isSmall && step > -wide && step < wide;
  }

  static ops::CmpKind mirrored(ops::CmpKind kind) {
    switch (kind) {
    case ops::CmpKind::Lt: return ops::CmpKind::Gt;
    case ops::CmpKind::Le: return ops::CmpKind::Ge;
    case ops::CmpKind::Gt: return ops::CmpKind::Lt;
    case ops::CmpKind::Ge: return ops::CmpKind::Le;
    default: return kind;
    }
  }

  /// What an iteration adds to a carry; nullopt if that is no constant.
  std::optional<int64_t> stepOf(const LoopView& loop, size_t carry) const {
    const OpId def = fn().values[loop.carryYields()[carry]].def;
    if (!def.valid()) return std::nullopt;
    const Op& op = fn().ops[def];
    const ValueId before = loop.carryParams()[carry];
    if (op.kind == OpKind::Add && op.operands[0] == before) return constantOf(op.operands[1]);
    if (op.kind == OpKind::Add && op.operands[1] == before) return constantOf(op.operands[0]);
    if (op.kind != OpKind::Sub || op.operands[0] != before) return std::nullopt;
    const std::optional<int64_t> less = constantOf(op.operands[1]);
    return less && *less != INT64_MIN ? std::optional(-*less) : std::nullopt;
  }

  void convert(Builder& b, OpId id, const Count& count) {
    const Op loop = fn().ops[id];
    const LoopView view(fn(), loop);
    const ValueId begin = view.carryOperands()[count.carry];
    const ValueId end = outside(b, view, count.end), times = tripCount(b, count, begin, end);
    Op made = Builder::simple(OpKind::For, {times}, LoopAttr{});
    std::vector<TypeId> types;
    Cloner copy(m_, f_, f_);
    Builder in = b.in(b.newRegion());
    const ValueId index = in.param(m_.types.int64());
    for (size_t k = 0; k < view.carries(); ++k) {
      if (k == count.carry) continue;
      made.operands.push_back(view.carryOperands()[k]);
      types.push_back(fn().typeOf(view.carryOperands()[k]));
      copy.values[view.carryParams()[k]] = in.param(types.back(), fn().values[view.carryParams()[k]].hint);
    }
    copy.values[view.carryParams()[count.carry]] = at(in, count, begin, index);
    const std::vector<ValueId> yields = copy.body(view.body(), in).values;
    Operands out;
    for (size_t k = 0; k < yields.size(); ++k)
      if (k != count.carry) out.push_back(yields[k]);
    in.yield(out);
    made.regions = {in.region};
    const OpId by = b.append(std::move(made), types);
    noteGone(fn(), f_, id, GoneKind::Proved);
    std::vector<ValueId> results;
    for (size_t k = 0; k < loop.results.size(); ++k)
      if (k != count.carry) results.push_back(loop.results[k]);
    takeOver(fn(), by, results);
    const ValueId last = at(b, count, begin, b.binary(OpKind::Max, times, b.integer(0)));
    takeOver(fn(), fn().values[last].def, std::span(&loop.results[count.carry], 1));
  }

  /// A value that the condition reads or makes, before the loop.
  ValueId outside(Builder& b, const LoopView& loop, ValueId v) const {
    const std::vector<OpId>& own = fn().regions[loop.condition()].ops;
    const OpId def = fn().values[v].def;
    if (!def.valid() || std::ranges::find(own, def) == own.end()) return v;
    Cloner copy(m_, f_, f_);
    copy.op(def, b);
    return copy.value(v);
  }

  /// The number after so many iterations.
  static ValueId at(Builder& b, const Count& count, ValueId begin, ValueId iterations) {
    const ValueId far =
        count.step == 1 ? iterations : b.binary(OpKind::Mul, iterations, b.integer(count.step));
    return b.binary(OpKind::Add, begin, far);
  }

  /// 0 or less if the loop does not run.
  ValueId tripCount(Builder& b, const Count& count, ValueId begin, ValueId end) const {
    const bool rises = count.step > 0;
    ValueId low = rises ? begin : end, high = rises ? end : begin;
    if (count.compares == ops::CmpKind::Le)
      high = b.binary(OpKind::Add, b.binary(OpKind::Min, high, b.integer(INT64_MAX - 1)), b.integer(1));
    if (count.compares == ops::CmpKind::Ge)
      low = b.binary(OpKind::Sub, b.binary(OpKind::Max, low, b.integer(INT64_MIN + 1)), b.integer(1));
    const ValueId way = wayOf(b, low, high);
    const int64_t step = rises ? count.step : -count.step;
    if (step == 1) return way;
    const ValueId last = b.binary(OpKind::Sub, b.binary(OpKind::Max, way, b.integer(0)), b.integer(1));
    return b.binary(OpKind::Add, b.binary(OpKind::IDiv, last, b.integer(step)), b.integer(1));
  }

  /// How far it is from one number up to another, at most 2^63 - 1; 0 or less if it is not above.
  ValueId wayOf(Builder& b, ValueId low, ValueId high) const {
    const std::optional<int64_t> begin = constantOf(low);
    if (begin && *begin == 0) return high;
    if (begin && *begin > 0) return b.binary(OpKind::Sub, b.binary(OpKind::Max, high, low), low);
    const ValueId zero = b.integer(0), way = b.binary(OpKind::Sub, high, low),
                  some = b.select(b.compare(ops::CmpKind::Lt, way, zero), b.integer(INT64_MAX), way);
    return b.select(b.compare(ops::CmpKind::Lt, low, high), some, zero);
  }

  Module& m_;
  const FunctionId f_;
};

} // namespace

bool whileToFor(Module& m) {
  return changeBodies(m, [&](FunctionId f) {
    LoopCounter s(m, f);
    s.run(m.functions[f].body);
    return s.changed;
  });
}

} // namespace melix::transforms
