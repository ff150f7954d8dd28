#pragma once
// Rematerialises values of a kernel at its launch.

#include "loops/ir/build.h"

#include <optional>
#include <unordered_map>

namespace melix::loops {

/// For one launch, whose chunk is taken to be the whole range. The emitted statements cannot fail, whatever
/// their operands are. An expression that kernels compute in several places is emitted once.
class LaunchValues {
public:
  LaunchValues(Builder& b, const Function& kernel, const Stmt& launch, size_t mostStmts = 64);
  /// Whether a number is the same in every chunk and can be computed before a launch.
  static bool isUniform(const Function& kernel, ValueId v);

  /// The value of a kernel's number at the launch; the index of an entered loop has the value of its middle
  /// iteration. None if the number comes from memory, from a loop, or needs more statements than it is worth.
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
  std::unordered_map<ValueId, const Stmt*> loops_; ///< the entered loops, by index
  std::vector<StmtId> scalars_;                    ///< scalars that were emitted
  size_t left_;                                    ///< statements that may still be made, constants aside
};

} // namespace melix::loops
