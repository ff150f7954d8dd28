#pragma once
// Moves the checks of a nest over rows to a nest of their own, before it. The first point to fail stays the
// same, and the values of the body may then be computed elsewhere, in any order.

#include "core/ir/build.h"
#include "support/function_ref.h"

#include <unordered_set>

namespace melix::transforms {

class Costs;

class RowChecks {
public:
  /// `hasEffect`: whether an op of the body has one.
  RowChecks(core::Module& m, core::FunctionId f, core::OpId nest, const Costs& costs,
            FunctionRef<bool(core::OpId)> hasEffect);
  /// Whether nothing but checks of values that are cheap to compute has an effect.
  bool mayMove() const { return !obstacle_.valid(); }
  /// The first op whose effect keeps it in the nest, if there is one.
  core::OpId obstacle() const { return obstacle_; }
  bool any() const { return !ops_.empty(); }
  /// Appends the nest of checks, if there are any.
  void move(core::Builder& b);

private:
  core::Function& fn() const { return m_.functions[f_]; }
  core::OpId find(const Costs& costs, FunctionRef<bool(core::OpId)> hasEffect);

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId nest_;
  std::unordered_set<core::OpId> ops_; ///< the checks, and the ops that make their operands
  core::OpId obstacle_;
};

} // namespace melix::transforms
