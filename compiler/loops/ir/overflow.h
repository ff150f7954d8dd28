#pragma once
// Emits conditions that integer arithmetic stays within its type.

#include "loops/ir/build.h"

namespace melix::loops {

inline uint64_t leastOf(TypeKind kind) { return uint64_t(1) << (types::scalarBits(kind) - 1); }
inline bool isSigned(TypeKind kind) { return types::scalarClass(kind) == types::ScalarClass::SInt; }

/// Emits a test that a sum, difference, product or negation of integers does not wrap.
ValueId resultFits(Builder& b, core::CheckKind check, const std::vector<ValueId>& v, TypeKind kind);
/// Emits a test that one step of computing a dimension stays within 64 bits.
ValueId dimStepFits(Builder& b, core::OpKind kind, ValueId x, ValueId y);
/// Emits a test that the product of sizes is at most `most`; `skipsZero`: without the sizes that are 0. No
/// size is negative.
ValueId productFits(Builder& b, const std::vector<ValueId>& sizes, int64_t most, bool skipsZero);

} // namespace melix::loops
