#include "transforms/walks/unroll_nest.h"

#include "core/analysis/effect_audit.h"
#include "core/analysis/evaluate.h"
#include "core/ir/nest.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

bool isPlain(const types::TypeStore& types, TypeId t) {
  return types.isInt(t) || types.isFloat(t) || types.kind(t) == TypeKind::Bool;
}

class PointWriter {
public:
  PointWriter(Module& m, Cloner& cloner, const Op& op, Builder& b)
      : m_(m), cloner_(cloner), op_(op), b_(b), nest_(b.fn(), op) {}

  bool run(FunctionRef<bool()> stop) {
    const std::optional<std::vector<int64_t>> extents = knownExtents(m_, cloner_, op_);
    if (!extents || nest_.accs() != 0) return false;
    extents_ = *extents;
    anyPoints_ = std::find(extents_.begin(), extents_.end(), 0) == extents_.end();
    for (const NestPart& part : nest_.parts())
      if (!open(part)) return false;
    if (anyPoints_)
      points(stop);
    else
      noteGone(b_.fn(), b_.function, nest_.body(), GoneKind::NeverRuns);
    for (size_t k = 0; k < cells_.size(); ++k) close(nest_.parts()[k], cells_[k]);
    return true;
  }

private:
  /// The values of one result, row-major over the axes that it keeps.
  struct Cells {
    std::vector<int64_t> extents;
    std::vector<ValueId> values;
  };

  /// Whether the result can be written as an array of values, each combined of some.
  bool open(const NestPart& part) {
    const NestResult& r = *part.spec;
    if (r.kind == NestResultKind::Filter || isCombine(r) || isPosition(r)) return false;
    if (r.kind == NestResultKind::Reduce && !isSum(r) && !isPlain(m_.types, termType(part))) return false;
    Cells& cells = cells_.emplace_back();
    size_t count = 1;
    for (uint32_t axis : r.keep) {
      cells.extents.push_back(extents_[axis]);
      count *= static_cast<size_t>(extents_[axis]);
    }
    cells.values.resize(count);
    return count != 0; // an empty array is not written as a list of its elements
  }
  TypeId termType(const NestPart& part) const { return b_.fn().typeOf(nest_.yields(part)[0]); }

  void points(FunctionRef<bool()> stop) {
    std::vector<int64_t> at(extents_.size(), 0);
    while (!stop || !stop()) {
      for (size_t k = 0; k < at.size(); ++k)
        cloner_.values.insert_or_assign(nest_.axisParams()[k], b_.integer(at[k]));
      const Cloner::Yielded yielded = cloner_.body(nest_.body(), b_);
      for (size_t k = 0; k < cells_.size(); ++k) {
        const NestPart& part = nest_.parts()[k];
        size_t cell = 0;
        for (uint32_t axis : part.spec->keep)
          cell = cell * static_cast<size_t>(extents_[axis]) + static_cast<size_t>(at[axis]);
        join(*part.spec, cells_[k].values[cell], yielded.values[part.yields.first]);
      }
      size_t k = at.size();
      while (k > 0 && ++at[k - 1] == extents_[k - 1]) at[--k] = 0;
      if (k == 0) return;
    }
  }
  /// Each combination begins with its unit: a sum of one -0 is 0.
  void join(const NestResult& r, ValueId& cell, ValueId term) {
    if (r.kind == NestResultKind::Collect) {
      cell = term;
      return;
    }
    const ValueId before = cell.valid() ? cell : unit(r, b_.typeOf(term));
    cell = b_.binary(combiningOp(r.monoid), before, term);
  }
  ValueId unit(const NestResult& r, TypeId type) {
    return isPlain(m_.types, type) ? b_.constant(type, unitOf(r.monoid, m_.types.kind(type))) : b_.zero(type);
  }
  void close(const NestPart& part, Cells& cells) {
    for (ValueId& v : cells.values)
      if (!v.valid()) v = unit(*part.spec, cloner_.type(termType(part)));
    cloner_.values.insert_or_assign(nest_.results(part)[0],
                                    stackedArray(b_, cells.extents, std::move(cells.values)));
  }

  Module& m_;
  Cloner& cloner_;
  const Op& op_;
  Builder& b_;
  const NestView nest_;
  std::vector<int64_t> extents_;
  bool anyPoints_ = false;
  std::vector<Cells> cells_; ///< by result
};

} // namespace

std::optional<std::vector<int64_t>> knownExtents(Module& m, Cloner& cloner, const Op& nest) {
  std::vector<int64_t> out;
  int64_t points = 1;
  for (DimId d : nest.dims) {
    const std::optional<int64_t> extent = m.types.dims.asConstant(cloner.dim(d));
    if (!extent || *extent < 0 || *extent > mostPoints) return std::nullopt;
    out.push_back(*extent);
    points *= *extent;
    if (points > mostPoints) return std::nullopt;
  }
  return out;
}

bool unrollNest(Module& m, Cloner& cloner, const Op& nest, Builder b, FunctionRef<bool()> stop) {
  b.loc = nest.loc;
  return PointWriter(m, cloner, nest, b).run(stop);
}

ValueId stackedArray(Builder& b, std::span<const int64_t> extents, std::vector<ValueId> values) {
  for (size_t axis = extents.size(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(extents[axis]);
    const TypeId row = b.types().array(b.typeOf(values[0]), {b.dims().constant(extents[axis])});
    std::vector<ValueId> rows;
    for (size_t first = 0; first < values.size(); first += extent) {
      Operands parts;
      for (size_t k = 0; k < extent; ++k) parts.push_back(values[first + k]);
      rows.push_back(b.one(Builder::simple(OpKind::ArrayOf, std::move(parts)), row));
    }
    values = std::move(rows);
  }
  return values[0];
}

} // namespace melix::transforms
