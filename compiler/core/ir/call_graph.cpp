#include "core/ir/call_graph.h"

#include "core/ir/analyses.h"
#include "core/ir/walk.h"

#include <algorithm>

namespace melix::core {

std::vector<FunctionId> rootFunctions(const Module& m) {
  std::vector<FunctionId> out;
  if (m.entry.valid()) out.push_back(m.entry);
  for (auto& [key, f] : m.mathBodies) out.push_back(f);
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (m.functions[FunctionId(i)].keep) out.push_back(FunctionId(i));
  return out;
}

std::vector<bool> fixedSignatures(const Module& m) {
  const std::vector<FunctionId> roots = rootFunctions(m);
  std::vector<bool> fixed(m.functions.size(), roots.empty());
  for (uint32_t i = 0; i < fixed.size(); ++i) {
    const Function& f = m.functions[FunctionId(i)];
    if (!f.body.valid() || f.customJvp.valid()) fixed[i] = true;
    if (f.customJvp.valid()) fixed[f.customJvp.index] = true;
  }
  for (FunctionId root : roots) fixed[root.index] = true;
  return fixed;
}

std::vector<bool> reachedFunctions(const Module& m) {
  std::vector<FunctionId> queue = rootFunctions(m);
  std::vector<bool> reached(m.functions.size(), queue.empty());
  while (!queue.empty()) {
    const FunctionId id = queue.back();
    queue.pop_back();
    if (!id.valid() || reached[id.index]) continue;
    reached[id.index] = true;
    const Function& f = m.functions[id];
    queue.push_back(f.customJvp);
    for (FunctionId callee : analysis<OwnEffects>(m, id)->callees) queue.push_back(callee);
  }
  return reached;
}

CallGraph::CallGraph(const Module& m) {
  const size_t count = m.functions.size();
  callees_.resize(count);
  number_.assign(count, 0);
  lowest_.assign(count, 0);
  isOpen_.assign(count, false);
  recursive_.assign(count, false);
  for (uint32_t i = 0; i < count; ++i) callees_[i] = analysis<OwnEffects>(m, FunctionId(i))->callees;
  for (uint32_t i = 0; i < count; ++i)
    if (number_[i] == 0) visit(FunctionId(i));
  reaches_ = recursive_;
  for (FunctionId f : order_)
    for (FunctionId callee : callees_[f.index])
      if (reaches_[callee.index]) reaches_[f.index] = true;
}

/// Tarjan's strongly connected components, without recursion: programs have chains of thousands of calls.
void CallGraph::visit(FunctionId root) {
  struct Step {
    FunctionId function;
    size_t next = 0;
  };
  std::vector<Step> path;
  auto enter = [&](FunctionId f) {
    number_[f.index] = lowest_[f.index] = ++reached_;
    isOpen_[f.index] = true;
    open_.push_back(f);
    path.push_back({f});
  };
  enter(root);
  while (!path.empty()) {
    const FunctionId f = path.back().function;
    if (path.back().next < callees_[f.index].size()) {
      const FunctionId callee = callees_[f.index][path.back().next++];
      if (callee == f) recursive_[f.index] = true;
      if (number_[callee.index] == 0)
        enter(callee);
      else if (isOpen_[callee.index])
        lowest_[f.index] = std::min(lowest_[f.index], number_[callee.index]);
      continue;
    }
    if (lowest_[f.index] == number_[f.index]) closeCycle(f);
    path.pop_back();
    if (path.empty()) continue;
    uint32_t& caller = lowest_[path.back().function.index];
    caller = std::min(caller, lowest_[f.index]);
  }
}

/// What is open from `root` on calls each other.
void CallGraph::closeCycle(FunctionId root) {
  const bool several = open_.back() != root;
  for (FunctionId f; f != root;) {
    f = open_.back();
    open_.pop_back();
    isOpen_[f.index] = false;
    if (several) recursive_[f.index] = true;
    order_.push_back(f);
  }
}

} // namespace melix::core
