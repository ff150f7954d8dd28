#include "transforms/batch/checked_function.h"

#include "core/ir/filler.h"
#include "core/ir/flow.h"
#include "core/ir/nest_results.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/batch/accumulators.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// The accumulator that one continues, as it is before these ops.
ValueId accumulatorBefore(const Module& m, const Function& f, const std::unordered_set<OpId>& ops,
                          ValueId v) {
  while (f.values[v].def.valid() && ops.contains(f.values[v].def)) v = continuedAs(m, f, v);
  return v;
}

} // namespace

void CheckedFunction::convert() {
  rotate(fn().body);
  findFailing(fn().body);
  const std::vector<DimSym> sizes = fn().resultDims;
  const ValueId holds = region(fn().body, {fn().results, sizes, {}});
  fn().ops[terminatorId(fn(), fn().body)].operands.push_back(holds);
  fn().results.push_back(m_.types.boolean());
}

bool CheckedFunction::findFailing(RegionId r) {
  bool any = false;
  for (OpId id : fn().regions[r].ops) {
    const Op& op = fn().ops[id];
    bool fails = op.kind == OpKind::Check || op.kind == OpKind::Panic ||
                 (op.kind == OpKind::Call && callee_(op.as<CallAttr>().callee).valid());
    for (RegionId inner : op.regions) fails = findFailing(inner) || fails;
    if (fails) failing_.insert(id);
    any = any || fails;
  }
  return any;
}

/// The condition of a `while` becomes a carried value, where it may fail: the ops that compute it stand
/// before the loop and at the end of its body.
void CheckedFunction::rotate(RegionId r) {
  const std::vector<OpId> ops = std::exchange(fn().regions[r].ops, {});
  for (OpId id : ops) {
    for (RegionId inner : Regions(fn().ops[id].regions)) rotate(inner);
    if (fn().ops[id].kind == OpKind::While && findFailing(fn().ops[id].regions[0])) rotateWhile(r, id);
    fn().regions[r].ops.push_back(id);
  }
}

void CheckedFunction::rotateWhile(RegionId r, OpId id) {
  const RegionId condition = fn().ops[id].regions[0], body = fn().ops[id].regions[1];
  const std::vector<ValueId> params = fn().regions[condition].params;
  const std::vector<DimSym> sizes = fn().regions[condition].dimParams;
  auto test = [&](Builder& b, std::span<const ValueId> carried, std::span<const DimId> dims) {
    Cloner copy(m_, f_, f_);
    for (size_t k = 0; k < params.size(); ++k) copy.values[params[k]] = carried[k];
    for (size_t k = 0; k < sizes.size(); ++k) copy.setDim(sizes[k], dims[k]);
    return copy.body(condition, b).values[0];
  };
  Builder before = builder(r, id);
  const Operands begun = fn().ops[id].operands;
  const Dims dims = fn().ops[id].dims;
  const ValueId first = test(before, begun, dims);
  const OpId end = terminatorId(fn(), body);
  fn().regions[body].ops.pop_back();
  Builder in = builder(body, id);
  const Operands carried = fn().ops[end].operands;
  const Dims carriedDims = fn().ops[end].dims;
  const ValueId next = test(in, carried, carriedDims);
  fn().regions[body].ops.push_back(end);
  fn().ops[end].operands.push_back(next);
  in.param(m_.types.boolean());
  Builder tested = builder(condition, id);
  fn().regions[condition].ops.clear();
  tested.yield({tested.param(m_.types.boolean())});
  fn().ops[id].operands.push_back(first);
  addResult(id, fn().ops[id].results.size());
}

/// Whether an op may run although a check before it does not hold: it computes numbers, and reads no array.
bool CheckedFunction::isSafe(OpId id) const {
  const Op& op = fn().ops[id];
  if (op.kind == OpKind::Check) return true;
  const bool isRead = (op.kind == OpKind::Get && pathOperands(op.as<Path>()) > 0) ||
                      op.kind == OpKind::Builtin || op.kind == OpKind::Pop;
  return !isRead && op.regions.empty() && op.kind != OpKind::Call && op.resultDims.empty() &&
         !op.results.empty() &&
         std::ranges::all_of(op.results, [&](ValueId v) { return m_.types.isScalar(fn().typeOf(v)); });
}

