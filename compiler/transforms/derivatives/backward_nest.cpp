// Transpose of a nest: the same axes; what is read of an outside array is added to its accumulator, what is
// read of an outside scalar is summed. `scatter_to_gather` turns accumulators into reductions afterwards.

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "transforms/derivatives/backward.h"
#include "transforms/derivatives/scalar_rules.h"

#include <algorithm>

namespace melix::transforms {

/// Cotangents of what the body yields, read where the point's results are.
void Backward::takePoints(const Op& o, Scope& s, const std::vector<ValueId>& axes) {
  const NestView nest(g(), o);
  for (const NestPart& part : nest.parts()) {
    const NestResult& r = *part.spec;
    const ValueId res = nest.results(part)[0], y = nest.yields(part).back();
    if (!linear(res)) continue;
    auto c = s.parent->cotangents.find(res);
    if (c == s.parent->cotangents.end() || !c->second.valid()) continue;
    if (!isLinear(r)) {
      ad_.refuse(o.loc, "a tangent reduced by something else than a sum");
      continue;
    }
    if (!linear(y)) continue;
    std::vector<ValueId> kept;
    for (uint32_t a : r.keep) kept.push_back(axes[a]);
    kept = placeIndices(s.e, StructuralRule::TransposeNest, std::move(kept));
    addTo(y, kept.empty() ? c->second : s.e.getAt(c->second, kept, typeOf(y)));
  }
}

/// Accumulators of the source are read; gives what they began with, which gets the whole cotangent.
std::vector<std::pair<ValueId, ValueId>> Backward::takeAccumulators(const Op& o, const Scope& s) {
  const NestView nest(g(), o);
  std::vector<std::pair<ValueId, ValueId>> initial;
  for (uint32_t i = 0; i < nest.accs(); ++i) {
    const ValueId res = nest.accResults()[i];
    if (!linear(res)) continue;
    ValueId c;
    if (isAcc(res)) {
      c = reader(res);
    } else if (auto found = s.parent->cotangents.find(res); found != s.parent->cotangents.end()) {
      c = found->second;
    }
    if (!c.valid()) continue;
    readers_[nest.accYields()[i]] = c;
    initial.emplace_back(nest.accOperands()[i], c);
  }
  return initial;
}

/// What the transposed nest gives back: sums of cotangents, then accumulators. Those that nothing was added
/// to are left out again.
Backward::NestSums Backward::yieldSums(Scope& s, NestBuilder& made) {
  NestSums out;
  for (ValueId v : s.captureOrder) {
    const Capture& c = s.captured.at(v);
    if (c.init.valid()) {
      if (c.current != c.param) out.accs.push_back(v);
      continue;
    }
    if (!c.current.valid()) continue;
    out.sums.push_back(v);
    made.add(reducing(MonoidKind::Sum), c.current);
  }
  for (ValueId v : out.accs) {
    const Capture& c = s.captured.at(v);
    made.accumulator(c.init, c.param);
    made.end(c.current);
  }
  return out;
}

/// The residual items of a point.
void Backward::readPointItems(OpId id, Scope& s, const std::vector<ResidualItem>& items, const Roots& roots,
                              const std::vector<ValueId>& axes) {
  const Op& o = opOf(id);
  for (size_t k = 0; k < items.size(); ++k) {
    ValueId array = known(carrier(id, k, types().array(items[k].type, std::vector<DimId>(o.dims))));
    Op get = Emit::simple(OpKind::Get, {array}, Path(axes.size(), PathStep{StepKind::Index, 0, {}, 1}));
    get.operands.insert(get.operands.end(), axes.begin(), axes.end());
    if (axes.empty()) get = Emit::simple(OpKind::CastDims, {array});
    define(s, roots[k], std::move(get));
  }
}

/// Whether the points split, or hand to calls, the cotangent of an enum or pack from outside that holds
/// arrays: no accumulator does that, and a sum over the points would make the arrays anew at each.
bool Backward::isFissioned(const Op& nest) const {
  std::unordered_set<RegionId> inside(nest.regions.begin(), nest.regions.end());
  forEachOp(g(), nest.regions[0],
            [&](OpId id) { inside.insert(opOf(id).regions.begin(), opOf(id).regions.end()); });
  auto isWhole = [&](ValueId v) {
    const TypeKind kind = types().kind(g().typeOf(v));
    return (kind == TypeKind::Enum || kind == TypeKind::Pack) && linear(v) && !inside.contains(homeOf(v)) &&
           holdsArrays(types(), g().typeOf(v));
  };
  bool found = false;
  forEachOp(g(), nest.regions[0], [&](OpId id) {
    const Op& o = opOf(id);
    if (o.kind == OpKind::Call || o.kind == OpKind::Unpack || o.kind == OpKind::Match)
      found |= std::any_of(o.operands.begin(), o.operands.end(), isWhole);
  });
  return found;
}

/// for %p in 0..(N · M) carry(cotangents of outside values): the points of the axes N, M, one after another.
void Backward::nestInOrder(OpId id) {
  const Op& o = opOf(id);
  Scope* outer = cur_;
  Emit& e = outer->e;
  std::vector<ValueId> extents;
  ValueId count = e.i64(1);
  for (DimId d : o.dims) {
    extents.push_back(e.dimValue(dim(d)));
    count = extents.size() == 1 ? extents[0] : e.mul(count, extents.back());
  }
  Scope s{ScopeKind::Loop, o.regions[0], e.in(e.newRegion()), outer, {}, {}, {}, {}, {}, {}, {}, 0};
  ValueId left = s.e.param(types().int64());
  std::vector<ValueId> axes(extents.size());
  for (size_t a = extents.size(); a-- > 0;) {
    axes[a] = a == 0 ? left : s.e.binary(OpKind::IRem, left, extents[a]);
    if (a > 0) left = s.e.binary(OpKind::IDiv, left, extents[a]);
    s.known[g().regions[s.source].params[a]] = axes[a];
  }
  s.prologueAt = s.e.fn().regions[s.e.region].ops.size();
  cur_ = &s;
  takePoints(o, s, axes);
  const std::vector<std::pair<ValueId, ValueId>> initial = takeAccumulators(o, s);
  region(s);

  Op made = Emit::simple(OpKind::For, {count}, LoopAttr{});
  std::vector<TypeId> resultTypes;
  std::vector<ValueId> out;
  cur_ = outer;
  yieldCaptured(s, made, resultTypes, out);
  s.e.yield(std::move(out));
  Roots roots;
  const std::vector<ResidualItem> items = close(s, roots);
  readPointItems(id, s, items, roots, axes);
  openItems(s, items, roots);
  placePrologue(s);
  made.regions = {s.e.region};
  const OpId op = e.append(std::move(made), resultTypes);
  for (size_t i = 0; i < s.captureOrder.size(); ++i) slot(*outer, s.captureOrder[i]) = e.result(op, i);
  for (auto [init, c] : initial) addTo(init, c);
}

void Backward::nest(OpId id) {
  const Op& o = opOf(id);
  RegionId from = o.regions[0];
  const std::vector<ValueId>& params = g().regions[from].params;
  if (!seeded(o)) return;
  if (isFissioned(o)) return nestInOrder(id);
  Scope* outer = cur_;
  Emit& e = outer->e;
  NestBuilder made(e);
  Scope s{ScopeKind::Nest, from, e.in(made.body()), outer, {}, {}, {}, {}, {}, {}, {}, 0};
  std::vector<ValueId> axes;
  for (size_t a = 0; a < o.dims.size(); ++a) {
    axes.push_back(made.axis(dim(o.dims[a])));
    s.known[params[a]] = axes.back();
  }
  cur_ = &s;
  takePoints(o, s, axes);
  const std::vector<std::pair<ValueId, ValueId>> initial = takeAccumulators(o, s);
  region(s);
  const NestSums out = yieldSums(s, made);

  Roots roots;
  const std::vector<ResidualItem> items = close(s, roots);
  cur_ = outer;
  readPointItems(id, s, items, roots, axes);
  openItems(s, items, roots);
  placePrologue(s);
  if (made.results() > 0) {
    OpId op = made.finish();
    for (size_t i = 0; i < out.accs.size(); ++i)
      slot(*outer, out.accs[i]) = e.result(op, out.sums.size() + i);
    for (size_t i = 0; i < out.sums.size(); ++i) addTo(out.sums[i], e.result(op, i));
  }
  for (auto [init, c] : initial) addTo(init, c);
}

} // namespace melix::transforms
