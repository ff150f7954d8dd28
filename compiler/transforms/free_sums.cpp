#include "transforms/free_sums.h"

#include "transforms/fusion.h"
#include "transforms/inside_out.h"
#include "transforms/sweep_body.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int deepest = 8; ///< sums and differences in a condition

class Freer {
public:
  Freer(Module& m, FunctionId f, const FreeingFacts& facts)
      : m_(m), f_(f), effects_(facts.effects), undefined_(facts.undefined), costs_(m, m.functions[f]) {}

  void nest(OpId id, Ranges& ranges) {
    if (isMade(fn().ops[id])) branchesOf(id, ranges);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// A nest that gives every point.
  static bool isMade(const Op& op) {
    return op.dims.size() <= AxisSet::most && nestAccs(op) == 0 &&
           std::ranges::all_of(nestResults(op),
                               [](const NestResult& r) { return r.kind == NestResultKind::Collect; });
  }

  void branchesOf(OpId nest, Ranges& ranges) {
    const RegionId region = fn().ops[nest].regions[0];
    auto isMasked = [this](OpId id) { return fn().ops[id].kind == OpKind::If && hasNest(fn().ops[id]); };
    if (std::ranges::none_of(fn().regions[region].ops, isMasked)) return;
    const std::array<uint64_t, 2> sides = nestFacts(m_, fn(), effects_, costs_, nest).sides;
    if (sides[0] == 0 || sides[1] == 0) return;
    std::vector<OpId> out;
    for (OpId id : fn().regions[region].ops) {
      if (isMasked(id) && tellsSidesApart(fn().ops[id].operands[0], region, sides) && isFree(id, ranges))
        free(id, out);
      out.push_back(id);
    }
    fn().regions[region].ops = std::move(out);
  }
  bool hasNest(const Op& op) const {
    return std::ranges::any_of(op.regions, [this](RegionId arm) {
      return std::ranges::any_of(fn().regions[arm].ops,
                                 [this](OpId id) { return fn().ops[id].kind == OpKind::Nest; });
    });
  }

  // --- the condition

  /// Whether all that has to hold compares axes, and some of it axes of both sides.
  bool tellsSidesApart(ValueId condition, RegionId body, const std::array<uint64_t, 2>& sides) const {
    bool tells = false;
    auto look = [&](auto& self, ValueId v, int depth) -> bool {
      const OpId def = fn().values[v].def;
      if (!def.valid() || depth == 0) return false;
      const Op& op = fn().ops[def];
      if (op.kind == OpKind::And)
        return std::ranges::all_of(op.operands, [&](ValueId o) { return self(self, o, depth - 1); });
      const std::optional<uint64_t> axes = axesCompared(op, body);
      tells |= axes && (*axes & sides[0]) != 0 && (*axes & sides[1]) != 0;
      return axes.has_value();
    };
    return look(look, condition, deepest) && tells;
  }
  /// The axes in a comparison, if it orders sums of them.
  std::optional<uint64_t> axesCompared(const Op& cmp, RegionId body) const {
    if (cmp.kind != OpKind::Cmp || m_.types.kind(fn().typeOf(cmp.operands[0])) != TypeKind::I64)
      return std::nullopt;
    const auto how = static_cast<ops::CmpKind>(cmp.index());
    if (how == ops::CmpKind::Eq || how == ops::CmpKind::Ne) return std::nullopt;
    uint64_t axes = 0;
    for (ValueId side : cmp.operands)
      if (!addAxes(side, body, deepest, axes)) return std::nullopt;
    return axes;
  }
  /// The axes in sums and differences of them and of what does not change.
  bool addAxes(ValueId v, RegionId body, int depth, uint64_t& axes) const {
    const Value& value = fn().values[v];
    if (value.region == body && !value.def.valid()) return axes |= uint64_t{1} << value.index, true;
    if (!value.def.valid() || !stands(value.def, body)) return true;
    const Op& op = fn().ops[value.def];
    if (op.kind == OpKind::Const || op.kind == OpKind::DimValue) return true;
    if (depth == 0 || (op.kind != OpKind::Add && op.kind != OpKind::Sub)) return false;
    return std::ranges::all_of(op.operands, [&](ValueId o) { return addAxes(o, body, depth - 1, axes); });
  }
  bool stands(OpId op, RegionId region) const {
    return std::ranges::find(fn().regions[region].ops, op) != fn().regions[region].ops.end();
  }

  // --- the arms

  bool isFree(OpId branch, Ranges& ranges) const {
    const Op& op = fn().ops[branch];
    if (op.results.size() != 1 || !op.resultDims.empty() || !m_.types.isScalar(fn().typeOf(op.results[0])))
      return false;
    bool isFree = true;
    std::unordered_set<OpId> made;
    for (RegionId arm : op.regions) {
      forEachOp(fn(), arm, [&](OpId id) { made.insert(id); });
      forEachOp(fn(), arm, [&](OpId id) { isFree &= mayRunAnyway(id, ranges, made); });
    }
    return isFree;
  }
  /// An op of an arm: numbers, sums of them, and reads in range of arrays that are there whatever arm is
  /// taken.
  bool mayRunAnyway(OpId id, Ranges& ranges, const std::unordered_set<OpId>& made) const {
    const Op& op = fn().ops[id];
    if (effects_.ofOp(fn(), id).any()) return false;
    if (op.kind == OpKind::Yield) return true;
    if (!std::ranges::all_of(op.results, [&](ValueId v) { return m_.types.isScalar(fn().typeOf(v)); }))
      return false;
    if (op.kind == OpKind::Nest) return nestAccs(op) == 0;
    if (op.kind != OpKind::Get) return op.regions.empty() && op.kind != OpKind::Call;
    return !made.contains(fn().values[op.operands[0]].def) && readsInRange(m_, fn(), ranges, op) &&
           !undefined_.mayBe(f_, op.operands[0]);
  }

  /// What stands in the arms goes in front of the branch, which becomes a choice.
  void free(OpId branch, std::vector<OpId>& out) {
    Op& op = fn().ops[branch];
    Operands operands{op.operands[0]};
    for (RegionId arm : op.regions) {
      std::vector<OpId>& ops = fn().regions[arm].ops;
      operands.push_back(fn().ops[ops.back()].operands[0]);
      out.insert(out.end(), ops.begin(), ops.end() - 1);
      ops.erase(ops.begin(), ops.end() - 1);
    }
    op.kind = OpKind::Select;
    op.operands = std::move(operands);
    op.regions.clear();
    op.attr = {};
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const Undefined& undefined_;
  const Costs costs_;
};

} // namespace

void freeSums(Module& m) { freeInsideOut<Freer>(m); }

} // namespace melix::transforms
