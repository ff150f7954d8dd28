#include "core/ir/nest.h"
#include "transforms/analysis/axis_variance.h"
#include "transforms/fusion/fusion.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int64_t fewColumns = 16; ///< of a product that tiles would fill by half

/// Arrays and other containers from outside that a nest uses, in the order of the text.
std::vector<ValueId> capturedBy(const Module& m, const Function& f, OpId nest) {
  std::unordered_set<ValueId> known; // made inside, or captured
  std::vector<ValueId> used(f.ops[nest].operands.begin(), f.ops[nest].operands.end()), out;
  for (RegionId r : f.ops[nest].regions) {
    known.insert(f.regions[r].params.begin(), f.regions[r].params.end());
    forEachOp(f, r, [&](OpId id) {
      const Op& op = f.ops[id];
      used.insert(used.end(), op.operands.begin(), op.operands.end());
      known.insert(op.results.begin(), op.results.end());
      for (RegionId inner : op.regions)
        known.insert(f.regions[inner].params.begin(), f.regions[inner].params.end());
    });
  }
  for (ValueId v : used)
    if (!m.types.isScalar(f.typeOf(v)) && known.insert(v).second) out.push_back(v);
  return out;
}

/// Whether axes together have more points than so many, as far as is known.
bool isAbove(const Module& m, const Function& f, int64_t points, const Axes& axes) {
  Dims dims;
  for (ValueId v : axes) {
    const std::optional<NestAxis> axis = axisOf(f, v);
    dims.push_back(f.ops[axis->nest].dims[axis->axis]);
  }
  const std::optional<int64_t> known = m.types.dims.asConstant(m.types.dims.product(dims));
  return !known || *known > points;
}

} // namespace

NestFacts nestFacts(const Module& m, const Function& f, const Effects& effects, const Costs& costs,
                    OpId nest) {
  return {costs.ofRegion(f.ops[nest].regions[0]), effects.ofOp(f, nest), capturedBy(m, f, nest),
          sidesOf(m, f, nest)};
}

bool isOverRows(const Costs& costs, const Op& op) { return hasManyPoints(costs, op) && nestAccs(op) == 0; }

bool hasManyPoints(const Costs& costs, const Op& op) {
  constexpr uint64_t fewRows = 4;
  if (op.kind != OpKind::Nest || op.dims.empty() || op.dims.size() > AxisSet::most) return false;
  const std::optional<uint64_t> points = costs.fewPointsOf(op);
  return !points || *points >= fewRows;
}

bool fillsTiles(const Module& m, const Function& f, Axes columns, const Axes& reduced) {
  if (columns.empty() || !isAbove(m, f, fewColumns - 1, columns)) return false;
  columns.insert(reduced.begin(), reduced.end());
  return isAbove(m, f, fewPoints, columns);
}

bool isRowTimesMatrix(const Module& m, const Function& f, OpId nest) {
  bool is = false;
  forEachSum(m, f, nest, [&](const SumInNest& sum) {
    const bool hasRow = std::ranges::any_of(sum.kept.operands, [](const Axes& axes) { return axes.empty(); });
    for (const Axes& columns : sum.kept.operands)
      is = is || (hasRow && fillsTiles(m, f, columns, sum.reduced));
  });
  return is;
}

std::vector<RowProduct> rowProducts(const Module& m, const Function& f, OpId nest, MatrixSize size) {
  std::vector<RowProduct> out;
  const NestView view(f, f.ops[nest]);
  auto isOutside = [&](ValueId axis) {
    return std::ranges::find(view.axisParams(), axis) != view.axisParams().end();
  };
  auto isProduct = [&](const SumInNest& sum, const Axes& rows, const Axes& columns) {
    return !columns.empty() && std::ranges::all_of(rows, isOutside) &&
           std::ranges::none_of(columns, isOutside) &&
           fillsTiles(m, f, columns, sum.reduced) == (size == MatrixSize::Large);
  };
  forEachSum(m, f, nest, [&](const SumInNest& sum) {
    sum.kept.forEachPair([&](const Axes& one, const Axes& other) {
      if (sum.part.valid() && (out.empty() || out.back().sum != sum.sum) &&
          (isProduct(sum, one, other) || isProduct(sum, other, one)))
        out.push_back({sum.part, sum.sum});
    });
  });
  return out;
}

std::vector<OpId> partsWithProducts(const Module& m, const Function& f, OpId nest) {
  std::vector<OpId> out;
  for (const RowProduct& product : rowProducts(m, f, nest))
    if (out.empty() || out.back() != product.part) out.push_back(product.part);
  return out;
}

} // namespace melix::transforms
