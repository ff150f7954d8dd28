#include "transforms/batch/built_values.h"

#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

// A part may stand in a value twice, and so may a part of it: each is stored and built once.

std::vector<ValueId> storedParts(const Function& f, ValueId v, KindOfPart kindOf) {
  std::vector<ValueId> out;
  std::unordered_set<ValueId> seen;
  auto add = [&](auto& self, ValueId part) -> void {
    const PartKind kind = kindOf(part);
    if (kind == PartKind::Outside || !seen.insert(part).second) return;
    if (kind == PartKind::Stored) out.push_back(part);
    if (kind != PartKind::Built) return;
    for (ValueId each : f.ops[f.values[part].def].operands) self(self, each);
  };
  add(add, v);
  return out;
}

ValueId rebuild(Builder& in, ValueId v, KindOfPart kindOf, FunctionRef<ValueId()> read) {
  std::unordered_map<ValueId, ValueId> done;
  auto build = [&](auto& self, ValueId whole) -> ValueId {
    const PartKind kind = kindOf(whole);
    if (kind == PartKind::Outside) return whole;
    if (const auto known = done.find(whole); known != done.end()) return known->second;
    if (kind == PartKind::Stored) return done[whole] = read();
    Op made = in.fn().ops[in.fn().values[whole].def];
    for (ValueId& part : made.operands) part = self(self, part);
    return done[whole] = in.one(std::move(made), in.typeOf(whole));
  };
  return build(build, v);
}

} // namespace melix::transforms
