#include "transforms/batch/chosen_products.h"

#include "core/analysis/affine.h"
#include "core/analysis/footprint.h"
#include "core/ir/walk.h"
#include "transforms/fusion/fusion.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class ChosenProducts {
public:
  ChosenProducts(Module& m, FunctionId f, OpId nest, const Effects& effects)
      : m_(m), f_(m.functions[f]), nest_(nest), body_(f_.ops[nest].regions[0]), footprints_(m_, f_, nest),
        variance_(m, f, nest, effects, OwnSizes::Copied) {
    const std::span<const ValueId> axes = NestView(f_, f_.ops[nest]).axisParams();
    axes_.insert(axes.begin(), axes.end());
    ops_.insert(f_.regions[body_].ops.begin(), f_.regions[body_].ops.end());
    regions_.insert(body_);
    forEachOp(f_, body_, [&](OpId id) {
      inside_.insert(id);
      const Op& op = f_.ops[id];
      regions_.insert(op.regions.begin(), op.regions.end());
      if (op.kind == OpKind::For) indices_.insert(f_.regions[op.regions[0]].params[0]);
    });
  }

  std::vector<ChosenProduct> find() const {
    std::vector<ChosenProduct> out;
    forEachSum(m_, f_, nest_, [&](const SumInNest& sum) {
      if (!sum.part.valid() || (!out.empty() && out.back().sum == sum.sum)) return;
      const NestView view(f_, f_.ops[sum.sum]);
      for (const NestPart& part : view.parts())
        if (isSum(*part.spec) && part.spec->order == OrderKind::Unset)
          if (std::optional<ChosenProduct> found = productOf(sum, view.yields(part)[0]))
            return out.push_back(std::move(*found));
    });
    return out;
  }

