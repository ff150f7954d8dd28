#include "transforms/walks/dce.h"

#include "transforms/walks/needed_values.h"

namespace melix::transforms {

using namespace core;

bool eliminateDeadValues(Module& m, FunctionId id, const Effects& effects) {
  if (!m.functions[id].body.valid()) return false;
  NeededValues needed(m, id, effects);
  needed.needEffects();
  needed.needResults();
  needed.run();
  return removeUnneeded(m.functions[id], needed);
}

void eliminateDeadValues(Module& m) {
  Effects effects(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i) eliminateDeadValues(m, FunctionId(i), effects);
}

} // namespace melix::transforms
