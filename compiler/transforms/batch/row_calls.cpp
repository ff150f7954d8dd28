#include "transforms/batch/row_calls.h"

#include "core/analysis/effect_audit.h"
#include "core/analysis/sizes.h"
#include "core/ir/filler.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/batch/accumulators.h"
#include "transforms/batch/row_functions.h"
#include "transforms/walks/cse_table.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

void RowCalls::finish() {
  for (auto& [region, calls] : calls_)
    for (const RowCall& c : merged(region, std::move(calls))) guard(region, c);
  calls_.clear();
}

bool RowCalls::isSum(ValueId v) const { return isAccumulator(m_, fn(), v); }

// --- merging

/// Calls of a region that are one, and the ops between them that need their results.
struct RowCalls::Group {
  std::vector<RowCall> calls; ///< in their order
  std::unordered_set<OpId> after;
};

std::vector<RowCall> RowCalls::merged(RegionId region, std::vector<RowCall> calls) {
  std::vector<RowCall> out;
  while (!calls.empty()) {
    const Group group = groupOf(region, calls.front(), calls);
    std::erase_if(calls, [&](const RowCall& c) {
      return std::ranges::find(group.calls, c.op, &RowCall::op) != group.calls.end();
    });
    out.push_back(group.calls.size() == 1 ? group.calls[0] : merge(region, group));
  }
  return out;
}

/// The calls that may be made with the first: of the same function, with the same values for all rows. They
/// need no result of a call in the group, and nothing on their way has an effect that keeps its place.
RowCalls::Group RowCalls::groupOf(RegionId region, const RowCall& first,
                                  std::span<const RowCall> calls) const {
  Group group{{first}, {first.op}};
  std::unordered_set<DimSym> sizes;
  auto isAfter = [&](ValueId v) {
    return fn().values[v].def.valid() && group.after.contains(fn().values[v].def);
  };
  auto needs = [&](OpId id) {
    bool found = std::ranges::any_of(sizesWithin(m_, fn(), id), [&](DimSym s) { return sizes.contains(s); });
    auto look = [&](OpId each) { found = found || std::ranges::any_of(fn().ops[each].operands, isAfter); };
    look(id);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, look);
    return found;
  };
  auto mayJoin = [&](const RowCall& c) {
    const Op& call = fn().ops[c.call];
    return isSame(first, c) &&
           std::ranges::none_of(call.operands, [&](ValueId v) { return !isSum(v) && isAfter(v); }) &&
           std::ranges::none_of(sizesOf(m_, fn(), call), [&](DimSym s) { return sizes.contains(s); });
  };
  const std::vector<OpId>& ops = fn().regions[region].ops;
  for (auto at = std::ranges::find(ops, first.op) + 1; at != ops.end(); ++at) {
    const auto c = std::ranges::find(calls, *at, &RowCall::op);
    if (c != calls.end() && mayJoin(*c)) {
      group.calls.push_back(*c);
    } else {
      if (functions_.isOrdered(f_, *at)) break;
      if (!needs(*at)) continue;
    }
    group.after.insert(*at);
    sizes.insert(fn().ops[*at].resultDims.begin(), fn().ops[*at].resultDims.end());
  }
  return group;
}

bool RowCalls::isSame(const RowCall& a, const RowCall& b) const {
  const Op &x = fn().ops[a.call], &y = fn().ops[b.call];
  if (x.as<CallAttr>().callee != y.as<CallAttr>().callee || a.varies != b.varies ||
      !std::equal(x.dims.begin(), x.dims.end() - 1, y.dims.begin(), y.dims.end() - 1))
    return false;
  for (size_t k = 0; k < a.varies.size(); ++k)
    if (!a.varies[k] && !isSum(x.operands[k]) && !isSameValue(x.operands[k], y.operands[k])) return false;
  return a.op == a.call || addsToSame(a, b);
}

/// Whether between the calls nothing is done but adds to the accumulators that the first leaves, each the
/// same one in both.
bool RowCalls::addsToSame(const RowCall& a, const RowCall& b) const {
  const NestView x(fn(), fn().ops[a.op]), y(fn(), fn().ops[b.op]);
  auto isAdded = [&](ValueId v) {
    if (!fn().values[v].def.valid()) return false;
    const Op& op = fn().ops[fn().values[v].def];
    return isSum(v) || (op.kind == OpKind::Nest && fn().values[v].index >= NestView(fn(), op).partResults());
  };
  for (size_t k = 0; k < x.accs(); ++k) {
    ValueId v = y.accOperands()[k];
    while (v.valid() && v != x.accResults()[k]) v = isAdded(v) ? continuedAs(m_, fn(), v) : ValueId();
    if (!v.valid()) return false;
  }
  return true;
}

