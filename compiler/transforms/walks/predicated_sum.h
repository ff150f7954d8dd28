#pragma once
// A nest that sums over some of its axes, written anew as a sum at each point of the others.
//
//   before:  %y = nest (%i: N, %e: E, %u: U) -> keep[i, e] sum { … yield %term }
//   after:   %y = nest (%i: N, %e: E) -> collect[i, e] { … nest (%u: U) -> keep[] sum { … } … }
//
// For passes that put sums under masks; each says what stands at a point, and what a term is.

#include "core/ir/nest.h"
#include "core/order/clone.h"

#include <functional>

namespace melix::transforms {

class SumAtPoints {
public:
  /// Writes a number where a builder stands; what is copied says what axes have become.
  using Write = std::function<core::ValueId(core::Cloner&, core::Builder&)>;

  SumAtPoints(core::Module& m, core::FunctionId f, core::OpId nest) : m_(m), f_(f), nest_(nest) {}

  /// What `number` gives at each point of the axes that are kept, in the place of the results; without such
  /// axes only that. The op that makes them.
  core::OpId write(core::Builder& b, const Write& number) const;
  /// At such a point: the sum of the terms over the other axes.
  core::ValueId sum(core::Cloner& copy, core::Builder& b, const Write& term) const;

private:
  core::Function& fn() const { return m_.functions[f_]; }

  core::Module& m_;
  core::FunctionId f_;
  core::OpId nest_;
};

/// `if holds { … } { 0 }`, of one number.
core::ValueId orZero(core::Builder& b, core::ValueId holds, core::TypeId type,
                     const std::function<core::ValueId(core::Builder&)>& number);

/// Copies what makes a value, down to what was copied before and ops that are not `within`.
void copyValue(const core::Function& f, core::ValueId v, const std::function<bool(core::OpId)>& within,
               core::Cloner& copy, core::Builder& b);

} // namespace melix::transforms
