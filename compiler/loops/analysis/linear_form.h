#pragma once
// Linear forms: numbers as sums of multiples of other numbers.
//
//   %a = mul %i, 4   %b = sub %a, %n   %c = add %b, 3        %c is 4·%i - %n + 3

#include "loops/ir/ir.h"
#include "support/function_ref.h"

#include <map>
#include <optional>

namespace melix::loops {

/// Σ factor · value + constant, modulo 2^64, as the program computes it.
struct LinearForm {
  std::map<ValueId, int64_t> terms; ///< no factor is 0
  int64_t constant = 0;

  int64_t factorOf(ValueId v) const {
    const auto term = terms.find(v);
    return term == terms.end() ? 0 : term->second;
  }
  /// Adds factor · x.
  void add(const LinearForm& x, int64_t factor);
};

/// The form of an i64 over the values that `isTerm` accepts. None if it is computed from other values in any
/// other way than by sums, differences and products by constants.
std::optional<LinearForm> linearForm(const Function& fn, ValueId v, FunctionRef<bool(ValueId)> isTerm);

/// Numbers below this limit are small.
inline constexpr int64_t smallNumber = int64_t(1) << 48;
/// Whether the form does not wrap where the values of its terms are small.
bool isSmall(const LinearForm& form);

} // namespace melix::loops
