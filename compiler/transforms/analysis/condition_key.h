#pragma once
// Makes comparable keys of mask conditions: of comparisons of indices, which determine the elements of an
// array that a mask keeps.

#include "core/analysis/sizes.h"

#include <functional>
#include <optional>
#include <string>

namespace melix::transforms {

/// Comparisons of sums of axes, of constants and of sizes that are known before a nest, joined by `and`.
class AxisConditions {
public:
  AxisConditions(const core::Module& m, const core::Function& f, const core::KnownSizes& sizes,
                 core::OpId nest)
      : m_(m), f_(f), sizes_(sizes), nest_(nest) {}

  /// The text of an axis, if a value is one.
  using AxisText = std::function<std::optional<std::string>(core::ValueId)>;
  /// The text of the ops that make a condition; `axis` gives the text of its axes. Conditions that are made
  /// in the same way have the same text. None if it is another value, or made of many ops.
  std::optional<std::string> textOf(core::ValueId v, const AxisText& axis) const;

private:
  bool write(core::ValueId v, const AxisText& axis, int depth, std::string& to) const;

  const core::Module& m_;
  const core::Function& f_;
  const core::KnownSizes& sizes_;
  core::OpId nest_;
};

} // namespace melix::transforms