/// Converts a region: gives whether its checks hold, a value of the region, which its terminator does not
/// give yet. `begins`: whether it runs at all.
ValueId CheckedFunction::region(RegionId r, const Outside& outside, ValueId begins) {
  const std::vector<OpId> ops = std::exchange(fn().regions[r].ops, {});
  ValueId holds = begins;
  for (size_t k = 0; k + 1 < ops.size(); ++k) {
    if (holds.valid() && !isSafe(ops[k])) return split(r, Ops(ops).subspan(k), holds, outside);
    if (!fails(ops[k])) {
      fn().regions[r].ops.push_back(ops[k]);
      continue;
    }
    const ValueId own = op(r, ops[k]);
    Builder b = builder(r, ops[k]);
    holds = holds.valid() ? b.binary(OpKind::And, holds, own) : own;
  }
  Builder b = builder(r, ops.back());
  if (!holds.valid()) holds = b.boolean(true);
  fn().regions[r].ops.push_back(ops.back());
  return holds;
}

/// The rest of a region, with its terminator, runs if the checks before it hold.
ValueId CheckedFunction::split(RegionId r, Ops rest, ValueId holds, const Outside& outside) {
  Builder b = builder(r, rest[0]);
  Op branch = Builder::simple(OpKind::If, {holds});
  Builder none = b.in(b.newRegion());
  giveNothing(none, rest, outside);
  const RegionId some = b.newRegion();
  fn().regions[some].ops.assign(rest.begin(), rest.end());
  const ValueId own = region(some, {outside.types, outside.sizes, {}});
  fn().ops[terminatorId(fn(), some)].operands.push_back(own);
  branch.regions = {some, none.region};
  Cloner sizes(m_, f_, f_);
  for (DimSym s : outside.sizes) branch.resultDims.push_back(sizes.defineDim(s));
  std::vector<TypeId> types;
  for (TypeId type : outside.types) types.push_back(sizes.type(type));
  types.push_back(m_.types.boolean());
  Dims dims;
  for (DimSym s : branch.resultDims) dims.push_back(m_.types.dims.symbol(s));
  const Results results = fn().ops[b.append(std::move(branch), types)].results;
  const ValueId all = results.back();
  b.yield(Operands(results.begin(), results.end() - 1), dims);
  return all;
}

/// Ends a region in which nothing runs: accumulators stay, all else is any value.
void CheckedFunction::giveNothing(Builder& b, Ops rest, const Outside& outside) const {
  std::unordered_set<OpId> ops(rest.begin(), rest.end());
  for (OpId id : rest)
    for (RegionId inner : fn().ops[id].regions) forEachOp(fn(), inner, [&](OpId each) { ops.insert(each); });
  Cloner sizes(m_, f_, f_);
  const bool isSkipped = !outside.skipped.empty();
  Dims dims;
  for (DimSym s : outside.sizes) {
    dims.push_back(isSkipped ? m_.types.dims.symbol(s) : m_.types.dims.constant(0));
    sizes.setDim(s, dims.back());
  }
  const Operands given = fn().ops[rest.back()].operands;
  Operands values;
  for (size_t k = 0; k < outside.types.size(); ++k) {
    const TypeId type = sizes.type(outside.types[k]);
    if (k < outside.skipped.size())
      values.push_back(outside.skipped[k]);
    else if (isAccumulator(m_, fn(), given[k]))
      values.push_back(accumulatorBefore(m_, fn(), ops, given[k]));
    else
      values.push_back(m_.types.isScalar(type) ? b.constant(type, 0) : filler(b, type));
  }
  values.push_back(b.boolean(false));
  b.yield(values, dims);
}

/// Appends an op that may fail, and gives whether it does not.
ValueId CheckedFunction::op(RegionId r, OpId id) {
  switch (fn().ops[id].kind) {
  case OpKind::Check: return check(r, id);
  case OpKind::Panic: return builder(r, id).boolean(false);
  case OpKind::Call: return call(r, id);
  case OpKind::For:
  case OpKind::While: return loop(r, id);
  case OpKind::Nest: return nest(r, id);
  default: return choice(r, id);
  }
}

