#pragma once
// Finds slices of arrays that are only read and need no copy (views), decided over Core.
//
//   %row = get %x[%i] : f64[M]        a view of %x: nothing is copied
//   %a = get %row[%j] : f64
//   %s = call @norm %row              takes the row's address, if @norm only reads elements
//   %y = set %x[%i, %j] = %s          the view has ended

#include "loops/layout/element_params.h"

#include <map>
#include <unordered_set>

namespace melix::loops {

class Views {
public:
  /// For a function that stays as it is, and its uses.
  Views(const core::Function& fn, const core::Uses& uses, const ElementParams& elementParams)
      : fn_(fn), uses_(uses), elementParams_(elementParams) {}

  /// Whether the result of a `get`, a part of an array in memory, is only read, or stored in another array.
  /// The part that a call reads is one run of memory. A view must not make an update copy its parent. So up
  /// to the last use of the view, its region only reads the parent and the sources of the parent.
  bool mayView(const core::Op& get);
  /// Whether a payload stays in its node: an array of which only elements are read, or a record of which only
  /// parts are. The node does not change. The caller asks this before mayView of a `get` of the payload.
  bool mayStay(core::ValueId payload);

private:
  /// How the part of an array is used in the region of its `get`.
  struct Part {
    core::RegionId region;
    bool isRead = true;    ///< where it lies
    bool isPassed = false; ///< to a call
    size_t end = 0;        ///< the place of the last use
  };

  void follow(core::ValueId v, Part& part);
  size_t readUntil(core::ValueId v, core::RegionId region);
  size_t placeOf(core::RegionId region, core::OpId op);
  bool isRun(const core::Op& get) const;

  const core::Function& fn_;
  const core::Uses& uses_;
  const ElementParams& elementParams_;
  std::unordered_set<core::ValueId> staying_;
  std::map<std::pair<core::ValueId, core::RegionId>, size_t> readUntil_; ///< results so far
  std::map<core::RegionId, std::unordered_map<core::OpId, size_t>> places_;
};

} // namespace melix::loops
