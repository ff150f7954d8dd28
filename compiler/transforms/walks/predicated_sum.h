#pragma once
// Splits a nest that sums over some of its axes: a sum at each point of the other axes.
//
//   before:  %y = nest (%i: N, %e: E, %u: U) -> keep[i, e] sum { … yield %term }
//   after:   %y = nest (%i: N, %e: E) -> collect[i, e] { … nest (%u: U) -> keep[] sum { … } … }
//
// For passes that predicate sums; each specifies the value at a point, and a term.

#include "core/ir/nest.h"
#include "core/order/clone.h"
#include "support/function_ref.h"

#include <functional>

namespace melix::transforms {

class SumAtPoints {
public:
  /// Emits a number at a builder; the cloner maps the axes to their new values.
  using Write = FunctionRef<core::ValueId(core::Cloner&, core::Builder&)>;

  SumAtPoints(core::Module& m, core::FunctionId f, core::OpId nest) : m_(m), f_(f), nest_(nest) {}

  /// Emits `number` at each point of the kept axes, as a replacement of the results; without such axes only
  /// `number` itself. Gives the op that makes them.
  core::OpId write(core::Builder& b, Write number) const;
  /// At such a point: the sum of the terms over the other axes.
  core::ValueId sum(core::Cloner& copy, core::Builder& b, Write term) const;

private:
  core::Function& fn() const { return m_.functions[f_]; }

  core::Module& m_;
  core::FunctionId f_;
  core::OpId nest_;
};

/// Emits a number at a builder.
using WriteNumber = std::function<core::ValueId(core::Builder&)>;
/// `if holds { … } { … }`, of one number.
core::ValueId selectElse(core::Builder& b, core::ValueId holds, core::TypeId type, const WriteNumber& number,
                         const WriteNumber& otherwise);
/// `if holds { … } { 0 }`, of one number.
core::ValueId selectOrZero(core::Builder& b, core::ValueId holds, core::TypeId type,
                           const WriteNumber& number);

/// Copies the ops that make a value, down to values that were copied before and ops that are not `within`.
void copyValue(const core::Function& f, core::ValueId v, FunctionRef<bool(core::OpId)> within,
               core::Cloner& copy, core::Builder& b);

} // namespace melix::transforms
