#pragma once
// The functions that each function names, and an order in which callees come before their callers.

#include "core/ir/ir.h"

#include <span>

namespace melix::core {

/// The functions that an op names: the callee of a call, a closure or a derivative.
template <class Visit>
void forEachCallee(const Op& op, Visit&& visit) {
  if (auto* c = std::get_if<CallAttr>(&op.attr)) visit(c->callee);
  if (auto* d = std::get_if<DerivativeAttr>(&op.attr)) visit(d->callee);
}

/// The entry, kept functions and the bodies of math functions; none in a module that is somebody's fragment.
std::vector<FunctionId> rootFunctions(const Module& m);
/// By function: whether more than its calls rely on its parameters and results. It is a root, has no body, or
/// has or is a rule for a derivative; all of a module without roots.
std::vector<bool> fixedSignatures(const Module& m);
/// By function: whether a root leads there; all of a module without roots.
std::vector<bool> reachedFunctions(const Module& m);

class CallGraph {
public:
  explicit CallGraph(const Module& m);

  /// In the order in which they are named first, each once.
  std::span<const FunctionId> callees(FunctionId f) const { return callees_[f.index]; }
  /// Callees first; functions that call each other follow one another.
  std::span<const FunctionId> order() const { return order_; }
  /// Whether a call of the function may lead to a call of it.
  bool isRecursive(FunctionId f) const { return recursive_[f.index]; }
  /// Whether it may lead to a call of a function that is.
  bool reachesRecursion(FunctionId f) const { return reaches_[f.index]; }

private:
  void visit(FunctionId root);
  void closeCycle(FunctionId root);

  std::vector<std::vector<FunctionId>> callees_;
  std::vector<FunctionId> order_, open_;
  std::vector<uint32_t> number_,
      lowest_; ///< Tarjan's: when reached, and the earliest open one reached from it
  std::vector<bool> isOpen_, recursive_, reaches_;
  uint32_t reached_ = 0;
};

} // namespace melix::core
