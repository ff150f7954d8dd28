// jvp of nests. Collected values, sums and accumulators carry their tangents in the same sweep. Results that
// select (max, min, filter) give the places chosen, and a second nest runs the body again at these places
// only.

#include "core/nest.h"
#include "transforms/ad_jvp.h"
#include "transforms/ad_rules.h"

#include <algorithm>

namespace melix::transforms {

/// A result whose tangent is read at chosen places.
struct JvpBuilder::Chosen {
  uint32_t result; ///< of the source op
  ValueId yielded; ///< the value of the body that is chosen
  std::vector<uint32_t>
      axes; ///< for each axis of the second nest: the axis it stands for; ~0: positions of a filter
  std::vector<uint32_t> positions; ///< results of the op made that hold chosen axis values
  std::vector<uint32_t> chosenAxes;
  DimSym filtered, filteredPositions;
};

/// The nest that is made of a source nest, and what it yields: the source's results, then their tangents;
/// then accumulators and theirs.
struct JvpBuilder::NestCopy {
  NestCopy(JvpBuilder& builder, const Op& source, Emit& emit)
      : j(builder), o(source), view(builder.source(), source), from(source.regions[0]), e(emit), b(begin()) {}

  void results();
  void tangents();
  void accumulators();
  /// Ends the body; the nest.
  OpId finish();

  std::vector<Chosen> chosen;

private:
  Emit begin();
  void addResult(const NestResult& r, TypeId type) {
    made.push_back(r);
    resultTypes.push_back(type);
  }
  uint32_t nextResult() const { return static_cast<uint32_t>(resultTypes.size()); }
  TypeId positionsOf(std::vector<DimId> kept) { return j.types().array(j.types().int64(), std::move(kept)); }
  void combine(const NestPart& part);
  void swept(const NestResult& r, uint32_t result, ValueId v);
  void filtered(const NestResult& r, uint32_t result, ValueId condition, ValueId v, DimSym size);
  void extreme(const NestResult& r, uint32_t result, ValueId v);

