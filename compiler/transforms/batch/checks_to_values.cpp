#include "transforms/batch/checks_to_values.h"

#include "core/ir/call_graph.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/batch/checked_function.h"

#include <algorithm>
#include <unordered_map>

namespace melix::transforms {

using namespace core;

namespace {

bool isCheck(OpKind kind) { return kind == OpKind::Check || kind == OpKind::Panic; }

/// By function: whether it has a check, or calls a function that has.
std::vector<bool> findFailing(const Module& m) {
  std::vector<bool> fails(m.functions.size(), false);
  for (uint32_t k = 0; k < fails.size(); ++k) {
    const Function& f = m.functions[FunctionId(k)];
    if (f.body.valid()) forEachOp(f, [&](OpId id) { fails[k] = fails[k] || isCheck(f.ops[id].kind); });
  }
  const CallGraph calls(m);
  for (bool more = true; std::exchange(more, false);)
    for (FunctionId f : calls.order()) {
      if (fails[f.index] ||
          std::ranges::none_of(calls.callees(f), [&](FunctionId c) { return fails[c.index]; }))
        continue;
      fails[f.index] = more = true;
    }
  return fails;
}

class Converter {
public:
  Converter(Module& m, const std::vector<FunctionId>& functions, const std::vector<FunctionId>& expecting)
      : m_(m), fails_(findFailing(m)), left_(functions) {
    for (FunctionId f : functions) of_[f] = f;
    for (FunctionId f : expecting) of_[f] = FunctionId();
  }

  void run() {
    while (!left_.empty()) {
      const FunctionId f = left_.back();
      left_.pop_back();
      CheckedFunction(m_, f, [&](FunctionId callee) { return calleeFor(callee); }).convert();
      m_.functions[f].version.raise();
    }
  }

private:
  FunctionId calleeFor(FunctionId callee) {
    if (const auto known = of_.find(callee); known != of_.end()) return known->second;
    if (callee.index >= fails_.size() || !fails_[callee.index]) return {};
    const FunctionId copy = copyFunction(m_, callee, "#" + std::to_string(m_.functions.size()));
    of_[callee] = copy;
    left_.push_back(copy);
    return copy;
  }

  Module& m_;
  const std::vector<bool> fails_;                 ///< by functions that were there at the beginning
  std::unordered_map<FunctionId, FunctionId> of_; ///< what is called instead; none: the same
  std::vector<FunctionId> left_;                  ///< to be converted
};

} // namespace

bool canGiveChecks(const Module& m, const Function& f, OpId id, const Effects& effects) {
  const Op& op = f.ops[id];
  auto isSum = [&](ValueId v) { return m.types.kind(f.typeOf(v)) == TypeKind::Acc; };
  if (op.kind == OpKind::Call) return std::ranges::none_of(op.operands, isSum);
  if (op.kind == OpKind::Nest)
    for (size_t r = 1; r < op.regions.size(); ++r)
      if (std::ranges::any_of(f.regions[op.regions[r]].ops,
                              [&](OpId each) { return effects.ofOp(f, each).any(); }))
        return false;
  return isCheck(op.kind) || op.kind == OpKind::While || !effects.ofItself(f, id).any();
}

void checksToValues(Module& m, const std::vector<FunctionId>& functions,
                    const std::vector<FunctionId>& expecting) {
  if (!functions.empty()) Converter(m, functions, expecting).run();
}

} // namespace melix::transforms
