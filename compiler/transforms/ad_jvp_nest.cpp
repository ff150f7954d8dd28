// jvp of nests. Collected values, sums and accumulators carry their tangents in the same sweep. Results that
// select (max, min, filter) give the places chosen, and a second nest runs the body again at these places
// only.

#include "transforms/ad_jvp.h"
#include "transforms/ad_rules.h"
#include "transforms/nest_shape.h"

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

void JvpBuilder::nest(const Op& o, Emit& e) {
  const NestAttr& attr = o.as<NestAttr>();
  RegionId from = o.regions[0];
  const std::vector<ValueId> params = source().regions[from].params;
  size_t axes = o.dims.size();

  Op copy;
  copy.kind = OpKind::Nest;
  copy.loc = o.loc;
  copy.dims = dimsOf(o.dims);
  NestAttr made;
  made.accs = attr.accs;
  for (uint32_t i = 0; i < attr.accs; ++i) copy.operands.push_back(value(o.operands[i]));
  size_t results = o.results.size() - attr.accs;
  std::vector<LeafBits> accBits;
  for (uint32_t i = 0; i < attr.accs; ++i) {
    accBits.push_back(bits(o.results[results + i]));
    for (ValueId t : real(e, o.operands[i], accBits.back())) {
      copy.operands.push_back(t);
      ++made.accs;
    }
  }
  for (size_t i = attr.accs; i < o.operands.size(); ++i) copy.operands.push_back(value(o.operands[i]));

  RegionId to = openRegion(from, e);
  copy.regions.push_back(to);
  Emit b = e.in(to);
  for (ValueId p : params) {
    values_[p] = b.param(typeOfSource(p));
    tangents_.erase(p);
  }
  for (uint32_t i = 0; i < attr.accs; ++i) {
    Tangents t(accBits[i].size());
    for (size_t k = 0; k < t.size(); ++k)
      if (accBits[i][k]) t[k] = b.param(leavesOf(params[axes + i])[k].tangent);
    bind(params[axes + i], std::move(t));
  }
  region(from, b);

  // Results and yields: the source's, then their tangents; then accumulators and theirs.
  const Op& y = terminator(from);
  std::vector<ValueId> out;
  std::vector<TypeId> resultTypes;
  std::vector<Chosen> chosen;
  Slots slots;
  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  size_t yielded = 0, dimAt = 0;
  uint32_t result = 0;
  for (const NestResult& r : attr.results) {
    made.results.push_back(r);
    for (uint32_t k = 0; k < yieldsOf(r); ++k) out.push_back(value(y.operands[yielded + k]));
    for (uint32_t k = 0; k < resultsOf(r, o.dims.size()); ++k) {
      slots.primal.push_back(static_cast<uint32_t>(resultTypes.size()));
      resultTypes.push_back(typeOfSource(o.results[result + k]));
    }
    yielded += yieldsOf(r);
    result += resultsOf(r, o.dims.size());
    if (r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Combine) {
      RegionId combine = o.regions[r.combineRegion], combineTo = openRegion(combine, e);
      Emit c = e.in(combineTo);
      for (ValueId p : source().regions[combine].params) {
        values_[p] = c.param(typeOfSource(p));
        tangents_.erase(p);
      }
      region(combine, c);
      c.yield(valuesOf(terminator(combine).operands));
      copy.regions.push_back(combineTo);
      made.results.back().combineRegion = static_cast<uint32_t>(copy.regions.size() - 1);
    }
  }

  yielded = 0, result = 0;
  for (const NestResult& r : attr.results) {
    ValueId v = y.operands[yielded + yieldsOf(r) - 1], res = o.results[result];
    DimSym filterDim = r.kind == NestResultKind::Filter ? o.resultDims[dimAt++] : DimSym();
    bool isActive = false;
    for (uint32_t k = 0; k < resultsOf(r, o.dims.size()); ++k) isActive |= active(o.results[result + k]);
    bool sweeps = r.kind == NestResultKind::Collect ||
                  (r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Sum);
    if (isActive && sweeps) {
      NestResult t = r;
      t.order = OrderKind::Unset;
      std::vector<Leaf> leaves = leavesOf(res);
      LeafBits which = bits(res);
      if (ad_.leaves.isBundle(source().typeOf(res))) {
        std::vector<ValueId> each = real(b, v, which);
        out.insert(out.end(), each.begin(), each.end());
      } else {
        out.push_back(whole(b, v));
      }
      for (uint32_t k = 0; k < leaves.size(); ++k)
        if (which[k]) {
          made.results.push_back(t);
          slots.tangents.push_back({result, k, static_cast<uint32_t>(resultTypes.size())});
          resultTypes.push_back(leaves[k].tangent);
        }
    } else if (isActive && r.kind == NestResultKind::Filter) {
      Chosen c{result, v, {~0u}, {static_cast<uint32_t>(resultTypes.size())}, {0}, {}, {}};
      c.filtered = filterDim;
      c.filteredPositions = ad_.freshDim(filterDim);
      copy.resultDims.push_back(c.filteredPositions);
      made.results.push_back(r);
      out.push_back(value(y.operands[yielded]));
      out.push_back(value(params[0]));
      resultTypes.push_back(types().array(types().int64(), {types().dims.symbol(c.filteredPositions)}));
      chosen.push_back(std::move(c));
    } else if (isActive && (r.monoid == MonoidKind::Max || r.monoid == MonoidKind::Min)) {
      Chosen c{result, v, r.keep, {}, {}, {}, {}};
      std::vector<DimId> kept;
      for (uint32_t a : r.keep) kept.push_back(copy.dims[a]);
      for (uint32_t a = 0; a < axes; ++a)
        if (std::find(r.keep.begin(), r.keep.end(), a) == r.keep.end()) c.chosenAxes.push_back(a);
      NestResult arg = r;
      arg.monoid = r.monoid == MonoidKind::Max ? MonoidKind::ArgMax : MonoidKind::ArgMin;
      arg.order = OrderKind::Unset;
      arg.results = static_cast<uint32_t>(c.chosenAxes.size());
      made.results.push_back(arg);
      out.push_back(value(v));
      for (size_t k = 0; k < c.chosenAxes.size(); ++k) {
        c.positions.push_back(static_cast<uint32_t>(resultTypes.size()));
        resultTypes.push_back(types().array(types().int64(), kept));
      }
      if (arg.results != 0) {
        chosen.push_back(std::move(c));
      } else { // nothing is reduced: every element is its own maximum
        made.results.back() = r;
        made.results.back().kind = NestResultKind::Collect;
        made.results.back().results = 1;
        out.back() = whole(b, v);
        slots.tangents.push_back({result, 0, static_cast<uint32_t>(resultTypes.size())});
        resultTypes.push_back(leavesOf(res)[0].tangent);
      }
    } else if (isActive) {
      ad_.refuse(o.loc, r.monoid == MonoidKind::Prod
                            ? "a product reduction in this place"
                            : "a reduction with a user-defined operation in this place");
    }
    yielded += yieldsOf(r);
    result += resultsOf(r, o.dims.size());
  }

  // Accumulators.
  for (uint32_t i = 0; i < attr.accs; ++i) {
    out.push_back(value(y.operands[yielded + i]));
    slots.primal.push_back(static_cast<uint32_t>(resultTypes.size()));
    resultTypes.push_back(typeOfSource(o.results[results + i]));
  }
  // (their tangents follow all of them, as the operands do)
  for (uint32_t i = 0; i < attr.accs; ++i) {
    std::vector<ValueId> t = real(b, y.operands[yielded + i], accBits[i]);
    out.insert(out.end(), t.begin(), t.end());
    for (uint32_t k = 0; k < accBits[i].size(); ++k)
      if (accBits[i][k]) {
        slots.tangents.push_back(
            {static_cast<uint32_t>(results + i), k, static_cast<uint32_t>(resultTypes.size())});
        resultTypes.push_back(leavesOf(o.results[results + i])[k].tangent);
      }
  }
  b.yield(std::move(out));
  copy.attr = std::move(made);
  OpId id = e.append(std::move(copy), resultTypes);
  bindResults(o, id, slots);
  for (const Chosen& c : chosen) nestAtPoints(o, c, id, e);
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
  NestAttr attr;
  attr.results.push_back(r);
  n.attr = attr;
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
