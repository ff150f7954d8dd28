#pragma once
// Computes the sizes that ops mention: an op can stand only where these are known.

#include "core/ir/ir.h"

#include <unordered_map>

namespace melix::core {

/// The sizes of an op itself: in its result types, its own sizes, and the lengths of slices on its path.
std::vector<DimSym> sizesOf(const Module& m, const Function& f, const Op& op);

/// Of an op and all that stands in its regions.
std::vector<DimSym> sizesWithin(const Module& m, const Function& f, OpId op);

/// Where sizes are known, of a function as it is when this is made.
class KnownSizes {
public:
  explicit KnownSizes(const Function& f);

  /// Whether the function, an op before this op, or an enclosing op defines it.
  bool isDefinedBefore(DimSym s, OpId op) const;
  /// All that the other op itself mentions.
  bool areDefinedBefore(const Module& m, const Op& of, OpId op) const;

private:
  /// The place of an op in the list of its region.
  struct Place {
    RegionId region;
    size_t at = 0;
  };

  const Function& f_;
  std::vector<Place> places_;                    ///< by op
  std::unordered_map<DimSym, RegionId> params_;  ///< of regions
  std::unordered_map<DimSym, OpId> definitions_; ///< by the ops that define them
};

} // namespace melix::core
