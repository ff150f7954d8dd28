#pragma once
// The rows of a nest, which are its points, and nests over some of them that copy parts of its body.

#include "transforms/analysis/axis_variance.h"
#include "transforms/batch/batching_log.h"

namespace melix::transforms {

/// Rows by their row-major positions: row k of the set stands at `at[k]`; at k if there is no `at`.
struct RowSet {
  core::ValueId at;
  core::DimId size;
};

/// A nest over rows that is being made, and how values of the original's body are copied into it.
struct RowNest {
  core::NestBuilder nest;
  core::Cloner copy;                  ///< knows the axes of the original
  std::vector<core::ValueId> indices; ///< of the row in arrays that have an element for each
};

/// A refusal if one of these values, of which the body makes some, cannot be made before the nest.
Refused lateAmong(const core::Function& f, const AxisVariance& body, std::span<const core::ValueId> values);

class Rows {
public:
  Rows(core::Module& m, core::FunctionId f, core::OpId nest, const core::Effects& effects);

  /// How many rows there are.
  core::DimId count() const;
  RowSet all() const { return {{}, count()}; }

  /// Opens a nest over the axes of the original, or over a set of rows.
  RowNest open(core::Builder& b) const;
  RowNest open(core::Builder& b, const RowSet& set) const;
  /// The same, with copies of the ops that make these values of the body.
  RowNest openWith(core::Builder& b, const RowSet& set, std::span<const core::ValueId> values) const;
  /// Enters the axes of the row at a position.
  void enter(core::Builder& in, core::Cloner& copy, core::ValueId position) const;
  /// Copies the ops that make values of the body.
  void copy(core::Builder& in, core::Cloner& copy, std::span<const core::ValueId> values) const;
  /// The position of a point, in the body of the original, or of a nest that `open` has made.
  core::ValueId positionOf(core::Builder& in) const;
  core::ValueId positionOf(core::Builder& in, const core::Cloner& copy) const;
  /// The number, in the original, of the accumulator that a value of its body continues.
  std::optional<uint32_t> accumulatorOf(core::ValueId v) const;
  /// Arrays over the axes of the original, with one axis for all of these.
  std::vector<core::ValueId> flat(core::Builder& b, std::span<const core::ValueId> arrays) const;

private:
  const core::Function& fn() const { return m_.functions[f_]; }
  std::span<const core::ValueId> axes() const;

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId nest_;
  const core::Effects& effects_;
};

} // namespace melix::transforms
