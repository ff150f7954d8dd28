#include "lower/lower.h"

#include "lower/body.h"

namespace melix::lower {

core::FunctionId Lowering::functionOf(check::InstanceId id) {
  if (auto found = functions_.find(id); found != functions_.end()) return found->second;
  const Instance& instance = program_.instance(id);
  core::Function fn;
  fn.name = instance.name;
  fn.key = instance.name + "#" + instance.key;
  fn.device = instance.device;
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

void Lowering::finish() {
  while (!waiting_.empty()) {
    check::InstanceId id = waiting_.back();
    waiting_.pop_back();
    BodyLowering(module_, *this, program_.instance(id), functions_[id]).run();
  }
}

} // namespace melix::lower
