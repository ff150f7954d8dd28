// How the record of a call is kept in that of its caller: as a part of it, or in a box, an enum of one case.

#include "transforms/derivatives/derivative_context.h"

namespace melix::transforms {
namespace {

/// Records that a record has as parts before its callers keep it in a box. A box costs an allocation, and in
/// second order zeros of all that it holds: 4 is where neither shows (docs/decisions/large_records.md).
constexpr uint32_t partLimit = 4;

} // namespace

/// Functions from which no function that calls itself on every path can be reached are remembered, so that
/// one look goes through a chain of calls for all that stand in it.
bool Ad::recursAlways(FunctionId f) {
  struct Step {
    FunctionId function;
    std::vector<FunctionId> callees;
  };
  std::vector<Step> path;
  std::unordered_map<FunctionId, bool> open; ///< of those that were reached: whether they are on the path
  auto enter = [&](FunctionId at) {
    open[at] = true;
    path.push_back({at, {}});
    const Function& fn = module.functions[at];
    for (OpId id : fn.regions[fn.body].ops)
      if (fn.ops[id].kind == OpKind::Call) path.back().callees.push_back(fn.ops[id].as<CallAttr>().callee);
  };
  bool circle = false, found = false;
  if (!facts_.straight.contains(f)) enter(f);
  while (!path.empty()) {
    if (path.back().callees.empty()) {
      open[path.back().function] = false;
      path.pop_back();
      continue;
    }
    const FunctionId callee = path.back().callees.back();
    path.back().callees.pop_back();
    if (facts_.straight.contains(callee)) continue;
    auto known = open.find(callee);
    found |= callee == f;
    circle |= known != open.end() && known->second;
    if (known == open.end()) enter(callee);
  }
  if (!circle)
    for (auto [reached, onPath] : open) facts_.straight.insert(reached);
  return found;
}

bool Ad::isBoxed(const LinearValues& callee) {
  auto [it, isNew] = boxed_.try_emplace(&callee, false);
  if (isNew) it->second = recursAlways(callee.function) || recordsIn(callee) > partLimit;
  return it->second;
}

RecordId Ad::boxOf(Linearisation& lin) {
  if (lin.box.valid() || !isBoxed(*lin.values)) return lin.box;
  types::TypeStore& t = module.types;
  const types::Record& saved = t.recordInfo(lin.saved);
  types::Record box;
  box.name = t.names.intern("Boxed_" + std::string(t.names.text(saved.name)));
  box.declaration = 0x60000000u + lin.saved.index;
  box.isEnum = true;
  std::vector<DimId> dims;
  for (DimSym s : saved.dimParams) {
    box.dimParams.push_back(freshDim(s));
    dims.push_back(t.dims.symbol(box.dimParams.back()));
  }
  box.cases.push_back({t.names.intern("saved"), {{NameId(), t.record(lin.saved, dims)}}});
  return lin.box = t.addRecord(std::move(box));
}

/// Calls in branches, loops and nests count nothing: their records lie in an enum, an array or a list.
uint32_t Ad::recordsIn(const LinearValues& of) {
  const core::Function& f = module.functions[of.function];
  uint32_t records = 0;
  for (OpId id : f.regions[f.body].ops) {
    const Op& op = f.ops[id];
    if (op.kind != OpKind::Call) continue;
    std::vector<bool> params;
    for (ValueId v : op.operands) params.push_back(of.values.count(v) != 0);
    if (std::find(params.begin(), params.end(), true) == params.end()) continue;
    const LinearValues& callee = linearValues(op.as<CallAttr>().callee, params);
    records += isBoxed(callee) ? 1 : 1 + recordsIn(callee);
    if (records > partLimit) break;
  }
  return records;
}

} // namespace melix::transforms
