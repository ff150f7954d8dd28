#include "lower/lower.h"

#include "lower/body.h"

#include <algorithm>

namespace melix::lower {

core::FunctionId Lowering::functionOf(check::InstanceId id) {
  if (auto found = functions_.find(id); found != functions_.end()) return found->second;
  const Instance& instance = program_.instance(id);
  core::Function fn;
  fn.name = instance.name;
  fn.key = instance.name + "#" + instance.key;
  fn.isCold = instance.isCold;
  fn.dimParams = instance.dimParams;
  fn.resultDims = instance.resultDims;
  fn.results = {instance.result};
  core::Region body;
  fn.body = fn.regions.add(body);
  for (uint32_t k = 0; k < instance.params.size(); ++k) {
    const check::Local& local = instance.locals[instance.params[k]];
    core::Value v;
    v.type = local.type;
    v.region = fn.body;
    v.index = k;
    v.hint = local.name;
    fn.regions[fn.body].params.push_back(fn.values.add(v));
    if (local.isInout) {
      fn.inouts.push_back({k, static_cast<uint32_t>(fn.results.size())});
      fn.results.push_back(local.type);
    }
  }
  core::FunctionId made = module_.functions.add(std::move(fn));
  functions_.emplace(id, made);
  waiting_.push_back(id);
  return made;
}

bool Lowering::isHeavy(const check::Node& node) {
  switch (node.kind) {
  case NodeKind::Call: return isHeavy(node.as<check::CallTarget>().instance);
  case NodeKind::Nest:
  case NodeKind::Elementwise:
  case NodeKind::Scatter:
  case NodeKind::ArgSort:
  case NodeKind::ToArray:
  case NodeKind::ToList:
  case NodeKind::Derivative:
  case NodeKind::Apply:
  case NodeKind::Builtin:
  case NodeKind::Format:
  case NodeKind::For:
  case NodeKind::While:
  case NodeKind::Loop:
  case NodeKind::Debug: return true;
  default: return false;
  }
}

/// A function that calls itself is heavy.
bool Lowering::isHeavy(check::InstanceId id) {
  auto [found, fresh] = heavy_.emplace(id, true);
  if (!fresh) return found->second;
  const auto& nodes = program_.instance(id).nodes;
  bool heavy = std::any_of(nodes.begin(), nodes.end(), [&](const check::Node& n) { return isHeavy(n); });
  return heavy_[id] = heavy;
}

bool Lowering::isNew(const check::Node& node) {
  if (node.kind == NodeKind::BlackBox) return true;
  if (node.kind == NodeKind::Call) return isNew(node.as<check::CallTarget>().instance);
  return node.kind == NodeKind::Builtin && node.as<check::BuiltinRef>().builtin == ops::BuiltinKind::AstFresh;
}

bool Lowering::isNew(check::InstanceId id) {
  auto [found, fresh] = new_.emplace(id, false);
  if (!fresh) return found->second;
  const auto& nodes = program_.instance(id).nodes;
  return new_[id] = std::any_of(nodes.begin(), nodes.end(), [&](const check::Node& n) { return isNew(n); });
}

void Lowering::finish() {
  while (!waiting_.empty()) {
    check::InstanceId id = waiting_.back();
    waiting_.pop_back();
    BodyLowering(module_, *this, program_.instance(id), functions_[id]).run();
  }
}

} // namespace melix::lower
