#pragma once
// Internal to simplify. Recognises branches and selects that have a canonical form, so that a program in
// another spelling is the same program to the passes that follow.
//
// 1. A condition or a constant:
//      if %a { %b = …  yield %b } { yield %false }        becomes   %b = …  and %a, %b
// 2. A choice of integers that is the greater or the lesser of both:
//      if cmp lt %x, 0 { yield 0 } { yield %x }           becomes   max 0, %x
// 3. A branch in a branch with the same constants where one of them is not taken:
//      if %a { %b = …  %r = if %b { … } { yield 0 }  yield %r } { yield 0 }
//                                                         becomes   %b = …  if (and %a, %b) { … } { yield 0 }
// 4. A branch whose second arm computes, and whose first arm does not:
//      if cmp gt %u, %t { yield -inf } { … }              becomes   if cmp le %u, %t { … } { yield -inf }
// 5. A match of a number in few regions, as other tests of numbers are written:
//      match cases [0, 1, 2] %n { a } { b } { c }         becomes   if %n = 0 { a } { if %n = 1 { b } { c } }
//
// Ops that run in more cases than before are cheap: a few ops on scalars that read no place and whose
// divisors are not zero.

#include "core/analysis/ranges.h"

#include <optional>

namespace melix::transforms {

/// Whether an op of numbers is cheap and has a value whatever its operands are.
bool isCheapOp(const core::Module& m, const core::Function& fn, const core::Op& op);

/// The connective that an `if` between a cheap condition and a constant computes.
struct Connective {
  core::OpKind kind;  ///< And, Or
  uint32_t condition; ///< the region of the `if` that computes the other condition
};
std::optional<Connective> connectiveOf(const core::Module& m, const core::Function& fn,
                                       const core::Op& branch);

/// The greater or the lesser of two i64.
struct Extremum {
  core::OpKind kind; ///< Max, Min
  core::ValueId a, b;
};
/// The extremum that an `if` with cheap arms, or a `select`, computes. A side may be an operand of the
/// condition in the place of a value that is equal where it is chosen: `if i < n - 1 { i + 1 } else { i }`
/// with an index below n is min(i + 1, n - 1).
std::optional<Extremum> extremumOf(const core::Module& m, const core::Function& fn, const core::Op& choice,
                                   core::Ranges& ranges);

/// A match of a number enters a region if one of these comparisons holds. A bool is compared with true.
struct RegionTest {
  uint32_t region;
  ops::CmpKind how;
  std::vector<uint64_t> numbers;
};
/// Of a match of few regions: that of the first region that few comparisons tell from the others.
std::optional<RegionTest> regionTestOf(const core::Module& m, const core::Function& fn,
                                       const core::Op& match);

/// The branch inside the first arm of `branch` that both can be one with; its condition is cheap.
std::optional<core::OpId> nestedBranch(const core::Module& m, const core::Function& fn,
                                       const core::Op& branch);

/// Whether the first arm of an `if`, or the first side of a `select`, belongs last: it is a constant, or a
/// value that exists before the branch, and the other one is not. An arm that panics stays where it is.
bool belongsLast(const core::Function& fn, const core::Op& choice);

} // namespace melix::transforms
