#pragma once
// Conditions that integer arithmetic stays within its type.

#include "loops/ir/build.h"

namespace melix::loops {

inline uint64_t leastOf(TypeKind kind) { return uint64_t(1) << (types::scalarBits(kind) - 1); }
inline bool isSigned(TypeKind kind) { return types::scalarClass(kind) == types::ScalarClass::SInt; }

/// Whether a sum, difference, product or negative of integers is the number that it is without wrapping.
ValueId resultFits(Builder& b, core::CheckKind check, const std::vector<ValueId>& v, TypeKind kind);
/// Whether one step of computing a dimension stays within 64 bits.
ValueId dimStepFits(Builder& b, core::OpKind kind, ValueId x, ValueId y);
/// Whether the product of sizes, or of those that are not 0, is at most `most`. None of them is negative.
ValueId productFits(Builder& b, const std::vector<ValueId>& sizes, int64_t most, bool skipsZero);

} // namespace melix::loops
