#pragma once
// Estimates the costs of keeping a value and of rematerialising it, for the choice of residuals
// (choose_residuals.cpp).

#include "core/ir/ir.h"

#include <optional>

namespace melix::transforms {

/// Work that makes a value from others.
struct Effort {
  uint32_t flops = 0, math = 0; ///< operations; elementary functions
  Effort& operator+=(Effort more) {
    flops += more.flops;
    math += more.math;
    return *this;
  }
};

/// The effort of one op that may be rematerialised: scalar arithmetic, elementary functions, reads, and ops
/// without work (undef, zero, bitcast, cast_dims, stop_gradient); none for other ops.
std::optional<Effort> rematerialisationEffort(const core::Function& f, const types::TypeStore& types,
                                              const core::Op& op);
/// Whether a value of type `t`, or each element of such an array, is worth rematerialising rather than
/// keeping. The limit is one elementary function, and 16 operations a byte, of two bytes at least.
bool isProfitable(const types::TypeStore& types, types::TypeId t, Effort effort);
/// A size, guessed where it is not known.
uint64_t guessedExtent(const types::TypeStore& types, types::DimId d);
/// Bytes of a value of type `t`, up to a bound; where they depend on sizes, on a guess of these.
uint64_t bytesKept(const types::TypeStore& types, types::TypeId t);

} // namespace melix::transforms
