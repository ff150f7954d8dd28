#pragma once
// A pack from outside of a nest is opened in front of it: its sizes and arrays are the same at all points.
//
//   before:  %y = nest (i: N) -> collect[i] { %a = unpack %kept defines [K]   … get %a[%k] … }
//
//   after:   %a = unpack %kept defines [K]
//            %y = nest (i: N) -> collect[i] { … get %a[%k] … }
//
// Derivatives of derivatives keep what they need in packs; sizes of a body of its own would keep nests from
// being products (fission_products.h). Requires: verified Core. Keeps: everything but where it is opened.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool hoistSizes(core::Module& module);

} // namespace melix::transforms
