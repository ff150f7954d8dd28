#include "loops/merge_kernels.h"

#include "loops/print.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

namespace {

bool isReference(const Stmt& s) { return s.kind == StmtKind::Call || s.kind == StmtKind::Launch; }

bool isSilent(const Function& fn) {
  return fn.kind == FunctionKind::Kernel &&
         std::ranges::none_of(fn.stmts, [](const Stmt& s) { return s.kind == StmtKind::Check; });
}

/// All of a function but what it is called and comes from.
std::string namelessText(const Module& module, Function& fn) {
  std::string key = std::exchange(fn.key, ""), name = std::exchange(fn.name, "");
  const core::FunctionId source = std::exchange(fn.source, {});
  std::string text = print(module, fn);
  fn.source = source;
  fn.key = std::move(key);
  fn.name = std::move(name);
  return text;
}

} // namespace

void mergeKernels(Module& module) {
  std::unordered_map<std::string, FunctionId> first;
  std::unordered_map<FunctionId, FunctionId> merged;
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    if (!isSilent(fn)) continue;
    const auto [found, fresh] = first.try_emplace(namelessText(module, fn), FunctionId(f));
    if (!fresh) merged[FunctionId(f)] = found->second;
  }
  if (merged.empty()) return;
  for (Function& fn : module.functions)
    for (Stmt& s : fn.stmts)
      if (s.kind == StmtKind::Launch)
        if (auto found = merged.find(s.as<FunctionId>()); found != merged.end()) s.attr = found->second;
  dropUncalled(module);
}

void dropUncalled(Module& module) {
  std::vector<FunctionId> open;
  std::unordered_set<FunctionId> called;
  auto reach = [&](FunctionId f) {
    if (f.valid() && called.insert(f).second) open.push_back(f);
  };
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    if (module.functions[FunctionId(f)].exported) reach(FunctionId(f));
  if (open.empty()) return;
  while (!open.empty()) {
    FunctionId f = open.back();
    open.pop_back();
    for (const Stmt& s : module.functions[f].stmts)
      if (isReference(s)) reach(s.as<FunctionId>());
  }
  Store<FunctionId, Function> kept;
  std::unordered_map<FunctionId, FunctionId> number;
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    if (called.count(FunctionId(f)))
      number[FunctionId(f)] = kept.add(std::move(module.functions[FunctionId(f)]));
  for (Function& fn : kept)
    for (Stmt& s : fn.stmts)
      if (isReference(s)) s.attr = number.at(s.as<FunctionId>());
  module.functions = std::move(kept);
  if (module.entry.valid()) module.entry = number.at(module.entry);
}

} // namespace melix::loops
