#pragma once
// Finds ragged ranges: sums over ranges that begin or end with an axis of an enclosing nest.

#include "core/analysis/ranges.h"
#include "core/ir/call_graph.h"
#include "core/ir/walk.h"
#include "transforms/analysis/affine_bounds.h"

#include <optional>
#include <set>
#include <unordered_set>

namespace melix::transforms {

/// A sum over a range: a nest of one axis, or a loop that adds.
struct RaggedRange {
  core::OpId sum;
  core::RegionId body;                       ///< of a term
  core::ValueId axis;                        ///< counts from 0
  core::ValueId count;                       ///< of a loop
  core::ValueId offset;                      ///< added to the axis; none if the axis is used as it is
  std::unordered_set<core::ValueId> index;   ///< the sums of both
  std::unordered_set<core::ValueId> varying; ///< all numbers of the body that are computed from the axis
  Forms begins, ends;                        ///< the greatest, and the least
  core::DimId extent;                        ///< from 0, that holds the range at all points
};

/// Finds the ragged ranges of one function, with the ranges of values that are known where a sum stands.
class RaggedRanges {
public:
  RaggedRanges(core::Module& m, core::FunctionId f, const core::Effects& effects, core::Ranges& ranges)
      : m_(m), f_(f), effects_(effects), bounds_(m, f), ranges_(ranges) {}

  /// The range of a sum in the body of a nest, if a rectangular one under a predicate is better.
  std::optional<RaggedRange> of(core::OpId sum, core::RegionId around);
  /// Whether an end is that of the extent.
  bool isExtent(const core::AffineForm& end, core::DimId extent) const {
    return end.axes.empty() && bounds_.greatest(end) == extent;
  }

private:
  /// Whether a nest is known to have so few columns that tiles do not take it.
  bool areFew(core::ValueId axis);
  std::optional<RaggedRange> inColumns(core::OpId id, core::ValueId lastAxis);
  /// One sum of floats over one axis.
  bool isNestOfTerms(RaggedRange& out) const;
  /// A loop that only adds to a float.
  bool isLoopOfTerms(RaggedRange& out) const;
  /// The value that all uses of the axis add to it, if there is one; of a nest only a size.
  void findOffset(RaggedRange& out) const;
  bool isSame(core::ValueId a, core::ValueId b) const;
  std::optional<Forms> beginsOf(const RaggedRange& range) const;
  /// The beginning plus the extent, in which the beginning cancels.
  std::optional<Forms> endsOf(const RaggedRange& range) const;
  /// Sets the ends of a range for tiles; false if tiles gain nothing. One end differs with axes, the other
  /// does not. Both lie within an extent that is known outside, and the terms are no small part of it: over
  /// all rows the end that differs goes from about the other end to about the end of the extent.
  bool setEnds(RaggedRange& out, const Forms& begins, const Forms& ends);
  /// Sets the ends of a range for lanes; false if lanes gain nothing. The columns alone determine the ends,
  /// and each range begins elsewhere: ranges that begin together read alike as they are. No end is known to
  /// be close to its beginning.
  bool setLanes(RaggedRange& out, const Forms& begins, const Forms& ends, core::ValueId lastAxis);
  /// Whether an end is known to be few terms after a beginning.
  bool areClose(const Forms& begins, const core::AffineForm& end) const;
  /// An extent for a number that is at most `most`. It is no negative number where the axes have no points.
  core::DimId sizeOf(core::DimId most, const std::set<core::ValueId>& axes);
  static std::set<core::ValueId> axesOf(const Forms& forms);
  /// The reads of a term that is cheap: ops on scalars of elements of arrays. None if it is any other term.
  std::vector<core::OpId> readsOfCheapTerm(core::RegionId body) const;
  /// Whether a term is cheap arithmetic on elements that exist over all of the extent. Two of them each vary
  /// with an axis that the other does not vary with. The ends depend on more than the columns.
  bool isProduct(const RaggedRange& range, core::ValueId lastAxis);
  /// Whether a term is made of two elements or more. One is contiguous along the columns, each other one is
  /// contiguous too, or the same for all columns.
  bool isSideBySide(const RaggedRange& range, core::ValueId lastAxis) const;
  /// Whether an index is computed from an axis in another way than through the index of the range.
  bool variesWith(core::ValueId axis, core::ValueId v, const RaggedRange& range) const;
  /// Whether a read is in range wherever the axis is within the extent.
  bool isThere(const RaggedRange& range, core::OpId read);
  static bool isIndex(const RaggedRange& range, core::ValueId v);
  /// The axes that an operand of a read varies with.
  void addAxes(const RaggedRange& range, core::ValueId v, std::set<core::ValueId>& out) const;

  core::Function& fn() const { return m_.functions[f_]; }
  types::DimStore& dims() const { return m_.types.dims; }

  core::Module& m_;
  core::FunctionId f_;
  const core::Effects& effects_;
  const AffineBounds bounds_; ///< of the function as it was when this was made
  core::Ranges& ranges_;
};

} // namespace melix::transforms
