#pragma once
// Finds slices of arrays that are only read and need no copy (views), decided over Core.
//
//   %row = get %x[%i] : f64[M]        a view of %x: nothing is copied
//   %a = get %row[%j] : f64

#include "core/ir/uses.h"

#include <map>

namespace melix::loops {

class Views {
public:
  /// For a function that stays as it is, and its uses.
  Views(const core::Function& fn, const core::Uses& uses) : fn_(fn), uses_(uses) {}

  /// Whether the result of a `get`, a part of an array in memory, is only read, or stored in another array. A
  /// view must not make an update copy its parent. So in the view's region, its parent and the sources of the
  /// parent are only read too.
  bool mayView(const core::Op& get);

private:
  bool onlyReadIn(core::ValueId v, core::RegionId region);

  const core::Function& fn_;
  const core::Uses& uses_;
  std::map<std::pair<core::ValueId, core::RegionId>, bool> onlyRead_; ///< results so far
};

} // namespace melix::loops
