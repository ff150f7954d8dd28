#pragma once
// Merges a nest over rows with the nest that does all its work: the points of both are the rows of one nest.
//
//   before:  %y = nest (b: B) -> collect[b] {
//              %x = get %xs[%b]
//              %u = nest (t: T) -> collect[t] { … %x …   yield %v }
//              yield %u }
//   after:   %y = nest (b: B, t: T) -> collect[b, t] { %x = get %xs[%b] … %x …   yield %v }
//
// Applies if the other ops of the body are cheap and have no effect, and the sizes of the inner nest are
// known outside.

#include "core/ir/build.h"

namespace melix::core {
class Effects;
}

namespace melix::transforms {

class Costs;

class MergedRows {
public:
  MergedRows(core::Module& m, core::FunctionId f, core::OpId nest, const core::Effects& effects,
             const Costs& costs);

  /// The nest within; invalid if they cannot be merged.
  core::OpId inner() const { return inner_; }
  /// Appends the merged nest, which defines the results from then on.
  core::OpId merge(core::Builder& b) const;

private:
  core::Function& fn() const { return m_.functions[f_]; }
  bool givesInner() const;

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId nest_;
  core::OpId inner_;
};

} // namespace melix::transforms
