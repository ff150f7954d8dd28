#pragma once
// The adds of a nest over rows to its accumulators, as nests of their own over any rows. The values that an
// add needs of a row are stored before, by row. Of a matrix that is made of two rows, the rows are stored.
//
//   %b = nest (i: m) -> accs (%a = %s) { … %o = nest (j: D, k: H) -> collect[j, k] { get %x[%j] · get %d[%k]
//   }
//                                        %t = add_at %a[%e] += %o   yield %t }
// stored: %x, %d, %e.  Of rows R of them:
//   %b = if 4 E <= R { for E, %s { (%e, %t)         // by groups of rows with this %e (row_groups.h)
//     %b = nest (i: n, j: D, k: H) -> accs (%a = %t) { … add_at %a[%e, %j, %k] += get %xs[%r, %j] · … }
//     yield %b } } { … the same for all rows … }
// A matrix that is added at the same place for all rows takes one nest over all rows.

#include "core/ir/build.h"
#include "transforms/batch/rows.h"

#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

class Costs;

class RowAdds {
public:
  /// Whether the ops of a region that add to accumulators of it do nothing else; calls are no such ops.
  static bool areAlone(const core::Module& m, const core::Function& f, core::RegionId region);
  /// Requires: `areAlone` of the body of the nest. If the adds are to stand outside of a region around the
  /// nest, values of that region are stored too.
  RowAdds(core::Module& m, core::FunctionId f, core::OpId nest, const Costs& costs,
          core::RegionId around = {});

  /// Whether there are several adds, each of which can stand in a nest of its own, and one adds a matrix:
  /// over all rows it is a product.
  bool haveProducts() const;
  /// Whether a matrix of rows is added at a place that the row chooses.
  bool anyChosen() const;
  /// The values of the body that are stored.
  const std::vector<core::ValueId>& stored() const { return stored_; }
  /// Appends a nest that makes the collected and the stored values; gives these arrays, which have the axes
  /// of the nest.
  std::vector<core::ValueId> makeBefore(core::Builder& b) const;
  /// Appends nests over so many rows; `arrays` have the stored values by row. `sums` are the
  /// accumulators, before and after.
  void emit(core::Builder& b, core::DimId rows, std::span<const core::ValueId> arrays,
            std::vector<core::ValueId>& sums) const;

private:
  const core::Function& fn() const { return m_.functions[f_]; }
  bool isSum(core::ValueId v) const;
  bool isSameForAll(core::OpId id) const;
  bool isOuter(const core::Op& op) const;
  bool isAtSameElement(core::OpId id) const;
  void emitSum(core::Builder& b, core::DimId rows, core::OpId add, std::span<const core::ValueId> arrays,
               std::vector<core::ValueId>& sums) const;
  bool isAlone(core::OpId id) const;
  void store(core::OpId id);
  void need(core::ValueId v);
  std::vector<core::ValueId> sumsUsedBy(core::OpId add) const;
  std::vector<core::OpId> copiedFor(std::span<const core::OpId> adds) const;
  bool isPoint(core::OpId id) const;
  bool isLarge(core::ValueId matrix) const;
  bool isRowOfAdds(core::OpId id) const;
  bool addsToChosen(core::OpId id) const;
  core::ValueId begunIn(core::Builder& arm, core::ValueId sum) const;
  std::vector<core::ValueId> choiceOf(core::OpId add) const;
  std::vector<core::DimId> extentsOf(core::OpId add) const;
  void emitByChoice(core::Builder& b, core::DimId rows, core::OpId add, std::span<const core::ValueId> arrays,
                    std::vector<core::ValueId>& sums) const;
  core::ValueId elementAt(core::Builder& in, core::Cloner& copy, core::ValueId array,
                          std::span<const core::ValueId> point) const;
  core::ValueId keysOf(core::Builder& b, core::DimId rows, std::span<const core::ValueId> choice,
                       std::span<const core::DimId> extents, std::span<const core::ValueId> arrays) const;
  /// Adds of a set of rows; `known` are values that are the same for all of these.
  void emitGroup(core::Builder& b, const RowSet& rows, std::span<const core::OpId> adds,
                 std::span<const core::ValueId> arrays, std::vector<core::ValueId>& sums,
                 const std::unordered_map<core::ValueId, core::ValueId>& known = {}) const;

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId nest_;
  const Costs& costs_;
  const core::RegionId body_, around_;
  std::unordered_set<core::OpId> own_, aroundOps_;
  std::unordered_map<core::OpId, bool> isCopied_; ///< of ops that adds need: whether they are not stored
  std::vector<core::OpId> adds_;
  std::unordered_map<core::ValueId, size_t> sumOf_; ///< the accumulator of a value
  std::vector<core::ValueId> stored_;
};

} // namespace melix::transforms
