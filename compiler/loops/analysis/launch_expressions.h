#pragma once
// Values of a kernel, computed where it is launched.

#include "loops/ir/build.h"

#include <optional>
#include <unordered_map>

namespace melix::loops {

/// For one launch, whose chunk is taken to be the whole. What is made cannot fail, whatever its operands are,
/// and is made once where kernels compute it in several places.
class LaunchValues {
public:
  LaunchValues(Builder& b, const Function& kernel, const Stmt& launch, size_t mostStmts = 64);
  /// Whether a number is the same in every chunk, and can be told in front of a launch.
  static bool isUniform(const Function& kernel, ValueId v);

  /// What a number of the kernel is there; the index of a loop that was entered is that of its middle turn.
  /// None if it comes from memory, from a loop, or from more statements than are worth it.
  std::optional<ValueId> of(ValueId v);
  void enter(const Stmt& loop);

private:
  std::optional<ValueId> make(ValueId v);
  std::optional<ValueId> makeScalar(const Stmt& s);
  std::optional<ValueId> simplified(const ScalarAttr& attr, const std::vector<ValueId>& operands);
  std::optional<ValueId> middleOf(const Stmt& loop);

  Builder& b_;
  const Function& kernel_;
  std::unordered_map<ValueId, ValueId> made_;      ///< an invalid one where there is none
  std::unordered_map<ValueId, const Stmt*> loops_; ///< by index
  std::vector<StmtId> scalars_;                    ///< that were made
  size_t left_;                                    ///< statements that may still be made, constants aside
};

} // namespace melix::loops
