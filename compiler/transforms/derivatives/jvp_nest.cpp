// jvp of nests. Collected values, sums and accumulators carry their tangents in the same sweep. Results that
// select (max, min, filter) give the places chosen, and a second nest runs the body again at these places
// only.

#include "core/ir/nest.h"
#include "transforms/derivatives/jvp.h"
#include "transforms/derivatives/scalar_rules.h"

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
      : j(builder), o(source), view(builder.source(), source), e(emit), made(e), b(e.in(made.body())) {}

  /// Axes, accumulators, and the body up to its yield.
  void begin();
  void results();
  void tangents();
  void accumulators();
  /// Ends the body; the nest.
  OpId finish();

  std::vector<Chosen> chosen;

private:
  RegionId combine(RegionId from);
  void swept(const NestResult& r, uint32_t result, ValueId v);
  void filtered(const NestPart& part);
  void extreme(const NestResult& r, uint32_t result, ValueId v);

  JvpBuilder& j;
  const Op& o;
  const NestView view;
  Emit& e;
  NestBuilder made;
  Emit b;                        ///< its body
  std::vector<LeafBits> accBits; ///< which leaves of each accumulator carry tangents
  Slots slots;
};

void JvpBuilder::NestCopy::begin() {
  for (size_t a = 0; a < view.axes(); ++a) j.bindValue(view.axisParams()[a], made.axis(j.dim(o.dims[a])));
  for (uint32_t i = 0; i < view.accs(); ++i)
    j.bindValue(view.accParams()[i], made.accumulator(j.value(view.accOperands()[i])));
  for (uint32_t i = 0; i < view.accs(); ++i) {
    accBits.push_back(j.bits(view.accResults()[i]));
    const std::vector<ValueId> begun = j.real(e, view.accOperands()[i], accBits.back());
    Tangents t(accBits.back().size());
    size_t at = 0;
    for (size_t k = 0; k < t.size(); ++k)
      if (accBits.back()[k]) t[k] = made.accumulator(begun[at++]);
    j.bind(view.accParams()[i], std::move(t));
  }
  j.region(view.body(), b);
}

void JvpBuilder::NestCopy::results() {
  for (const NestPart& part : view.parts()) {
    NestOwn own{j.valuesOf(view.units(part)), combine(view.combine(part)), view.size(part)};
    if (own.size.valid()) own.size = j.defineDim(own.size);
    const uint32_t first = made.add(*part.spec, j.valuesOf(view.yields(part)), own);
    for (uint32_t k = 0; k < part.results.count; ++k) slots.primal.push_back(first + k);
  }
}

/// A copy of a combining region, if there is one.
RegionId JvpBuilder::NestCopy::combine(RegionId from) {
  if (!from.valid()) return from;
  Emit c = j.openBody(from, e);
  j.region(from, c);
  c.yield(j.valuesOf(j.terminator(from).operands));
  return c.region;
}

void JvpBuilder::NestCopy::tangents() {
  for (const NestPart& part : view.parts()) {
    const NestResult& r = *part.spec;
    const uint32_t result = part.results.first;
    const ValueId v = view.yields(part).back();
    bool isActive = false;
    for (ValueId given : view.results(part)) isActive |= j.active(given);
    if (!isActive) {
      // no tangent
    } else if (isLinear(r)) {
      swept(r, result, v);
    } else if (r.kind == NestResultKind::Filter) {
      filtered(part);
    } else if (infoOf(r.monoid).position) {
      extreme(r, result, v);
    } else {
      j.ad_.refuse(o.loc, "a reduction by `" + std::string(infoOf(r.monoid).builtin) + "` in this place");
    }
  }
}

/// Tangents that are collected or summed as their values are.
void JvpBuilder::NestCopy::swept(const NestResult& r, uint32_t result, ValueId v) {
  NestResult t = r;
  t.order = OrderKind::Unset;
  const ValueId res = o.results[result];
  const LeafBits which = j.bits(res);
  const bool isBundle = j.ad_.leaves.isBundle(j.source().typeOf(res));
  const std::vector<ValueId> each = isBundle ? j.real(b, v, which) : std::vector{j.whole(b, v)};
  size_t at = 0;
  for (uint32_t k = 0; k < which.size(); ++k)
    if (which[k]) slots.tangents.push_back({result, k, made.add(t, each[at++])});
}