/// Whether two values are computed by the same ops.
bool RowCalls::isSameValue(ValueId a, ValueId b) const {
  Pairs seen;
  return isSameValue(a, b, seen);
}

/// One pair that differs ends the whole comparison: pairs that were seen are the same.
bool RowCalls::isSameValue(ValueId a, ValueId b, Pairs& seen) const {
  if (a == b || !seen.emplace(a, b).second) return true;
  const OpId of = fn().values[a].def, by = fn().values[b].def;
  if (!of.valid() || !by.valid() || fn().values[a].index != fn().values[b].index) return false;
  const Op &x = fn().ops[of], &y = fn().ops[by];
  return x.kind == y.kind && x.regions.empty() && y.regions.empty() && x.resultDims.empty() &&
         x.dims == y.dims && sameAttr(x.attr, y.attr) && !functions_.isOrdered(f_, of) &&
         std::equal(x.operands.begin(), x.operands.end(), y.operands.begin(), y.operands.end(),
                    [&](ValueId v, ValueId w) { return isSameValue(v, w, seen); });
}

/// The call of all rows of a group, at the place of the first.
RowCall RowCalls::merge(RegionId region, const Group& group) {
  const std::vector<OpId> ops = std::exchange(fn().regions[region].ops, {});
  auto callAt = [&](OpId id) {
    const auto at = std::ranges::find(group.calls, id, &RowCall::op);
    return at == group.calls.end() ? nullptr : &*at;
  };
  const auto last = std::ranges::find(ops, group.calls.back().op);
  std::copy_if(ops.begin(), last, std::back_inserter(fn().regions[region].ops),
               [&](OpId id) { return !group.after.contains(id); });
  DimId rows = rowsOf(group.calls[0]);
  for (size_t k = 1; k < group.calls.size(); ++k) rows = m_.types.dims.add(rows, rowsOf(group.calls[k]));
  Builder b(m_, f_, region, fn().ops[group.calls[0].call].loc);
  RowCall whole = callOf(b, group.calls[0], rows, concatenate(b, group.calls, rows));
  for (const RowCall& c : group.calls) noteCopy(f_, c.call, f_, whole.call);
  readParts(b, group.calls, whole);
  for (auto at = std::ranges::find(ops, group.calls[0].op) + 1; at != ops.end(); ++at) {
    if (const RowCall* c = callAt(*at))
      passSums(b, *c);
    else if (at > last || group.after.contains(*at))
      fn().regions[region].ops.push_back(*at);
  }
  return whole;
}

/// A call like the first, of so many rows.
RowCall RowCalls::callOf(Builder& b, const RowCall& first, DimId rows,
                         std::span<const ValueId> columns) const {
  Op made = fn().ops[first.call];
  const std::vector<TypeId> types = resultTypes(made, rows);
  made.dims.back() = rows;
  size_t column = 0;
  for (size_t k = 0; k < first.varies.size(); ++k)
    if (first.varies[k]) made.operands[k] = columns[column++];
  RowCall whole{{}, {}, first.varies, first.isRecursive};
  if (first.op == first.call) {
    whole.op = whole.call = b.append(std::move(made), types);
    return whole;
  }
  NestBuilder point(b);
  const Operands begun = fn().ops[first.op].operands;
  size_t sum = 0;
  for (ValueId& v : made.operands)
    if (isSum(v)) v = point.accumulator(begun[sum++]);
  const std::vector<InoutPair> pairs = m_.functions[made.as<CallAttr>().callee].inouts;
  whole.call = b.in(point.body()).append(std::move(made), types);
  const Op call = fn().ops[whole.call];
  for (ValueId v : call.results)
    if (!isSum(v)) point.collect(v);
  for (size_t k = 0; k < call.operands.size(); ++k)
    if (isSum(call.operands[k]))
      point.end(call.results[std::ranges::find(pairs, k, &InoutPair::param)->result]);
  whole.op = point.finish();
  return whole;
}

