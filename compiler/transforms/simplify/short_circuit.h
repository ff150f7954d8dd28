#pragma once
// Internal to simplify: a branch that chooses between a condition and a constant is `and` or `or`.
//
//   before:  %r = if %a { %b = cmp lt %i, %n : bool   yield %b } { yield %false } : bool
//   after:   %b = cmp lt %i, %n : bool   %r = and %a, %b : bool
//
// Only where the condition is a few ops of plain numbers, which may be computed in any case: it reads no
// place and its divisors are not zero.

#include "core/ir/ir.h"

#include <optional>

namespace melix::transforms {

struct Connective {
  core::OpKind kind;  ///< And, Or
  uint32_t condition; ///< the region of the `if` that computes the other condition
};

/// What an `if` is, if it is one.
std::optional<Connective> connectiveOf(const core::Module& module, const core::Function& fn,
                                       const core::Op& branch);

} // namespace melix::transforms
