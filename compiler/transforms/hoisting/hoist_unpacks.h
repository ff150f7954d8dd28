#pragma once
// Hoists the unpacking of a pack from outside of a nest: its sizes and arrays are the same at all points.
//
//   before:  %y = nest (i: N) -> collect[i] { %a = unpack %kept defines [K]   … get %a[%k] … }
//
//   after:   %a = unpack %kept defines [K]
//            %y = nest (i: N) -> collect[i] { … get %a[%k] … }
//
// Derivatives of derivatives keep their residuals in packs. Sizes that a body defines itself would keep nests
// from being products (fission_products.h). Requires: verified Core. Keeps: everything but the place of the
// unpacking.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any unpacking moved.
bool hoistUnpacks(core::Module& module);

} // namespace melix::transforms