  JvpBuilder& j;
  const Op& o;
  const NestView view;
  RegionId from;
  Emit& e;
  Op copy;
  std::vector<NestResult> made;
  uint32_t madeAccs = 0;
  std::vector<LeafBits> accBits; ///< which leaves of each accumulator carry tangents
  Emit b;                        ///< the body made
  std::vector<ValueId> out;      ///< what it yields
  std::vector<TypeId> resultTypes;
  Slots slots;
};

/// Operands and the body up to its yield.
Emit JvpBuilder::NestCopy::begin() {
  copy.kind = OpKind::Nest;
  copy.loc = o.loc;
  copy.dims = j.dimsOf(o.dims);
  madeAccs = view.accs();
  for (ValueId begun : view.accOperands()) copy.operands.push_back(j.value(begun));
  for (uint32_t i = 0; i < view.accs(); ++i) {
    accBits.push_back(j.bits(view.accResults()[i]));
    for (ValueId t : j.real(e, view.accOperands()[i], accBits.back())) {
      copy.operands.push_back(t);
      ++madeAccs;
    }
  }
  for (const NestPart& part : view.parts())
    for (ValueId unit : view.units(part)) copy.operands.push_back(j.value(unit));
  Emit body = j.openBody(from, copy, e);
  for (uint32_t i = 0; i < view.accs(); ++i) {
    const ValueId acc = view.accParams()[i];
    Tangents t(accBits[i].size());
    for (size_t k = 0; k < t.size(); ++k)
      if (accBits[i][k]) t[k] = body.param(j.leavesOf(acc)[k].tangent);
    j.bind(acc, std::move(t));
  }
  j.region(from, body);
  return body;
}

void JvpBuilder::NestCopy::results() {
  for (DimSym s : o.resultDims) copy.resultDims.push_back(j.defineDim(s));
  for (const NestPart& part : view.parts()) {
    made.push_back(*part.spec);
    for (ValueId v : view.yields(part)) out.push_back(j.value(v));
    for (ValueId v : view.results(part)) {
      slots.primal.push_back(nextResult());
      resultTypes.push_back(j.typeOfSource(v));
    }
    if (isCombine(*part.spec)) combine(part);
  }
}

void JvpBuilder::NestCopy::combine(const NestPart& part) {
  const RegionId region = view.combine(part);
  Emit c = j.openBody(region, copy, e);
  j.region(region, c);
  c.yield(j.valuesOf(j.terminator(region).operands));
  made.back().combineRegion = static_cast<uint32_t>(copy.regions.size() - 1);
}

void JvpBuilder::NestCopy::tangents() {
  size_t dimAt = 0;
  for (const NestPart& part : view.parts()) {
    const NestResult& r = *part.spec;
    const uint32_t result = part.results.first;
    const ValueId v = view.yields(part).back();
    const DimSym size = r.kind == NestResultKind::Filter ? o.resultDims[dimAt++] : DimSym();
    bool isActive = false;
    for (ValueId given : view.results(part)) isActive |= j.active(given);
    const bool sums = r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Sum;
    if (!isActive) {
      // no tangent
    } else if (r.kind == NestResultKind::Collect || sums) {
      swept(r, result, v);
    } else if (r.kind == NestResultKind::Filter) {
      filtered(r, result, view.yields(part)[0], v, size);
    } else if (r.monoid == MonoidKind::Max || r.monoid == MonoidKind::Min) {
      extreme(r, result, v);
    } else {
      j.ad_.refuse(o.loc, r.monoid == MonoidKind::Prod
                              ? "a product reduction in this place"
                              : "a reduction with a user-defined operation in this place");
    }
  }
}

/// Tangents that are collected or summed as their values are.
void JvpBuilder::NestCopy::swept(const NestResult& r, uint32_t result, ValueId v) {
  NestResult t = r;
  t.order = OrderKind::Unset;
  ValueId res = o.results[result];
  std::vector<Leaf> leaves = j.leavesOf(res);
  LeafBits which = j.bits(res);
  if (j.ad_.leaves.isBundle(j.source().typeOf(res))) {
    std::vector<ValueId> each = j.real(b, v, which);
    out.insert(out.end(), each.begin(), each.end());
  } else {
    out.push_back(j.whole(b, v));
  }
  for (uint32_t k = 0; k < leaves.size(); ++k)
    if (which[k]) {
      slots.tangents.push_back({result, k, nextResult()});
      addResult(t, leaves[k].tangent);
    }
}

/// The positions of what the filter let through.
void JvpBuilder::NestCopy::filtered(const NestResult& r, uint32_t result, ValueId condition, ValueId v,
                                    DimSym size) {
  Chosen c{result, v, {~0u}, {nextResult()}, {0}, {}, {}};
  c.filtered = size;
  c.filteredPositions = j.ad_.freshDim(size);
  copy.resultDims.push_back(c.filteredPositions);
  out.push_back(j.value(condition));
  out.push_back(j.value(j.source().regions[from].params[0]));
  addResult(r, positionsOf({j.types().dims.symbol(c.filteredPositions)}));
  chosen.push_back(std::move(c));
}

/// The places of the maxima or minima.
void JvpBuilder::NestCopy::extreme(const NestResult& r, uint32_t result, ValueId v) {
  Chosen c{result, v, r.keep, {}, {}, {}, {}};
  std::vector<DimId> kept;
  for (uint32_t a : r.keep) kept.push_back(copy.dims[a]);
  for (uint32_t a = 0; a < o.dims.size(); ++a)
    if (std::find(r.keep.begin(), r.keep.end(), a) == r.keep.end()) c.chosenAxes.push_back(a);
  if (c.chosenAxes.empty()) { // nothing is reduced: every element is its own maximum
    NestResult each = r;
    each.kind = NestResultKind::Collect;
    each.results = 1;
    out.push_back(j.whole(b, v));
    slots.tangents.push_back({result, 0, nextResult()});
    addResult(each, j.leavesOf(o.results[result])[0].tangent);
    return;
  }
  NestResult arg = r;
  arg.monoid = r.monoid == MonoidKind::Max ? MonoidKind::ArgMax : MonoidKind::ArgMin;
  arg.order = OrderKind::Unset;
  arg.results = static_cast<uint32_t>(c.chosenAxes.size());
  made.push_back(arg);
  out.push_back(j.value(v));
  for (size_t k = 0; k < c.chosenAxes.size(); ++k) {
    c.positions.push_back(nextResult());
    resultTypes.push_back(positionsOf(kept));
  }
  chosen.push_back(std::move(c));
}

/// The accumulators, then the tangents of all of them, as the operands stand.
void JvpBuilder::NestCopy::accumulators() {
  for (uint32_t i = 0; i < view.accs(); ++i) {
    out.push_back(j.value(view.accYields()[i]));
    slots.primal.push_back(nextResult());
    resultTypes.push_back(j.typeOfSource(view.accResults()[i]));
  }
  for (uint32_t i = 0; i < view.accs(); ++i) {
    const std::vector<ValueId> t = j.real(b, view.accYields()[i], accBits[i]);
    out.insert(out.end(), t.begin(), t.end());
    for (uint32_t k = 0; k < accBits[i].size(); ++k)
      if (accBits[i][k]) {
        slots.tangents.push_back({view.partResults() + i, k, nextResult()});
        resultTypes.push_back(j.leavesOf(view.accResults()[i])[k].tangent);
      }
  }
}

OpId JvpBuilder::NestCopy::finish() {
  b.yield(std::move(out));
  copy.attr = nestOf(std::move(made), {}, madeAccs).attr;
  OpId id = e.append(std::move(copy), resultTypes);
  j.bindResults(o, id, slots);
  return id;
}

void JvpBuilder::nest(const Op& o, Emit& e) {
  NestCopy copy(*this, o, e);
  copy.results();
  copy.tangents();
  copy.accumulators();
  OpId made = copy.finish();
  for (const Chosen& c : copy.chosen) nestAtPoints(o, c, made, e);
}

/// %t = nest(kept axes) -> keep { yield tangent of the body at (kept, chosen) }
/// Where the reduced axes may be empty a further axis of extent min(1, …) is summed over, so nothing is read.
void JvpBuilder::nestAtPoints(const Op& o, const Chosen& c, OpId made, Emit& e) {
  types::DimStore& dims = types().dims;
  size_t axes = o.dims.size();
  std::vector<ValueId> positions;
  for (uint32_t p : c.positions) positions.push_back(e.result(made, p));
  Op n;
  n.kind = OpKind::Nest;
  NestResult r;
  if (c.filtered.valid()) {
    DimId d = dim(dims.symbol(c.filtered));
    n.dims.push_back(d);
    positions[0] = e.castDims(positions[0], types().array(types().int64(), {d}));
  } else {
    for (uint32_t a : c.axes) n.dims.push_back(dim(o.dims[a]));
  }
  for (uint32_t i = 0; i < n.dims.size(); ++i) r.keep.push_back(i);
  DimId reduced = dims.constant(1);
  if (!c.filtered.valid())
    for (uint32_t a : c.chosenAxes) reduced = dims.mul(reduced, dim(o.dims[a]));
  bool guard = !c.filtered.valid() && !dims.atLeast(reduced, 1);
  if (guard) {
    r.kind = NestResultKind::Reduce;
    n.dims.push_back(dims.min(dims.constant(1), reduced));
  }
  RegionId body = e.newRegion();
  n.regions.push_back(body);
  Emit b = e.in(body);
  std::vector<ValueId> own;
  for (size_t i = 0; i < n.dims.size(); ++i) own.push_back(b.param(types().int64()));
  std::span<const ValueId> kept(own.data(), r.keep.size());
  std::vector<ValueId> at(axes);
  if (!c.filtered.valid())
    for (size_t i = 0; i < c.axes.size(); ++i) at[c.axes[i]] = own[i];
  for (size_t i = 0; i < positions.size(); ++i)
    at[c.chosenAxes[i]] =
        placeIndices(b, StructuralRule::JvpChosen, {b.getAt(positions[i], kept, types().int64())})[0];
  ValueId res = o.results[c.result];
  Tangents t = bodyAt(o, c.yielded, at, b);
  TypeId resultTangent = leavesOf(res)[0].tangent;
  tangents_[c.yielded] = t;
  ValueId w = whole(b, c.yielded);
  b.yield({w});
  n.attr = nestOf({r}).attr;
  ValueId tangent = e.one(std::move(n), resultTangent);
  Tangents all(leafCount(res));
  all[0] = tangent;
  bind(res, std::move(all));
}

/// Ops of a nest's body that a value needs; effects are left out (they happened in the first sweep).
void JvpBuilder::markNeeds(OpId id, std::unordered_map<ValueId, bool>& needed) const {
  const Op& o = sourceOp(id);
  for (ValueId v : o.operands) needed[v] = true;
  for (RegionId r : o.regions)
    for (OpId inner : source().regions[r].ops) markNeeds(inner, needed);
}

Tangents JvpBuilder::bodyAt(const Op& o, ValueId yielded, const std::vector<ValueId>& axisValues, Emit& e) {
  RegionId from = o.regions[0];
  const std::vector<ValueId> params = source().regions[from].params;
  const std::vector<OpId> ops = source().regions[from].ops;
  for (size_t i = 0; i < axisValues.size(); ++i) {
    values_[params[i]] = axisValues[i];
    tangents_.erase(params[i]);
  }
  std::unordered_map<ValueId, bool> needed{{yielded, true}};
  std::vector<bool> keep(ops.size(), false);
  for (size_t i = ops.size(); i-- > 0;) {
    const Op& body = sourceOp(ops[i]);
    for (ValueId r : body.results)
      if (needed.count(r)) keep[i] = true;
    if (!body.resultDims.empty()) keep[i] = true;
    if (keep[i]) markNeeds(ops[i], needed);
  }
  for (size_t i = 0; i < ops.size(); ++i)
    if (keep[i]) op(ops[i], e);
  return tangents(yielded);
}

} // namespace melix::transforms
