#pragma once
// Internal to simplify: scalar ops on constants, exactly as the interpreter computes them.

#include "core/ir/ir.h"

namespace melix::transforms {

/// The constant result of a scalar op on constants; nullopt where it is not folded.
std::optional<uint64_t> foldScalar(const core::Op& op, core::TypeKind operandKind, core::TypeKind resultKind,
                                   const std::vector<uint64_t>& operands);

/// Whether the op is a product of two constants that is rounded: a sum may still take it in without that
/// (contract_fma.h).
bool isRoundedProduct(const core::Op& op, core::TypeKind kind, const std::vector<uint64_t>& operands);

} // namespace melix::transforms
