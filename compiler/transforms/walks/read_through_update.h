#pragma once
// Forwards a read past an update: a read of an updated array becomes reads of the array before the update and
// of the value that was put there.
//
//   before:  %a = add_at %x[%k] += %v          %r = get %a[%j]
//   after:   %r = select (%j == %k), %x[%j] + %v, %x[%j]
//
//   before:  %a = add_at %x[%k +: 5] += %v     %r = get %a[%j]
//   after:   %r = if 0 <= %j - %k < 5 { %x[%j] + %v[%j - %k] } else { %x[%j] }

#include "core/ir/place.h"

#include <functional>

namespace melix::transforms {

/// The two reads, emitted at a builder: of the place in the array before the update, and of a place in the
/// value that was put there.
struct ReadsAround {
  std::function<core::ValueId(core::Builder&)> before;
  std::function<core::ValueId(core::Builder&, const core::Place&)> put;
};

/// `update` is `set` or `add_at`; how the places lie is known.
core::ValueId readThroughUpdate(core::Builder& b, core::OpKind update, const core::Overlap& o,
                                const ReadsAround& reads);

} // namespace melix::transforms
