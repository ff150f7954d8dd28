#include "core/order/outline.h"

#include "core/ir/walk.h"
#include "core/order/clone.h"

#include <algorithm>
#include <unordered_set>

namespace melix::core {

namespace {

/// Values and sizes that a region mentions and does not define, in the order it mentions them.
class Outside {
public:
  Outside(const Module& m, const Function& f, RegionId region) : m_(m), f_(f) {
    forEachOp(f, region, [&](OpId id) {
      for (ValueId v : f.ops[id].results) ownValues_.insert(v);
      for (DimSym s : f.ops[id].resultDims) ownSizes_.insert(s);
      for (RegionId inner : f.ops[id].regions) {
        ownValues_.insert(f.regions[inner].params.begin(), f.regions[inner].params.end());
        ownSizes_.insert(f.regions[inner].dimParams.begin(), f.regions[inner].dimParams.end());
      }
    });
    forEachOp(f, region, [&](OpId id) { lookAt(f.ops[id]); });
  }

  /// Of types outside of the region.
  void type(TypeId t) {
    std::vector<DimSym> mentioned;
    m_.types.collectSymbols(t, mentioned);
    for (DimSym s : mentioned) size(s);
  }
  void define(DimSym s) { ownSizes_.insert(s); }

  std::vector<ValueId> values;
  std::vector<DimSym> sizes;

private:
  void lookAt(const Op& op) {
    for (ValueId v : op.operands)
      if (ownValues_.insert(v).second) {
        values.push_back(v);
        type(f_.typeOf(v));
      }
    for (ValueId v : op.results) type(f_.typeOf(v));
    for (RegionId inner : op.regions)
      for (ValueId v : f_.regions[inner].params) type(f_.typeOf(v));
    for (DimId d : op.dims) dim(d);
    if (auto* path = std::get_if<Path>(&op.attr))
      for (const PathStep& step : *path)
        if (step.length.valid()) dim(step.length);
    if (auto* check = std::get_if<CheckAttr>(&op.attr); check && check->type.valid()) type(check->type);
  }
  void dim(DimId d) {
    std::vector<DimSym> mentioned;
    m_.types.dims.collectSymbols(d, mentioned);
    for (DimSym s : mentioned) size(s);
  }
  void size(DimSym s) {
    if (m_.types.dims.info(s).kind != types::DimSymKind::Bound && ownSizes_.insert(s).second)
      sizes.push_back(s);
  }

  const Module& m_;
  const Function& f_;
  std::unordered_set<ValueId> ownValues_;
  std::unordered_set<DimSym> ownSizes_;
};

} // namespace

FunctionId outline(Module& m, FunctionId f, OpId op, std::string name) {
  const RegionId region = m.functions[f].ops[op].regions[0];
  Outside outside(m, m.functions[f], region);
  for (DimSym s : m.functions[f].ops[op].resultDims) outside.define(s);
  for (ValueId v : m.functions[f].ops[op].results) outside.type(m.functions[f].typeOf(v));

  Function made;
  made.name = std::move(name);
  made.key = m.functions[f].key + "#" + made.name + std::to_string(op.index);
  made.loc = m.functions[f].ops[op].loc;
  made.body = made.regions.add(Region{});
  Builder b(m, {}, made.body, made.loc);
  const FunctionId to = b.function = m.functions.add(std::move(made));

  const Function& from = m.functions[f];
  const Op& before = from.ops[op];
  Cloner cloner(m, f, to);
  for (DimSym s : outside.sizes) b.fn().dimParams.push_back(cloner.defineDim(s));
  for (ValueId v : outside.values)
    cloner.values[v] = b.param(cloner.type(from.typeOf(v)), from.values[v].hint);
  Cloner::Yielded end = cloner.body(region, b);
  b.yield({end.values.begin(), end.values.end()}, {end.dims.begin(), end.dims.end()});
  for (DimSym s : before.resultDims) b.fn().resultDims.push_back(cloner.defineDim(s));
  for (ValueId v : before.results) b.fn().results.push_back(cloner.type(from.typeOf(v)));

  Op& call = m.functions[f].ops[op];
  call.kind = OpKind::Call;
  call.attr = CallAttr{to};
  call.operands = {outside.values.begin(), outside.values.end()};
  for (DimSym s : outside.sizes) call.dims.push_back(m.types.dims.symbol(s));
  call.regions.clear();
  return to;
}

} // namespace melix::core
