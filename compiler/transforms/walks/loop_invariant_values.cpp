#include "transforms/walks/loop_invariant_values.h"

#include "core/ir/walk.h"
#include "transforms/analysis/cost_model.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

bool readsElements(const Op& op) {
  return op.kind == OpKind::Get && !std::ranges::all_of(op.as<Path>(), [](const PathStep& s) {
           return s.kind == StepKind::Field || s.kind == StepKind::All;
         });
}

} // namespace

bool isCopied(const Op& op) {
  const bool fits = op.kind == OpKind::Const || op.kind == OpKind::DimValue || op.kind == OpKind::Get ||
                    op.kind == OpKind::CastDims || flopsOf(op.kind) > 0;
  return fits && op.regions.empty() && op.results.size() == 1 && op.resultDims.empty() &&
         ops::opEffect(op.kind) == ops::EffectKind::None;
}

LoopValues::LoopValues(Module& m, FunctionId f, const Uses& uses, OpId loop)
    : m_(m), f_(f), uses_(uses), body_(m.functions[f].ops[loop].regions[0]), front_(m, f, f) {}

bool LoopValues::isInside(ValueId v) const {
  RegionId r = uses_.homeOf(v);
  while (r.valid() && r != body_) {
    const OpId parent = fn().regions[r].parent;
    if (!parent.valid()) return false;
    r = uses_.regionOf(parent);
  }
  return true;
}

bool LoopValues::isKnownOutside(DimId d) {
  if (!hasSizes_) {
    forEachOp(fn(), body_, [&](OpId id) {
      const Op& op = fn().ops[id];
      sizes_.insert(op.resultDims.begin(), op.resultDims.end());
      for (RegionId r : op.regions)
        sizes_.insert(fn().regions[r].dimParams.begin(), fn().regions[r].dimParams.end());
    });
    hasSizes_ = true;
  }
  std::vector<DimSym> symbols;
  m_.types.dims.collectSymbols(d, symbols);
  return std::ranges::none_of(symbols, [&](DimSym s) { return sizes_.contains(s); });
}

bool LoopValues::isTheSame(ValueId v) {
  if (!isInside(v)) return true;
  if (const auto known = same_.find(v); known != same_.end()) return known->second;
  const OpId id = fn().values[v].def;
  if (!id.valid()) return false;
  const Op& op = fn().ops[id];
  const bool is = isCopied(op) && !readsElements(op) &&
                  std::ranges::all_of(op.dims, [&](DimId d) { return isKnownOutside(d); }) &&
                  std::ranges::all_of(op.operands, [&](ValueId x) { return isTheSame(x); });
  return same_[v] = is;
}

ValueId LoopValues::copyBefore(ValueId v, Builder& b) {
  if (!isInside(v)) return v;
  if (const auto known = front_.values.find(v); known != front_.values.end()) return known->second;
  const OpId id = fn().values[v].def;
  const Operands operands = fn().ops[id].operands;
  for (ValueId x : operands) copyBefore(x, b);
  front_.op(id, b);
  return front_.value(v);
}

} // namespace melix::transforms
