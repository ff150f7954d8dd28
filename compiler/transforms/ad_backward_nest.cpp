// Transpose of a nest: the same axes; what is read of an outside array is added to its accumulator, what is
// read of an outside scalar is summed. `accumulate_to_reduce` turns accumulators into reductions afterwards.

#include "transforms/ad_backward.h"
#include "transforms/ad_rules.h"
#include "transforms/nest_shape.h"

namespace melix::transforms {

void Backward::nest(OpId id) {
  const Op& o = opOf(id);
  const NestAttr& attr = o.as<NestAttr>();
  RegionId from = o.regions[0];
  const std::vector<ValueId> params = g().regions[from].params;
  size_t results = o.results.size() - attr.accs;
  bool seeded = false;
  for (ValueId r : o.results) seeded |= linear(r) && (isAcc(r) ? reader(r).valid() : cotangent(r).valid());
  if (!seeded) return;
  Scope* outer = cur_;
  Emit& e = outer->e;
  Op made;
  made.kind = OpKind::Nest;
  for (DimId d : o.dims) made.dims.push_back(dim(d));
  Scope s{ScopeKind::Nest, from, e.in(e.newRegion()), outer, {}, {}, {}, {}, {}, {}, {}, 0};
  std::vector<ValueId> axes;
  for (size_t a = 0; a < o.dims.size(); ++a) {
    axes.push_back(s.e.param(types().int64()));
    s.known[params[a]] = axes.back();
  }
  cur_ = &s;
  size_t yielded = 0, at = 0;
  for (const NestResult& r : attr.results) {
    ValueId res = o.results[at];
    yielded += yieldsOf(r);
    at += resultsOf(r, o.dims.size());
    if (!linear(res)) continue;
    ValueId y = terminator(from).operands[yielded - 1];
    auto c = outer->cotangents.find(res);
    if (c == outer->cotangents.end() || !c->second.valid()) continue;
    bool sweeps = r.kind == NestResultKind::Collect ||
                  (r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Sum);
    if (!sweeps) {
      ad_.refuse(o.loc, "a tangent reduced by something else than a sum");
      continue;
    }
    if (!linear(y)) continue;
    std::vector<ValueId> kept;
    for (uint32_t a : r.keep) kept.push_back(axes[a]);
    kept = placeIndices(s.e, StructuralRule::TransposeNest, std::move(kept));
    addTo(y, kept.empty() ? c->second : s.e.getAt(c->second, kept, typeOf(y)));
  }
  std::vector<std::pair<ValueId, ValueId>> initial; // what an accumulator began with gets the whole cotangent
  for (uint32_t i = 0; i < attr.accs; ++i) {
    ValueId res = o.results[results + i], init = o.operands[i];
    if (!linear(res)) continue;
    ValueId c;
    if (isAcc(res)) {
      c = reader(res);
    } else if (auto found = outer->cotangents.find(res); found != outer->cotangents.end()) {
      c = found->second;
    }
    if (!c.valid()) continue;
    readers_[terminator(from).operands[yielded + i]] = c;
    initial.emplace_back(init, c);
  }
  region(s);

  NestAttr out;
  std::vector<ValueId> yields, sums, accs;
  std::vector<TypeId> resultTypes;
  for (ValueId v : s.captureOrder) {
    const Capture& c = s.captured.at(v);
    if (c.init.valid()) {
      if (c.current != c.param) accs.push_back(v);
      continue;
    }
    if (!c.current.valid()) continue;
    sums.push_back(v);
    NestResult r;
    r.kind = NestResultKind::Reduce;
    out.results.push_back(r);
    yields.push_back(c.current);
    resultTypes.push_back(s.e.typeOf(c.current));
  }
  // Accumulators nothing was added to are left out again.
  Function& f = e.fn();
  std::vector<ValueId> own(axes);
  for (ValueId v : accs) {
    const Capture& c = s.captured.at(v);
    f.values[c.param].index = static_cast<uint32_t>(own.size());
    own.push_back(c.param);
    made.operands.push_back(c.init);
    yields.push_back(c.current);
    resultTypes.push_back(e.typeOf(c.init));
  }
  f.regions[s.e.region].params = std::move(own);
  out.accs = static_cast<uint32_t>(accs.size());
  bool anything = !yields.empty();
  s.e.yield(std::move(yields));

  Roots roots;
  const std::vector<ResidualItem> items = close(s, roots);
  cur_ = outer;
  for (size_t k = 0; k < items.size(); ++k) {
    ValueId array = known(carrier(id, k, types().array(items[k].type, o.dims)));
    Op get = Emit::simple(OpKind::Get, {array}, Path(axes.size(), PathStep{StepKind::Index, 0, {}, 1}));
    get.operands.insert(get.operands.end(), axes.begin(), axes.end());
    if (axes.empty()) {
      get = Emit::simple(OpKind::CastDims, {array});
    }
    define(s, roots[k], std::move(get));
  }
  openItems(s, items, roots);
  placePrologue(s);
  if (anything) {
    made.regions = {s.e.region};
    made.attr = std::move(out);
    OpId op = e.append(std::move(made), resultTypes);
    for (size_t i = 0; i < accs.size(); ++i) slot(*outer, accs[i]) = e.result(op, sums.size() + i);
    for (size_t i = 0; i < sums.size(); ++i) addTo(sums[i], e.result(op, i));
  }
  for (auto [init, c] : initial) addTo(init, c);
}

} // namespace melix::transforms
