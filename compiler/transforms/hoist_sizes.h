#pragma once
// What is opened in a nest or a loop and comes from outside of it is opened in front: its sizes and arrays
// are the same at all points.
//
//   before:  %y = nest (i: N) -> collect[i] { %a, … = unpack %kept defines [K]   … nest (k: K) … get %a[%k] …
//   } after:   %a, … = unpack %kept defines [K]
//            %y = nest (i: N) -> collect[i] { … nest (k: K) … get %a[%k] … }
//
// Derivatives of derivatives keep what they need in packs; sizes of a body of its own would keep nests from
// being products (separate_products.h). Requires: verified Core. Keeps: everything but where it is opened.

#include "core/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool hoistSizes(core::Module& module);

} // namespace melix::transforms