/// The arrays of rows that the calls take, one after another.
std::vector<ValueId> RowCalls::concatenate(Builder& b, std::span<const RowCall> calls, DimId rows) const {
  NestBuilder nest(b);
  ValueId row = nest.axis(rows);
  auto read = [&](auto& self, Builder& in, std::span<const RowCall> rest,
                  ValueId at) -> std::vector<ValueId> {
    const RowCall& c = rest.front();
    auto readRow = [&](Builder& to) {
      std::vector<ValueId> out;
      for (size_t k = 0; k < c.varies.size(); ++k)
        if (c.varies[k]) out.push_back(to.getAt(fn().ops[c.call].operands[k], std::span(&at, 1)));
      return out;
    };
    if (rest.size() == 1) return readRow(in);
    const ValueId own = in.dimValue(rowsOf(c));
    Op branch = Builder::simple(OpKind::If, {in.compare(ops::CmpKind::Lt, at, own)});
    Builder first = in.in(in.newRegion()), others = in.in(in.newRegion());
    const std::vector<ValueId> here = readRow(first);
    const std::vector<ValueId> there =
        self(self, others, rest.subspan(1), others.binary(OpKind::Sub, at, own));
    first.yield(Operands(here.begin(), here.end()));
    others.yield(Operands(there.begin(), there.end()));
    branch.regions = {first.region, others.region};
    std::vector<TypeId> types;
    for (ValueId v : here) types.push_back(in.typeOf(v));
    const Results results = fn().ops[in.append(std::move(branch), types)].results;
    return {results.begin(), results.end()};
  };
  Builder in = b.in(nest.body());
  for (ValueId v : read(read, in, calls, row)) nest.collect(v);
  const Results results = fn().ops[nest.finish()].results;
  return {results.begin(), results.end()};
}

/// The results of a call that are arrays of rows, where ops after it read them.
std::vector<ValueId> RowCalls::columnsOf(const RowCall& c) const {
  const Results& results = fn().ops[c.op].results;
  return {results.begin(), results.end() - static_cast<ptrdiff_t>(countSums(c))};
}
/// The others, which continue accumulators.
std::vector<ValueId> RowCalls::sumsOf(const RowCall& c) const {
  const Results& results = fn().ops[c.op].results;
  return {results.end() - static_cast<ptrdiff_t>(countSums(c)), results.end()};
}
size_t RowCalls::countSums(const RowCall& c) const { return c.op == c.call ? 0 : nestAccs(fn().ops[c.op]); }

/// Parts of the results of `whole` are the results of the calls, its accumulators those of the first.
void RowCalls::readParts(Builder& b, std::span<const RowCall> calls, const RowCall& whole) const {
  const std::vector<ValueId> all = columnsOf(whole);
  DimId from = m_.types.dims.constant(0);
  for (const RowCall& c : calls) {
    NestBuilder nest(b);
    const ValueId row = nest.axis(rowsOf(c));
    Builder in = b.in(nest.body());
    const ValueId at = in.binary(OpKind::Add, row, in.dimValue(from));
    for (ValueId v : all) nest.collect(in.getAt(v, std::span(&at, 1)));
    takeOver(fn(), nest.finish(), columnsOf(c));
    from = m_.types.dims.add(from, rowsOf(c));
  }
  std::vector<ValueId> results = all;
  const std::vector<ValueId> sums = sumsOf(calls[0]);
  results.insert(results.end(), sums.begin(), sums.end());
  takeOver(fn(), whole.op, results);
}

/// A call adds nothing any more: its accumulators go on as they are.
void RowCalls::passSums(Builder& b, const RowCall& c) const {
  const std::vector<ValueId> ends = sumsOf(c);
  if (ends.empty()) return;
  NestBuilder point(b);
  std::vector<ValueId> same;
  for (ValueId v : Operands(fn().ops[c.op].operands)) same.push_back(point.accumulator(v));
  for (ValueId v : same) point.end(v);
  takeOver(fn(), point.finish(), ends);
}

// --- guards

TypeId RowCalls::withRows(TypeId column, DimId rows) const {
  std::vector<DimId> dims = m_.types[column].dims;
  dims[0] = rows;
  return m_.types.array(m_.types.element(column), std::move(dims));
}

/// The result types of the call for so many rows.
std::vector<TypeId> RowCalls::resultTypes(const Op& call, DimId rows) const {
  std::vector<TypeId> types;
  for (ValueId v : call.results) types.push_back(isSum(v) ? fn().typeOf(v) : withRows(fn().typeOf(v), rows));
  return types;
}

