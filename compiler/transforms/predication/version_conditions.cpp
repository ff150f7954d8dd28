#include "transforms/predication/version_conditions.h"

#include "core/analysis/sizes.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "transforms/axis_splitting/divided_axes.h"
#include "transforms/walks/speculation.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int mostIndexOps = 8;  ///< ops that make an index
constexpr size_t mostNeeds = 16; ///< that a nest needs

/// What stands in a nest and what its indices are made of.
class Candidate {
public:
  Candidate(Module& m, FunctionId f, OpId nest, const Effects& effects, Ranges& ranges)
      : m_(m), f_(f), nest_(nest), effects_(effects), ranges_(ranges) {
    forEachOp(fn(), body(), [&](OpId id) {
      inside_.insert(id);
      sizes_.insert(fn().ops[id].resultDims.begin(), fn().ops[id].resultDims.end());
      for (RegionId r : fn().ops[id].regions)
        sizes_.insert(fn().regions[r].dimParams.begin(), fn().regions[r].dimParams.end());
    });
  }

  /// None if there is nothing to ask, or asking would not help.
  NumberNeeds needs() {
    NumberNeeds out;
    const Ranges::Mark mark = ranges_.enter(body());
    const bool helps = isOfSums(fn(), nest_) && look(body(), false, out);
    ranges_.leave(mark);
    const bool any = std::ranges::any_of(out, [](const NumberNeed& need) { return need.extent.has_value(); });
    return helps && any ? out : NumberNeeds();
  }

private:
  const Function& fn() const { return m_.functions[f_]; }
  RegionId body() const { return fn().ops[nest_].regions[0]; }

  /// Whether all that a branch keeps from running anyway are reads that may be out of range.
  bool look(RegionId region, bool isInBranch, NumberNeeds& out) {
    for (OpId id : fn().regions[region].ops) {
      const Op& op = fn().ops[id];
      if (isInBranch && !lookAt(id, out)) return false;
      const bool branches = op.kind == OpKind::If;
      if (!branches && op.kind != OpKind::Nest) continue;
      if (branches) noteAsked(op.operands[0], mostIndexOps);
      for (RegionId inner : Regions(op.regions))
        if (!look(inner, isInBranch || branches, out)) return false;
    }
    return true;
  }
  bool lookAt(OpId id, NumberNeeds& out) {
    const Op& op = fn().ops[id];
    if (op.kind == OpKind::Check) return lookAtCheck(id, out);
    if (op.kind == OpKind::Nest || op.kind == OpKind::If) return true;
    if (op.kind == OpKind::Get && op.operands.size() > 1) return lookAtRead(id, out);
    return op.regions.empty() && !effects_.ofOp(fn(), id).any();
  }
  bool lookAtCheck(OpId id, NumberNeeds& out) {
    const Op check = fn().ops[id];
    if (ranges_.isProved(check)) return true;
    switch (check.as<CheckAttr>().kind) {
    case CheckKind::Index: return add({id, 0, check.dims[0], nest_, {}, {}, true}, out);
    case CheckKind::Divisor: return add({id, 0, {}, nest_, {}, {}, true}, out);
    case CheckKind::DivideOverflow: return add({id, 1, {}, nest_, {}, {}, true}, out);
    default: return false;
    }
  }
  bool lookAtRead(OpId id, NumberNeeds& out) {
    const Op get = fn().ops[id];
    if (!isOutside(get.operands[0])) return true;
    const Path path = get.as<Path>();
    const types::Type array = m_.types[fn().typeOf(get.operands[0])];
    std::set<uint32_t> axes;
    for (size_t k = 1; k < get.operands.size(); ++k) addAxes(get.operands[k], axes, mostIndexOps);
    const bool isOfAll = axes.size() >= fn().ops[nest_].dims.size(); // a gather, of which no tile is made
    if (array.kind != TypeKind::Array || path.size() > array.dims.size()) return false;
    uint32_t operand = 1;
    for (size_t k = 0; k < path.size(); ++k) {
      if (path[k].kind == StepKind::All) continue;
      if (path[k].kind != StepKind::Index) return false;
      const ValueId index = get.operands[operand];
      if (!ranges_.isIndex(index, array.dims[k]) &&
          (isOfAll || !add({id, operand, array.dims[k], nest_, {}, {}, true}, out)))
        return false;
      ++operand;
    }
    return true;
  }
  void noteAsked(ValueId v, int depth) {
    const OpId def = fn().values[v].def;
    if (depth == 0 || !inside_.contains(def) || !fn().ops[def].regions.empty()) return;
    asked_.insert(def);
    for (ValueId each : fn().ops[def].operands) noteAsked(each, depth - 1);
  }

