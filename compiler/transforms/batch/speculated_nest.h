#pragma once
// Speculates that no check of a nest over rows fails: a copy of the nest in a function of its own, which may
// run checks in any order, gives whether they hold. If one does not, the nest itself finds the first row that
// fails.
//
//   before:  %y = nest (b: B) -> collect[b] { … check … }
//   after:   %z, %holds = call @f.rows …
//            %y = if %holds { yield %z } else { %n = nest (b: B) -> collect[b] { … check … }   yield %n }

#include "core/ir/build.h"

namespace melix::transforms {

/// Appends a call of a new function whose body is a copy of the nest, and `true` as its last result.
core::OpId callOfCopy(core::Builder& b, core::OpId nest);
/// Appends the nest, which stands nowhere, as the other way to compute the results of the call.
void fallBack(core::Builder& b, core::OpId nest, core::OpId call);
/// Removes the last result of the function of such a call.
void dropLastResult(core::Module& m, core::FunctionId f);

} // namespace melix::transforms
