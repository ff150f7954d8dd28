#pragma once
// Proves that accesses are disjoint: that an update writes other elements of an array than another access
// reads or writes.
//
//   for %n { (%t, %x)   %v = get %x[%k]   … %x' = set %x[%t] = … }     disjoint in all iterations if %k < %t
//
// One axis has to prove it, by bounds of both indices. An index is a sum of multiples of sizes, axes and
// indices of loops. Terms that are defined further in are replaced by their least or greatest value.

#include "core/analysis/affine.h"
#include "core/ir/uses.h"

#include <optional>
#include <unordered_map>

namespace melix::transforms {

/// The first and the last index of a place on an axis.
struct IndexForms {
  core::AffineForm first, last;
};
/// A place by its axes; an axis that is whole, or whose index is no such sum, has no form.
using PlaceForms = std::vector<std::optional<IndexForms>>;

class DisjointAccesses {
public:
  DisjointAccesses(const core::Module& m, const core::Function& f, const core::Uses& uses);

  /// Whether a get, set or add_at is of an element or a part of an array.
  bool isPlace(const core::Op& access) const;
  PlaceForms formsOf(const core::Op& access) const;

  /// The number of ops that enclose a region.
  uint32_t depthOf(core::RegionId r) const;
  /// Whether an update writes other elements than the place, wherever both are deeper than `depth`. With
  /// `iteration`, the index of a loop, in all later iterations of that loop than the iteration of the place.
  bool areDisjoint(const PlaceForms& place, const core::Op& update, uint32_t depth,
                   core::ValueId iteration = {}) const;

private:
  using Form = core::AffineForm;
  std::optional<Form> form(core::ValueId v) const;
  std::optional<IndexForms> formsOf(const core::PathStep& step, core::ValueId index) const;
  std::optional<Form> points(core::ValueId v) const;
  std::optional<Form> form(core::DimId size) const;
  std::optional<Form> bound(Form form, bool isUpper, uint32_t depth) const;
  bool isLess(const IndexForms& a, const IndexForms& b, uint32_t depth, core::ValueId iteration,
              bool isLaterMore) const;

  const core::Module& m_;
  const core::Function& f_;
  const core::Uses& uses_;
  std::unordered_map<core::DimSym, core::ValueId> boundTo_; ///< numbers that sizes are
};

} // namespace melix::transforms