  /// The axes of the nest that a number is made of.
  void addAxes(ValueId v, std::set<uint32_t>& axes, int depth) const {
    const Value& value = fn().values[v];
    if (!value.def.valid() && value.region == body() && value.index < fn().ops[nest_].dims.size())
      axes.insert(value.index);
    if (depth == 0 || !inside_.contains(value.def)) return;
    for (ValueId each : fn().ops[value.def].operands) addAxes(each, axes, depth - 1);
  }
  bool areDefinedBefore(const std::vector<DimSym>& sizes) const {
    return std::ranges::none_of(sizes, [this](DimSym s) { return sizes_.contains(s); });
  }
  bool isDefinedBefore(std::optional<DimId> extent) const {
    std::vector<DimSym> sizes;
    if (extent) m_.types.dims.collectSymbols(*extent, sizes);
    return areDefinedBefore(sizes);
  }

  /// Numbers that some of the axes alone determine.
  bool add(NumberNeed need, NumberNeeds& out) {
    const ValueId v = fn().ops[need.op].operands[need.operand];
    if (fn().typeOf(v) != m_.types.int64() || !isDefinedBefore(need.extent) ||
        !find(v, need, mostIndexOps, out) || (need.extent && need.isSum && !need.axes.empty()) ||
        need.axes.size() >= fn().ops[nest_].dims.size() || out.size() == mostNeeds)
      return false;
    out.push_back(std::move(need));
    return true;
  }

  /// Whether a value stands before the nest.
  bool isOutside(ValueId v) const {
    const Value& value = fn().values[v];
    if (value.def.valid()) return !inside_.contains(value.def);
    return value.region != body() && !inside_.contains(fn().regions[value.region].parent);
  }
  /// What a number is made of, without an effect and for all points of these axes.
  bool find(ValueId v, NumberNeed& need, int depth, NumberNeeds& out) {
    if (isOutside(v)) return need.from.push_back(v), true;
    const Value& value = fn().values[v];
    if (!value.def.valid()) {
      if (value.region != body() || value.index >= fn().ops[nest_].dims.size()) return false;
      need.axes.insert(value.index);
      return true;
    }
    const Op op = fn().ops[value.def];
    need.isSum = need.isSum && (op.kind == OpKind::Add || op.kind == OpKind::Sub || op.kind == OpKind::Const);
    if (depth == 0 || asked_.contains(value.def) || !op.regions.empty() || op.kind == OpKind::Call ||
        effects_.ofOp(fn(), value.def).any() || !m_.types.isScalar(fn().typeOf(v)) ||
        !areDefinedBefore(sizesOf(m_, fn(), op)))
      return false;
    if (op.kind == OpKind::Get && !(isOutside(op.operands[0]) && readsInRange(m_, fn(), ranges_, op)))
      return false;
    const bool divides = op.kind == OpKind::IDiv || op.kind == OpKind::IRem;
    if (divides && !ranges_.isAtLeast(op.operands[1], 1) &&
        !add({value.def, 1, {}, nest_, {}, {}, true}, out))
      return false;
    return std::ranges::all_of(op.operands, [&](ValueId each) { return find(each, need, depth - 1, out); });
  }

  Module& m_;
  const FunctionId f_;
  const OpId nest_;
  const Effects& effects_;
  Ranges& ranges_;
  std::unordered_set<OpId> inside_, asked_; ///< the latter make conditions of branches
  std::unordered_set<DimSym> sizes_;        ///< that are determined inside
};

} // namespace

NumberNeeds needsOf(Module& m, FunctionId f, OpId nest, const Effects& effects, Ranges& ranges) {
  return Candidate(m, f, nest, effects, ranges).needs();
}

} // namespace melix::transforms
