#pragma once
// Writes Core as Melix source, the text of `melix show --stage grad`, to be laid out by the formatter.
//
//   %r = nest (i: N) -> collect[i] { %a = get %x[i]  %b = mul %a, %a  yield %b }
//   let r: f32[N] = [for i in 0..N: x[i] * x[i]]
//
// Functions called follow the root. Values that are used once stand where they are used; updates become
// `var`s; accumulators become loops with `+=`. Index and shape checks are left out, being implicit in Melix.

#include "core/ir/ir.h"

namespace melix::decompile {

struct Source {
  std::string text;
  std::vector<std::string> notes; ///< constructs without a spelling in Melix; a comment stands in their place
};

/// The function and all it calls, with the structs and enums they use.
Source decompile(const core::Module& module, core::FunctionId root);

} // namespace melix::decompile