/// The op has a further result, which is true where its checks hold.
ValueId CheckedFunction::addResult(OpId id, size_t at) const {
  const ValueId made = fn().values.add(Value{m_.types.boolean(), id, {}, 0, {}});
  Results& results = fn().ops[id].results;
  results.insert(results.begin() + static_cast<ptrdiff_t>(at), made);
  for (uint32_t k = 0; k < results.size(); ++k) fn().values[results[k]].index = k;
  return made;
}

ValueId CheckedFunction::check(RegionId r, OpId id) {
  Op& op = fn().ops[id];
  op.kind = OpKind::Holds;
  if (op.as<CheckAttr>().kind == CheckKind::Assert) op.operands.resize(1); // not the text
  fn().regions[r].ops.push_back(id);
  return addResult(id, 0);
}

ValueId CheckedFunction::call(RegionId r, OpId id) {
  CallAttr& call = fn().ops[id].as<CallAttr>();
  call.callee = callee_(call.callee);
  fn().regions[r].ops.push_back(id);
  return addResult(id, fn().ops[id].results.size());
}

ValueId CheckedFunction::choice(RegionId r, OpId id) {
  const DimSyms sizes = fn().ops[id].resultDims;
  Outside outside{{}, sizes, {}};
  for (ValueId v : fn().ops[id].results) outside.types.push_back(fn().typeOf(v));
  for (RegionId inner : Regions(fn().ops[id].regions)) {
    const ValueId holds = region(inner, outside);
    fn().ops[terminatorId(fn(), inner)].operands.push_back(holds);
  }
  fn().regions[r].ops.push_back(id);
  return addResult(id, fn().ops[id].results.size());
}

/// Iterations after a check that does not hold give the carried values as they are.
ValueId CheckedFunction::loop(RegionId r, OpId id) {
  const bool isCounted = fn().ops[id].kind == OpKind::For;
  const RegionId body = fn().ops[id].regions.back();
  const std::vector<DimSym> sizes = fn().regions[body].dimParams;
  Outside outside{{}, sizes, {}};
  const size_t carries = LoopView(fn(), fn().ops[id]).carries();
  std::vector<ValueId> carried;
  {
    const LoopView view(fn(), fn().ops[id]);
    carried.assign(view.carryParams().begin(), view.carryParams().end());
    for (ValueId v : carried) outside.types.push_back(fn().typeOf(v));
    for (ValueId v : view.stackYields()) outside.types.push_back(fn().typeOf(v));
  }
  Builder before = builder(r, id), in = builder(body, id);
  fn().ops[id].operands.push_back(before.boolean(true));
  const ValueId begins = in.param(m_.types.boolean());
  if (isCounted) outside.skipped = carried;
  const ValueId holds = region(body, outside, isCounted ? begins : ValueId());
  Operands& yields = fn().ops[terminatorId(fn(), body)].operands;
  yields.insert(yields.begin() + static_cast<ptrdiff_t>(carries), holds);
  if (!isCounted) guardCondition(id);
  fn().regions[r].ops.push_back(id);
  return addResult(id, carries);
}

/// A `while` ends where a check does not hold.
void CheckedFunction::guardCondition(OpId id) {
  const RegionId condition = fn().ops[id].regions[0];
  Builder b = builder(condition, id);
  const ValueId holds = b.param(m_.types.boolean());
  Op branch = Builder::simple(OpKind::If, {holds});
  branch.regions = {b.newRegion(), b.newRegion()};
  fn().regions[branch.regions[0]].ops = std::exchange(fn().regions[condition].ops, {});
  Builder none = b.in(branch.regions[1]);
  none.yield({none.boolean(false)});
  b.yield({b.one(std::move(branch), m_.types.boolean())});
}

ValueId CheckedFunction::nest(RegionId r, OpId id) {
  const RegionId body = fn().ops[id].regions[0];
  Outside outside;
  for (ValueId v : terminator(fn(), body).operands) outside.types.push_back(fn().typeOf(v));
  const ValueId holds = region(body, outside),
                all = fn().values.add(Value{m_.types.boolean(), id, {}, 0, {}});
  core::addResult(fn(), id, reducing(MonoidKind::And), holds, std::span(&all, 1));
  fn().regions[r].ops.push_back(id);
  return all;
}

} // namespace melix::transforms
