#pragma once
// Internal to simplify. Converts a branch that chooses between a condition and a constant to `and` or `or`.
//
//   before:  %r = if %a { %b = cmp lt %i, %n : bool   yield %b } { yield %false } : bool
//   after:   %b = cmp lt %i, %n : bool   %r = and %a, %b : bool
//
// The condition has to be a few ops on scalars that may be speculated: it reads no place and its divisors are
// not zero.

#include "core/ir/ir.h"

#include <optional>

namespace melix::transforms {

struct Connective {
  core::OpKind kind;  ///< And, Or
  uint32_t condition; ///< the region of the `if` that computes the other condition
};

/// The connective that an `if` computes, if it is one.
std::optional<Connective> connectiveOf(const core::Module& module, const core::Function& fn,
                                       const core::Op& branch);

} // namespace melix::transforms
