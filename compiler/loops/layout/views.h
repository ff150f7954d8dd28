#pragma once
// Finds slices of arrays and payloads of nodes that are only read and need no copy (views), decided over
// Core.
//
//   %row = get %x[%i] : f64[M]        a view of %x: nothing is copied
//   %a = get %row[%j] : f64
//   %s = call @norm %row              takes the row's address, if @norm only reads elements
//   %y = set %x[%i, %j] = %s          the view has ended

#include "loops/layout/element_params.h"

#include <map>
#include <optional>

namespace melix::loops {

class Views {
public:
  /// For a function that stays as it is, and its uses.
  Views(const core::Function& fn, const types::TypeStore& types, const core::Uses& uses,
        const ElementParams& elementParams)
      : fn_(fn), types_(types), uses_(uses), elementParams_(elementParams) {}

  /// Whether the result of a `get`, a part of an array in memory, is only read, or stored in another array.
  /// The part that a call reads is one run of memory. A view must not make an update copy its parent. So up
  /// to the last use of the view, its region only reads the parent and the sources of the parent.
  /// A part of a payload that stays in its node is as good as one of an array that does not change.
  bool mayView(const core::Op& get, bool isInNode);

  /// The arms of branches that need a payload, or a field of one, whole. Elsewhere it is only read where it
  /// lies, in its node, which does not change: elements of an array, parts of a record. None if it is needed
  /// whole outside of arms.
  std::optional<std::vector<core::RegionId>> armsThatTake(core::ValueId payload) const;

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
  bool isReadInNode(core::Use use) const;
  core::RegionId armOf(core::RegionId region, core::OpId op) const;

  const core::Function& fn_;
  const types::TypeStore& types_;
  const core::Uses& uses_;
  const ElementParams& elementParams_;
  std::map<std::pair<core::ValueId, core::RegionId>, size_t> readUntil_; ///< results so far
  std::map<core::RegionId, std::unordered_map<core::OpId, size_t>> places_;
};

} // namespace melix::loops
