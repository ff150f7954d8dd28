#include "core/ir/analyses.h"

#include <atomic>

namespace melix::core {

uint64_t Version::next() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Module::Module(types::TypeStore& store) : types(store), analyses(std::make_shared<Analyses>()) {}

void raiseAll(Module& m) {
  for (Function& f : m.functions) f.version.raise();
}

/// The results for the function as it is.
std::vector<Analyses::Slot>& Analyses::slotsOf(const Module& m, FunctionId f) {
  if (f.index >= functions_.size()) functions_.resize(m.functions.size());
  OfFunction& of = functions_[f.index];
  const Version::State& now = m.functions[f].version.state();
  if (of.version != now) of = {now, {}};
  return of.slots;
}

std::shared_ptr<void> Analyses::find(const Module& m, FunctionId f, const char* name) {
  for (const Slot& slot : slotsOf(m, f)) {
    if (slot.name != name) continue;
    const Slot found = slot; // an analysis that is made may ask for others
    if (areChecked()) checkOne(m, f, found);
    return found.kept;
  }
  return nullptr;
}

void Analyses::checkOne(const Module& m, FunctionId f, const Slot& slot) {
  if (slot.isSame && !slot.isSame(m, f, slot.kept.get())) refute(m, f, slot.name);
}

void Analyses::refute(const Module& m, FunctionId f, const char* name) {
  if (!problem_.empty()) return;
  problem_ = "the function `" + m.functions[f].name + "` changed, and its version did not: `" + name +
             "` is not what is kept";
}

void Analyses::checkAll(const Module& m) {
  for (uint32_t k = 0; k < functions_.size(); ++k) {
    const std::vector<Slot> slots = slotsOf(m, FunctionId(k));
    for (const Slot& slot : slots) checkOne(m, FunctionId(k), slot);
  }
}

} // namespace melix::core