private:
  /// The choice by which a value is read.
  std::optional<ChosenProduct> productOf(const SumInNest& sum, ValueId term) const {
    std::optional<ChosenProduct> out;
    bool hasRow = false;
    size_t k = 0;
    for (const TermAccess& access : footprints_.accesses(sum.sum, term)) {
      if (std::ranges::none_of(access.axes, [&](ValueId x) { return sum.reduced.contains(x); })) continue;
      if (k == sum.kept.operands.size()) return std::nullopt;
      Axes columns = sum.kept.operands[k++];
      const bool varies = std::erase_if(columns, [&](ValueId x) { return axes_.contains(x); }) > 0;
      hasRow = hasRow || (varies && columns.empty());
      if (varies && !out && fillsTiles(m_, f_, columns, sum.reduced)) out = readBy(sum, access.get);
    }
    return hasRow ? out : std::nullopt;
  }

  /// Follows reads to the array that all rows share.
  std::optional<ChosenProduct> readBy(const SumInNest& sum, OpId get) const {
    ChosenProduct out{sum.part, sum.sum, {}, {}, {}};
    for (std::optional<OpId> read = get; read;) {
      if (!isRead(*read, out)) return std::nullopt;
      const ValueId array = f_.ops[*read].operands[0];
      if (!isInside(array)) return out.choice.empty() ? std::nullopt : std::optional(std::move(out));
      const OpId def = f_.values[array].def;
      if (!def.valid()) return std::nullopt;
      if (ops_.contains(def)) out.reads.push_back(def);
      read = readIn(def);
    }
    return std::nullopt;
  }

  /// The read that an op is: a nest of reads alone permutes the axes of an array.
  std::optional<OpId> readIn(OpId id) const {
    const Op& op = f_.ops[id];
    if (op.kind == OpKind::Get) return id;
    if (op.kind != OpKind::Nest || op.results.size() != 1 || nestAccs(op) > 0 ||
        nestResults(op)[0].kind != NestResultKind::Collect)
      return std::nullopt;
    const std::vector<OpId>& ops = f_.regions[op.regions[0]].ops;
    const OpId read = f_.values[terminator(f_, op.regions[0]).operands[0]].def;
    const bool isAlone = ops.size() == 2 && ops[0] == read && f_.ops[read].kind == OpKind::Get;
    return isAlone ? std::optional(read) : std::nullopt;
  }

  /// Whether the indices of a read are a choice, or the same for all rows; adds the choice.
  bool isRead(OpId id, ChosenProduct& out) const {
    const Op& op = f_.ops[id];
    const types::Type& array = m_.types[f_.typeOf(op.operands[0])];
    size_t operand = 1, axis = 0;
    for (const PathStep& step : op.as<Path>()) {
      if (!isIndexLike(step.kind)) return false;
      const DimId extent = array.dims[axis++];
      if (!takesIndex(step.kind)) continue;
      const ValueId index = op.operands[operand++];
      if (!varies(index)) continue;
      if (step.kind != StepKind::Index || !isChoice(index)) return false;
      if (std::ranges::find(out.choice, index) != out.choice.end()) continue;
      out.choice.push_back(index);
      out.extents.push_back(extent);
    }
    return true;
  }

  bool isInside(ValueId v) const {
    const Value& value = f_.values[v];
    return value.def.valid() ? inside_.contains(value.def) : regions_.contains(value.region);
  }
  /// Whether a value may differ from row to row. The index of a loop is the same for all.
  bool varies(ValueId v) const {
    if (!isInside(v)) return false;
    const Value& value = f_.values[v];
    if (!value.def.valid()) return value.region == body_ || !isIndex(v);
    if (ops_.contains(value.def)) {
      const std::optional<AxisSet> axes = variance_.axesOf(v);
      return !axes || !axes->empty();
    }
    const Op& op = f_.ops[value.def];
    return !op.regions.empty() || op.kind == OpKind::Call ||
           std::ranges::any_of(op.operands, [&](ValueId each) { return varies(each); });
  }
  bool isIndex(ValueId v) const { return axisOf(f_, v) || indices_.contains(v); }
  /// Of an index that varies: whether rows choose by it.
  bool isChoice(ValueId v) const {
    return !affineForm(m_.types.dims, f_, v,
                       {.isAxis = [&](ValueId each) { return isIndex(each); },
                        .isOutside = [&](ValueId each) { return !isInside(each); }});
  }

  Module& m_;
  const Function& f_;
  const OpId nest_;
  const RegionId body_;
  const Footprints footprints_;
  const AxisVariance variance_;
  Axes axes_;                       ///< of the nest
  Axes indices_;                    ///< of loops in it
  std::unordered_set<OpId> ops_;    ///< of its body
  std::unordered_set<OpId> inside_; ///< also those in regions of these
  std::unordered_set<RegionId> regions_;
};

} // namespace

std::vector<ChosenProduct> chosenProducts(Module& m, FunctionId f, OpId nest, const Effects& effects) {
  return ChosenProducts(m, f, nest, effects).find();
}

DimId choices(Builder& b, std::span<const DimId> extents) {
  return b.dims().product(std::vector<DimId>(extents.begin(), extents.end()));
}

ValueId choiceKey(Builder& b, std::span<const ValueId> choice, std::span<const DimId> extents) {
  ValueId key = choice[0];
  for (size_t k = 1; k < choice.size(); ++k)
    key = b.binary(OpKind::Add, b.binary(OpKind::Mul, key, b.dimValue(extents[k])), choice[k]);
  return key;
}

std::vector<ValueId> choiceOfKey(Builder& b, ValueId key, std::span<const DimId> extents) {
  std::vector<ValueId> out(extents.size(), key);
  for (size_t k = extents.size(); --k > 0;) {
    const ValueId extent = b.dimValue(extents[k]);
    out[k] = b.binary(OpKind::IRem, out[0], extent);
    out[0] = b.binary(OpKind::IDiv, out[0], extent);
  }
  return out;
}

} // namespace melix::transforms
