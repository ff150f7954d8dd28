#pragma once
// Memory that a function may write when it is launched.

#include "loops/ir/ir.h"

#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

/// Whether a call may write the elements of an operand. An address is one that is read only, or one of an
/// accumulator.
bool mayWriteOperand(const Module& module, const Function& fn, const Stmt& call, size_t operand);

/// The parameters of a chunk or kernel whose elements it may write: those whose data or addresses it uses for
/// more than reads. All of them where it does so with memory of which this does not say whose it is. Linear
/// in the statements.
class WrittenCaptures {
public:
  WrittenCaptures(const Module& module, const Function& launched);
  bool contains(ValueId param) const { return all_ || written_.contains(param); }

private:
  bool onlyReads(const Stmt& s, size_t operand) const;
  void note(ValueId v);

  const Module& module_;
  const Function& launched_;
  std::unordered_set<ValueId> written_;
  bool all_ = false;
};

/// The same for all launches of a module: each function that is launched is looked at once.
class LaunchWrites {
public:
  explicit LaunchWrites(const Module& module) : module_(module) {}
  bool mayWrite(const Stmt& launch, size_t operand);

private:
  const Module& module_;
  std::unordered_map<FunctionId, WrittenCaptures> written_;
};

} // namespace melix::loops
