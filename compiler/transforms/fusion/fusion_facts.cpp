#include "core/ir/nest.h"
#include "transforms/fusion/fusion.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

using Mask = uint64_t; ///< axes, by number
constexpr uint32_t mostAxes = 64;
constexpr int64_t fewColumns = 16; ///< of a product that tiles would fill by half
Mask below(size_t axes) { return axes < mostAxes ? (Mask{1} << axes) - 1 : ~Mask{0}; }

/// Follows which axes values vary with, and finds sums of products whose factors keep different ones.
class FactWalk {
public:
  FactWalk(const Module& m, const Function& f) : m_(m), f_(f) {}

  void run(OpId nest) {
    outside_ = f_.ops[nest].dims.size();
    op(nest);
    for (ValueId v : used_)
      if (!made_.contains(v) && !m_.types.isScalar(f_.typeOf(v)) && captured_.insert(v).second)
        facts.captured.push_back(v);
    for (size_t k = 0; k < 2; ++k) facts.sides[k] = sides_[k] & below(f_.ops[nest].dims.size());
  }
  NestFacts facts;
  std::vector<OpId> productsOfRows; ///< nests and loops of the body that have any

private:
  Mask maskOf(ValueId v) const {
    auto it = masks_.find(v);
    return it == masks_.end() ? 0 : it->second;
  }

  void op(OpId id) {
    const Op& op = f_.ops[id];
    Mask all = 0;
    for (ValueId v : op.operands) {
      all |= maskOf(v);
      used_.push_back(v);
    }
    if (op.kind == OpKind::Get && m_.types.isScalar(f_.typeOf(op.results[0])) && op.operands.size() > 1)
      reads_.push_back(all);
    const size_t readsBefore = reads_.size();
    const uint32_t first = axes_;
    for (RegionId r : op.regions) all |= region(op, r, all);
    if (op.kind == OpKind::Nest) sums(op, first, readsBefore);
    if (op.kind == OpKind::Nest) all &= below(first); // its own axes do not leave it
    for (ValueId v : op.results) define(v, all);
  }
  void define(ValueId v, Mask mask) {
    made_.insert(v);
    if (mask != 0) masks_[v] = mask;
  }
  /// What is in it varies with this.
  Mask region(const Op& op, RegionId r, Mask given) {
    const std::vector<ValueId>& params = f_.regions[r].params;
    const bool sweeps = op.kind == OpKind::Nest && r == op.regions[0];
    const Mask carried = op.kind == OpKind::For && params.size() > 1 ? given | carriedBy(r) : given;
    for (size_t k = 0; k < params.size(); ++k) {
      const bool axis = sweeps && k < op.dims.size();
      if (axis) {
        define(params[k], Mask{1} << std::min(axes_, mostAxes - 1));
        extents_.push_back(op.dims[k]);
        ++axes_;
      } else {
        define(params[k], op.kind == OpKind::For && k == 0 ? maskOf(op.operands[0]) : carried);
      }
    }
    Mask all = 0;
    const bool isOutermost = !part_.valid();
    for (OpId inner : f_.regions[r].ops) {
      if (isOutermost) part_ = inner;
      this->op(inner);
      for (ValueId v : f_.ops[inner].results) all |= maskOf(v);
    }
    if (isOutermost) part_ = OpId();
    return all;
  }
  /// What is carried from iteration to iteration may vary with all that an iteration uses.
  Mask carriedBy(RegionId r) const {
    Mask all = 0;
    forEachOp(f_, r, [&](OpId id) {
      for (ValueId v : f_.ops[id].operands) all |= maskOf(v);
    });
    return all;
  }
  /// Reads of the body of a nest that sums, whose kept axes do not hold each other: the two sides of a
  /// product.
  void sums(const Op& op, uint32_t first, size_t readsBefore) {
    for (const NestResult& r : nestResults(op)) {
      if (!isSum(r)) continue;
      Mask reduced = 0;
      for (uint32_t a = 0; a < op.dims.size(); ++a)
        if (std::find(r.keep.begin(), r.keep.end(), a) == r.keep.end())
          reduced |= Mask{1} << std::min(first + a, mostAxes - 1);
      Mask widest = 0;
      for (size_t k = readsBefore; k < reads_.size(); ++k) {
        if ((reads_[k] & reduced) == 0) continue;
        const Mask kept = reads_[k] & below(first + op.dims.size()) & ~reduced;
        if ((widest & ~kept) != 0 && (kept & ~widest) != 0) {
          twoSides(widest & ~kept, kept & ~widest, reduced);
        }
        if (std::popcount(kept) > std::popcount(widest)) widest = kept;
      }
    }
  }

  void twoSides(Mask one, Mask other, Mask reduced) {
    sides_[0] |= one;
    sides_[1] |= other;
    const Mask outside = below(outside_);
    auto columnsOf = [outside](Mask rows, Mask columns) {
      return (rows & ~outside) == 0 && (columns & outside) == 0 ? columns : 0;
    };
    const Mask columns = columnsOf(one, other) | columnsOf(other, one);
    if (columns == 0 || !part_.valid() || !isAbove(fewColumns - 1, columns) ||
        !isAbove(fewPoints, columns | reduced))
      return;
    if (productsOfRows.empty() || productsOfRows.back() != part_) productsOfRows.push_back(part_);
  }
  /// Whether axes together have more points than so many, as far as is known.
  bool isAbove(int64_t points, Mask axes) const {
    Dims dims;
    for (uint32_t a = 0; a < extents_.size(); ++a)
      if ((axes >> std::min(a, mostAxes - 1) & 1) != 0) dims.push_back(extents_[a]);
    const std::optional<int64_t> known = m_.types.dims.asConstant(m_.types.dims.product(dims));
    return !known || *known > points;
  }

  const Module& m_;
  const Function& f_;
  std::unordered_map<ValueId, Mask> masks_;
  std::unordered_set<ValueId> made_, captured_;
  std::vector<ValueId> used_;
  Dims extents_;            ///< of the axes
  std::vector<Mask> reads_; ///< of arrays, in the order of the ops
  uint32_t axes_ = 0;
  std::array<Mask, 2> sides_ = {};
  OpId part_;          ///< of the body of the nest, at hand
  size_t outside_ = 0; ///< the axes of the nest
};

} // namespace

NestFacts nestFacts(const Module& m, const Function& f, const Effects& effects, const Costs& costs,
                    OpId nest) {
  FactWalk walk(m, f);
  walk.run(nest);
  walk.facts.cost = costs.ofRegion(f.ops[nest].regions[0]);
  walk.facts.effects = effects.ofOp(f, nest);
  return std::move(walk.facts);
}

bool isOverRows(const Costs& costs, const Op& op) {
  constexpr uint64_t fewRows = 4;
  if (op.kind != OpKind::Nest || op.dims.empty() || op.dims.size() > mostAxes || nestAccs(op) > 0)
    return false;
  const std::optional<uint64_t> points = costs.fewPointsOf(op);
  return !points || *points >= fewRows;
}

std::vector<OpId> rowProducts(const Module& m, const Function& f, OpId nest) {
  FactWalk walk(m, f);
  walk.run(nest);
  return std::move(walk.productsOfRows);
}

} // namespace melix::transforms
