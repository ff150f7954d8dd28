// Loops and nests in f_fwd: what they do beside tangents, and the items of each iteration or point.

#include "core/nest.h"
#include "transforms/ad_forward.h"

namespace melix::transforms {

/// A loop made again: what its parts share.
struct Forward::Loop {
  const Op& o;
  const OpResidual* plan;
  bool isWhile;
  size_t lead; ///< operands and parameters before the carries
  std::vector<ValueId> params{};
  std::vector<ValueId> slots{}; ///< values of g that the results stand for
  Op copy{};
  ValueId count{}, kept{}; ///< of a `while`: iterations so far, the list of their items
  bool keepsList() const { return isWhile && plan && plan->carriers.size() > 1; }
  size_t carries() const { return o.operands.size() - lead; }
};

void Forward::loopOperands(Loop& l, Emit& e) {
  l.copy = start(l.o, e);
  l.copy.operands.clear();
  if (!l.isWhile) l.copy.operands.push_back(value(l.o.operands[0]));
  for (size_t i = 0; i < l.carries(); ++i)
    if (!linear(l.params[i + l.lead])) {
      l.copy.operands.push_back(value(l.o.operands[i + l.lead]));
      l.slots.push_back(l.o.results[i]);
    }
  if (!l.isWhile || !l.plan) return;
  l.copy.operands.push_back(e.i64(0));
  l.slots.push_back(l.plan->carriers[0]);
  if (!l.keepsList()) return;
  l.copy.operands.push_back(e.one(Emit::simple(OpKind::ListOf, {}), typeOf(l.plan->carriers[1])));
  l.slots.push_back(l.plan->carriers[1]);
}

/// The condition's parameters follow the body's in what is linear.
Emit Forward::openIteration(Loop& l, RegionId from, Emit& e) {
  Emit b = e.in(e.newRegion());
  for (DimSym s : g().regions[from].dimParams) e.fn().regions[b.region].dimParams.push_back(defineDim(s));
  const std::vector<ValueId>& own = g().regions[from].params;
  for (size_t i = 0; i < own.size(); ++i)
    if (!linear(l.params[i])) values_[own[i]] = b.param(typeOf(own[i]), g().values[own[i]].hint);
  if (l.isWhile && l.plan) {
    l.count = b.param(types().int64());
    if (l.keepsList()) l.kept = b.param(typeOf(l.plan->carriers[1]));
  }
  return b;
}

/// The count and the list of items of a `while`, after one more iteration.
void Forward::countIteration(const Loop& l, Emit& b, std::vector<ValueId>& out) {
  out.push_back(b.add(l.count, b.i64(1)));
  if (!l.keepsList()) return;
  std::vector<ValueId> saved = items(l.o.regions.back(), b);
  ValueId element = saved[0];
  if (saved.size() > 1) {
    std::vector<TypeId> parts;
    for (ValueId v : saved) parts.push_back(b.typeOf(v));
    element = b.make(types().tuple(parts), saved);
  }
  out.push_back(b.one(Emit::simple(OpKind::Push, {l.kept, element}), typeOf(l.plan->carriers[1])));
}

/// What a `for` collects: the source's values, then the items.
void Forward::collectIteration(Loop& l, Emit& b, std::vector<ValueId>& out) {
  const Op& y = terminator(l.o.regions.back());
  uint32_t collects = 0;
  for (size_t i = l.carries(); i < l.o.results.size(); ++i)
    if (!linear(l.o.results[i])) {
      out.push_back(value(y.operands[i]));
      l.slots.push_back(l.o.results[i]);
      ++collects;
    }
  if (l.plan)
    for (ValueId v : items(l.o.regions.back(), b)) {
      out.push_back(v);
      ++collects;
    }
  l.copy.attr = LoopAttr{collects};
}

/// Sizes of the copy; that of what is collected is there only where something is.
void Forward::loopSizes(Loop& l, Emit& e) {
  const uint32_t had = l.isWhile ? 0 : l.o.as<LoopAttr>().collects;
  const uint32_t has = l.isWhile ? 0 : std::get<LoopAttr>(l.copy.attr).collects;
  const bool gone = had > 0 && has == 0;
  if (had == 0 && has > 0) l.copy.resultDims.push_back(defineDim(l.plan->count));
  for (size_t i = gone ? 1 : 0; i < l.o.resultDims.size(); ++i)
    l.copy.resultDims.push_back(defineDim(l.o.resultDims[i]));
  if (!gone) return;
  ValueId n = e.binary(OpKind::Max, value(l.o.operands[0]), e.i64(0));
  Op bindDim = Emit::simple(OpKind::BindDim, {n});
  bindDim.resultDims.push_back(defineDim(l.o.resultDims[0]));
  e.append(std::move(bindDim), std::span<const TypeId>());
}

void Forward::loop(OpId id, Emit& e) {
  const Op& o = opOf(id);
  const bool isWhile = o.kind == OpKind::While;
  Loop l{o, planned(id), isWhile, isWhile ? 0u : 1u, g().regions[o.regions.back()].params};
  loopOperands(l, e);
  for (RegionId from : o.regions) {
    Emit b = openIteration(l, from, e);
    region(from, b);
    const Op& y = terminator(from);
    std::vector<ValueId> out;
    if (from != o.regions.back()) {
      out.push_back(value(y.operands[0]));
    } else {
      for (size_t i = 0; i < l.carries(); ++i)
        if (!linear(l.params[i + l.lead])) out.push_back(value(y.operands[i]));
      if (isWhile && l.plan) countIteration(l, b, out);
      if (!isWhile) collectIteration(l, b, out);
    }
    b.yield(std::move(out), dimsOf(y.dims));
    l.copy.regions.push_back(b.region);
  }
  loopSizes(l, e);
  if (!isWhile && l.plan) l.slots.insert(l.slots.end(), l.plan->carriers.begin(), l.plan->carriers.end());
  std::vector<TypeId> t;
  for (ValueId v : l.slots) t.push_back(typeOf(v));
  OpId made = e.append(std::move(l.copy), t);
  for (size_t i = 0; i < l.slots.size(); ++i) values_[l.slots[i]] = e.result(made, i);
}

/// A nest made again: what its parts share.
struct Forward::Nest {
  const Op& o;
  NestView view;
  Op copy{};
  uint32_t accs = 0;
  std::vector<NestResult> made{};
  std::vector<ValueId> out{}, slots{}; ///< what the body yields; values of g that the results stand for
};

/// Operands and parameters. An accumulator that begins with a known zero and takes tangents is linear all the
/// same.
Emit Forward::openNest(Nest& n, Emit& e) {
  n.copy = start(n.o, e);
  n.copy.operands.clear();
  for (uint32_t i = 0; i < n.view.accs(); ++i)
    if (!linear(n.view.accResults()[i])) {
      n.copy.operands.push_back(value(n.view.accOperands()[i]));
      ++n.accs;
    }
  for (const NestPart& part : n.view.parts())
    for (ValueId unit : n.view.units(part)) n.copy.operands.push_back(value(unit));
  Emit b = e.in(e.newRegion());
  const std::vector<ValueId>& params = g().regions[n.o.regions[0]].params;
  for (size_t i = 0; i < params.size(); ++i) {
    if (linear(params[i])) continue;
    if (i >= n.view.axes() && linear(n.view.accResults()[i - n.view.axes()])) continue;
    values_[params[i]] = b.param(typeOf(params[i]), g().values[params[i]].hint);
  }
  n.copy.regions.push_back(b.region);
  return b;
}

void Forward::nestResults(Nest& n, Emit& e) {
  for (const NestPart& part : n.view.parts()) {
    if (linear(n.view.results(part)[0])) continue;
    n.made.push_back(*part.spec);
    for (ValueId v : n.view.yields(part)) n.out.push_back(value(v));
    for (ValueId v : n.view.results(part)) n.slots.push_back(v);
    if (!isCombine(*part.spec)) continue;
    const RegionId combine = n.view.combine(part);
    Emit c = open(combine, e);
    region(combine, c);
    c.yield(known(terminator(combine).operands, c));
    n.copy.regions.push_back(c.region);
    n.made.back().combineRegion = static_cast<uint32_t>(n.copy.regions.size() - 1);
  }
}

/// The items of every point.
void Forward::nestItems(Nest& n, const OpResidual& plan, Emit& b) {
  for (ValueId v : items(n.o.regions[0], b)) {
    n.out.push_back(v);
    n.made.push_back(collecting(n.view.axes()));
  }
  n.slots.insert(n.slots.end(), plan.carriers.begin(), plan.carriers.end());
}

void Forward::nest(OpId id, Emit& e) {
  const Op& o = opOf(id);
  Nest n{o, NestView(g(), o)};
  Emit b = openNest(n, e);
  region(o.regions[0], b);
  nestResults(n, e);
  if (const OpResidual* plan = planned(id)) nestItems(n, *plan, b);
  for (uint32_t i = 0; i < n.view.accs(); ++i)
    if (!linear(n.view.accResults()[i])) {
      n.out.push_back(value(n.view.accYields()[i]));
      n.slots.push_back(n.view.accResults()[i]);
    }
  b.yield(std::move(n.out));
  for (DimSym s : o.resultDims) n.copy.resultDims.push_back(defineDim(s));
  std::vector<TypeId> t;
  for (ValueId v : n.slots) t.push_back(typeOf(v));
  n.copy.attr = nestOf(std::move(n.made), {}, n.accs).attr;
  OpId op = e.append(std::move(n.copy), t);
  for (size_t i = 0; i < n.slots.size(); ++i) values_[n.slots[i]] = e.result(op, i);
}

} // namespace melix::transforms