/// The positions of what the filter let through.
void JvpBuilder::NestCopy::filtered(const NestPart& part) {
  const ValueId condition = view.yields(part)[0], v = view.yields(part)[1];
  const DimSym size = view.size(part), positions = j.ad_.freshDim(size);
  const ValueId yields[] = {j.value(condition), j.value(view.axisParams()[0])};
  const uint32_t at = made.add(*part.spec, yields, {{}, {}, positions});
  chosen.push_back({part.results.first, v, {~0u}, {at}, {0}, size, positions});
}

/// The places of the maxima or minima.
void JvpBuilder::NestCopy::extreme(const NestResult& r, uint32_t result, ValueId v) {
  Chosen c{result, v, r.keep, {}, {}, {}, {}};
  for (uint32_t a = 0; a < o.dims.size(); ++a)
    if (std::find(r.keep.begin(), r.keep.end(), a) == r.keep.end()) c.chosenAxes.push_back(a);
  if (c.chosenAxes.empty()) { // nothing is reduced: every element is its own maximum
    NestResult each = r;
    each.kind = NestResultKind::Collect;
    slots.tangents.push_back({result, 0, made.add(each, j.whole(b, v))});
    return;
  }
  NestResult arg = r;
  arg.monoid = *infoOf(r.monoid).position;
  arg.order = OrderKind::Unset;
  const uint32_t first = made.add(arg, j.value(v));
  for (uint32_t k = 0; k < c.chosenAxes.size(); ++k) c.positions.push_back(first + k);
  chosen.push_back(std::move(c));
}

/// The accumulators, then the tangents of all of them, as they began.
void JvpBuilder::NestCopy::accumulators() {
  for (ValueId last : view.accYields()) slots.primal.push_back(made.end(j.value(last)));
  for (uint32_t i = 0; i < view.accs(); ++i) {
    const std::vector<ValueId> t = j.real(b, view.accYields()[i], accBits[i]);
    size_t at = 0;
    for (uint32_t k = 0; k < accBits[i].size(); ++k)
      if (accBits[i][k]) slots.tangents.push_back({view.partResults() + i, k, made.end(t[at++])});
  }
}

OpId JvpBuilder::NestCopy::finish() {
  OpId id = made.finish();
  j.bindResults(o, id, slots);
  return id;
}

void JvpBuilder::nest(const Op& o, Emit& e) {
  NestCopy copy(*this, o, e);
  copy.begin();
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
  std::vector<ValueId> positions;
  for (uint32_t p : c.positions) positions.push_back(e.result(made, p));
  NestBuilder n(e);
  Emit b = e.in(n.body());
  std::vector<ValueId> kept, at(o.dims.size());
  NestResult r;
  if (c.filtered.valid()) {
    DimId d = dim(dims.symbol(c.filtered));
    kept.push_back(n.axis(d));
    positions[0] = e.castDims(positions[0], types().array(types().int64(), {d}));
  } else {
    for (uint32_t a : c.axes) kept.push_back(at[a] = n.axis(dim(o.dims[a])));
    DimId reduced = dims.constant(1);
    for (uint32_t a : c.chosenAxes) reduced = dims.mul(reduced, dim(o.dims[a]));
    if (!dims.atLeast(reduced, 1)) {
      r.kind = NestResultKind::Reduce;
      n.axis(dims.min(dims.constant(1), reduced));
    }
  }
  r.keep = collecting(kept.size()).keep;
  for (size_t i = 0; i < positions.size(); ++i)
    at[c.chosenAxes[i]] =
        placeIndices(b, StructuralRule::JvpChosen, {b.getAt(positions[i], kept, types().int64())})[0];
  ValueId res = o.results[c.result];
  tangents_[c.yielded] = bodyAt(o, c.yielded, at, b);
  n.add(r, whole(b, c.yielded));
  Tangents all(leafCount(res));
  all[0] = n.one();
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
