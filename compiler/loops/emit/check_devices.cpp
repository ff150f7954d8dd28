#include "loops/emit/check_devices.h"

#include "loops/emit/lower_values.h"

#include <algorithm>

namespace melix::loops {

bool isCheckedCall(Lower& l, const core::Op& call, Device device) {
  LowerContext& context = l.context;
  if (!context.devices.checked || l.b.fn.device != Device::Host || device == Device::Host) return false;
  auto isAcc = [&](core::ValueId v) { return l.types.kind(l.typeOf(v)) == TypeKind::Acc; };
  if (!context.effects) context.effects.emplace(context.core);
  const core::EffectSet effects = context.effects->ofFunction(call.as<core::CallAttr>().callee);
  const bool talks = effects.io || effects.debug;
  if (!talks && std::ranges::none_of(call.operands, isAcc)) return true;
  context.made.module->unchecked.push_back(
      {call.loc, talks ? "input, output or `debug`" : "sums into arrays of other functions"});
  return false;
}

namespace {

/// Two values of a type, which are to be the same.
void compare(Lower& l, TypeId type, std::string name, const std::vector<ValueId>& here,
             const std::vector<ValueId>& there) {
  const ValueId text = l.b.value(StmtKind::Text, {}, dataType, std::move(name) + '\0');
  l.b.stmt(StmtKind::Runtime, {spill(l, type, here), spill(l, type, there), text}, {},
           RuntimeCall{RuntimeKind::DeviceCompare, type});
  for (const std::vector<ValueId>* side : {&here, &there})
    for (ValueId v : *side)
      if (l.b.fn.typeOf(v).counted()) l.b.stmt(StmtKind::KeepAlive, {v});
  l.b.stmt(StmtKind::KeepAlive, {text});
}

std::string nameOfResult(const Lower& l, core::ValueId v) {
  const NameId hint = l.in.values[v].hint;
  return hint.valid() ? "`" + std::string(l.types.names.text(hint)) + "`" : "the result";
}

} // namespace

void emitCheckedCall(Lower& l, const core::Op& call, const std::vector<ValueId>& operands, Device device) {
  std::vector<ValueType> types = l.leafTypes(call.results);
  const size_t leaves = types.size();
  types.insert(types.end(), call.resultDims.size(), indexType);
  const LeafCall made{call.as<core::CallAttr>().callee, operands, types};
  const std::vector<ValueId> here = l.b.results(callOn(l.context, l.b, made, Device::Host)),
                             there = l.b.results(callOn(l.context, l.b, made, device));
  // The call of a block has no place of its own in traces.
  const LocId place = std::exchange(l.b.loc, l.context.core.functions[made.callee].loc);
  const TypeId index = l.types.scalar(TypeKind::I64);
  for (size_t k = 0; k < call.resultDims.size(); ++k) {
    compare(l, index, "a size of the result", {here[leaves + k]}, {there[leaves + k]});
    l.defineDim(call.resultDims[k], there[leaves + k]);
  }
  size_t at = 0;
  for (core::ValueId v : call.results) {
    const size_t count = l.layouts.leafCount(l.typeOf(v)), begin = at;
    l.bind(std::vector{v}, there, at);
    const auto part = [&](const std::vector<ValueId>& all) {
      return std::vector<ValueId>(all.begin() + static_cast<ptrdiff_t>(begin),
                                  all.begin() + static_cast<ptrdiff_t>(begin + count));
    };
    compare(l, l.typeOf(v), nameOfResult(l, v), part(here), part(there));
  }
  l.b.loc = place;
}

} // namespace melix::loops
