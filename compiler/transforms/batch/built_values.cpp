#include "transforms/batch/built_values.h"

namespace melix::transforms {

using namespace core;

std::vector<ValueId> storedParts(const Function& f, ValueId v, KindOfPart kindOf) {
  std::vector<ValueId> out;
  auto add = [&](auto& self, ValueId part) -> void {
    const PartKind kind = kindOf(part);
    if (kind == PartKind::Stored) out.push_back(part);
    if (kind != PartKind::Built) return;
    for (ValueId each : f.ops[f.values[part].def].operands) self(self, each);
  };
  add(add, v);
  return out;
}

ValueId rebuild(Builder& in, ValueId v, KindOfPart kindOf, FunctionRef<ValueId()> read) {
  const PartKind kind = kindOf(v);
  if (kind == PartKind::Outside) return v;
  if (kind == PartKind::Stored) return read();
  Op made = in.fn().ops[in.fn().values[v].def];
  for (ValueId& part : made.operands) part = rebuild(in, part, kindOf, read);
  return in.one(std::move(made), in.typeOf(v));
}

} // namespace melix::transforms