/// An `if` on the number of rows stands for the call.
void RowCalls::guard(RegionId region, const RowCall& c) const {
  if (c.op != c.call) region = fn().ops[c.op].regions[0];
  const Op call = fn().ops[c.call];
  for (OpId id : std::exchange(fn().regions[region].ops, {})) {
    if (id != c.call) {
      fn().regions[region].ops.push_back(id);
      continue;
    }
    Builder b(m_, f_, region, call.loc);
    const OpId by = c.isRecursive ? inParts(b, call, id, c.varies) : guarded(b, call, id);
    takeOver(fn(), by, std::vector<ValueId>(call.results.begin(), call.results.end()));
  }
}

/// The results of a call of no rows: accumulators as they are, all else is any value.
Operands RowCalls::nothing(Builder& b, const Op& call, DimId rows) const {
  Operands out;
  const std::vector<TypeId> types = resultTypes(call, rows);
  const std::vector<InoutPair> pairs = m_.functions[call.as<CallAttr>().callee].inouts;
  for (size_t k = 0; k < types.size(); ++k) {
    const auto pair = std::ranges::find(pairs, k, &InoutPair::result);
    out.push_back(isSum(call.results[k]) ? call.operands[pair->param] : filler(b, types[k]));
  }
  return out;
}

/// The call, if there are rows.
OpId RowCalls::guarded(Builder& b, const Op& call, OpId of) const {
  const DimId rows = call.dims.back();
  Op branch = Builder::simple(OpKind::If, {b.compare(ops::CmpKind::Gt, b.dimValue(rows), b.integer(0))});
  branch.loc = call.loc;
  Builder some = b.in(b.newRegion()), none = b.in(b.newRegion());
  some.yield(append(some, call, of, rows));
  none.yield(nothing(none, call, rows));
  branch.regions = {some.region, none.region};
  return b.append(std::move(branch), resultTypes(call, rows));
}

/// A copy of the call `of`.
Operands RowCalls::append(Builder& b, Op call, OpId of, DimId rows) const {
  const std::vector<TypeId> types = resultTypes(call, rows);
  call.dims.back() = rows;
  const OpId id = b.append(std::move(call), types);
  noteCopy(f_, of, f_, id);
  const Results results = fn().ops[id].results;
  return {results.begin(), results.end()};
}

/// The call, or calls of a part of the rows each.
OpId RowCalls::inParts(Builder& b, const Op& call, OpId of, const std::vector<bool>& varies) const {
  const DimId rows = call.dims.back();
  const ValueId all = b.dimValue(rows), most = b.integer(mostRows);
  Op branch = Builder::simple(OpKind::If, {b.compare(ops::CmpKind::Le, all, most)});
  branch.loc = call.loc;
  Builder whole = b.in(b.newRegion()), parts = b.in(b.newRegion());
  const Results given = fn().ops[guarded(whole, call, of)].results;
  whole.yield(Operands(given.begin(), given.end()));
  const std::vector<TypeId> types = resultTypes(call, rows);
  Op loop = Builder::simple(
      OpKind::For,
      {parts.binary(OpKind::IDiv, parts.binary(OpKind::Add, all, parts.integer(mostRows - 1)), most)},
      LoopAttr{});
  for (ValueId v : nothing(parts, call, rows)) loop.operands.push_back(v);
  Builder in = parts.in(parts.newRegion());
  const ValueId from = in.binary(OpKind::Mul, in.param(m_.types.int64()), most);
  std::vector<ValueId> carried;
  for (TypeId type : types) carried.push_back(in.param(type));
  const DimId size =
      m_.types.dims.symbol(in.bindDim(in.binary(OpKind::Min, most, in.binary(OpKind::Sub, all, from)), "m"));
  const Path part{PathStep{StepKind::Slice, 0, size, 1}};
  Op each = call;
  for (size_t k = 0; k < varies.size(); ++k)
    if (varies[k]) each.operands[k] = in.get(call.operands[k], part, std::span(&from, 1));
  for (const InoutPair& pair : m_.functions[call.as<CallAttr>().callee].inouts)
    each.operands[pair.param] = carried[pair.result];
  Operands yields = append(in, each, of, size);
  for (size_t k = 0; k < yields.size(); ++k)
    if (!isSum(call.results[k])) yields[k] = in.set(carried[k], yields[k], part, std::span(&from, 1));
  in.yield(yields);
  loop.regions = {in.region};
  const Results ends = fn().ops[parts.append(std::move(loop), types)].results;
  parts.yield(Operands(ends.begin(), ends.end()));
  branch.regions = {whole.region, parts.region};
  return b.append(std::move(branch), types);
}

} // namespace melix::transforms
