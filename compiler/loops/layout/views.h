#pragma once
// Which parts of arrays that are read need no memory of their own, decided over Core.
//
//   %row = get %x[%i] : f64[M]        a view of %x: nothing is copied
//   %a = get %row[%j] : f64

#include "core/ir/uses.h"

#include <map>

namespace melix::loops {

class Views {
public:
  /// Of a function that stays as it is, with its uses.
  Views(const core::Function& fn, const core::Uses& uses) : fn_(fn), uses_(uses) {}

  /// Whether what a `get` gives, which is some of an array in memory, is only read, or stored in another
  /// array. A view must not make an
  /// update copy its parent: where the view is made, its parent, and what that was taken from, is only read
  /// too.
  bool mayView(const core::Op& get);

private:
  bool onlyReadIn(core::ValueId v, core::RegionId region);

  const core::Function& fn_;
  const core::Uses& uses_;
  std::map<std::pair<core::ValueId, core::RegionId>, bool> onlyRead_; ///< what was found
};

} // namespace melix::loops
