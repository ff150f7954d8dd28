#include "loops/emit/leaf_calls.h"

namespace melix::loops {
namespace {

/// The function that writes these results to memory it is given.
FunctionId writingFunction(LowerContext& context, core::FunctionId callee, Device device,
                           const std::vector<uint32_t>& written) {
  Function made = context.declared(callee, device);
  made.key += ".dest";
  for (uint32_t k : written) made.key += "." + std::to_string(k);
  auto [found, isNew] = context.made.byKey.emplace(made.key, FunctionId());
  if (!isNew) return found->second;
  found->second = context.made.module->functions.add(std::move(made));
  context.writing.push_back({found->second, written});
  return found->second;
}

} // namespace

StmtId callOn(LowerContext& context, Builder& b, const LeafCall& call, Device device) {
  const FunctionId function = call.written.empty()
                                  ? context.functions.at({call.callee, device})
                                  : writingFunction(context, call.callee, device, call.written);
  return b.stmt(StmtKind::Call, call.operands, call.results, function);
}

namespace {

RegionId regionOf(LowerContext& context, Builder& b, const LeafCall& call, Device device) {
  b.begin();
  return b.end(b.results(callOn(context, b, call, device)));
}

} // namespace

StmtId emitCall(LowerContext& context, Builder& b, const LeafCall& call, Device device) {
  if (b.fn.device != Device::Host || device == Device::Host) return callOn(context, b, call, device);
  if (!context.devices.host) return callOn(context, b, call, device);
  const RuntimeCall isReady{RuntimeKind::DeviceReady, context.layouts.types.scalar(TypeKind::I64)};
  const ValueId ready = b.value(StmtKind::Runtime, {b.integer(static_cast<int64_t>(device))},
                                scalarType(TypeKind::Bool), isReady);
  if (!context.devices.any()) return callOn(context, b, call, Device::Host);
  const RegionId there = regionOf(context, b, call, device), here = regionOf(context, b, call, Device::Host);
  return b.stmt(StmtKind::If, {ready}, call.results, {}, {there, here});
}

FunctionId startOn(LowerContext& context, core::FunctionId f, Device device) {
  Store<FunctionId, Function>& functions = context.made.module->functions;
  const Device lowered = context.devices.host ? Device::Host : device;
  const Function& whole = functions[context.functions.at({f, lowered})];
  Function made = context.declared(f, Device::Host);
  made.key += ".start";
  made.loc = {};
  made.modes = whole.modes;
  made.results = whole.results;
  Builder b(made);
  std::vector<ValueType> params;
  for (ValueId p : whole.params()) params.push_back(whole.typeOf(p));
  const RegionId body = b.begin(params);
  const StmtId call = emitCall(context, b, {f, b.params(body), whole.results}, device);
  made.body = b.end(b.results(call));
  return functions.add(std::move(made));
}

} // namespace melix::loops
