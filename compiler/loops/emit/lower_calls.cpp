// Calls: of a function that writes some results where they go there is another one for these results, which
// takes the addresses as its last parameters.
#include "loops/emit/lower_calls.h"

#include "loops/emit/check_devices.h"
#include "loops/emit/leaf_calls.h"
#include "loops/emit/lower.h"

namespace melix::loops {

namespace {

/// The leaves of an argument. A part of an array that is read where it lies is the address of its elements.
void addArgument(Lower& l, core::ValueId v, std::vector<ValueId>& operands, std::vector<ValueId>& kept) {
  if (const std::optional<View>& part = l.rep(v).view) {
    const Place& at = part->place;
    operands.push_back(l.b.addressOf(at.base, at.terms, at.scale, at.offset));
    kept.push_back(at.base);
  } else {
    for (ValueId leaf : l.leaves(v)) operands.push_back(leaf);
  }
}

} // namespace

void writeTo(Lower& l, core::ValueId v, core::RegionId region, const Destination& at) {
  const core::ValueId written = l.context.placements.writtenFor(l.in, l.facts->uses, v, region);
  if (written.valid()) l.given.add(written, at);
}

void lowerCall(Lower& l, const core::Op& op) {
  std::vector<ValueId> operands, kept;
  for (types::DimId d : op.dims) operands.push_back(l.dim(d));
  for (core::ValueId v : op.operands) addArgument(l, v, operands, kept);
  const core::FunctionId callee = op.as<core::CallAttr>().callee;
  const Device device = calledOn(l.context.core.functions[callee].device, l.b.fn.device);
  if (isCheckedCall(l, op, device)) {
    emitCheckedCall(l, op, operands, device);
    for (ValueId base : kept) l.b.stmt(StmtKind::KeepAlive, {base});
    return;
  }
  std::vector<uint32_t> written;
  std::vector<core::ValueId> others;
  for (uint32_t k = 0; k < op.results.size(); ++k) {
    core::ValueId v = op.results[k];
    const Destination* at = l.given.find(v);
    if (!at) {
      others.push_back(v);
      continue;
    }
    written.push_back(k);
    operands.push_back(
        l.b.addressOf(at->base, at->terms, l.layouts.stored(l.types.element(l.typeOf(v))).size, 0));
    l.setRep(v, {{operands.back()}, {}, true});
    kept.push_back(at->base);
  }
  std::vector<ValueType> types = l.leafTypes(others);
  types.insert(types.end(), op.resultDims.size(), indexType);
  const LeafCall call{callee, std::move(operands), std::move(types), std::move(written)};
  const std::vector<ValueId>& values = l.b.results(emitCall(l.context, l.b, call, device));
  size_t at = 0;
  l.bind(others, values, at);
  for (types::DimSym d : op.resultDims) l.defineDim(d, values[at++]);
  for (ValueId base : kept) l.b.stmt(StmtKind::KeepAlive, {base});
}

} // namespace melix::loops
