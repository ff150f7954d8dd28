// Products and user-defined reductions of floats are differentiated as the loops they stand for: a loop has
// exact derivatives also where a factor is zero, and for any operation. In reverse a factor 0 of a product
// gives a cotangent 0 also where the product of the factors after it is beyond the largest float: 0 times
// that is no NaN.
//
//   before:  %r = nest(i: N, k: K) -> keep[i] prod { yield %x }
//   after:   %r = nest(i: N) -> collect[i] { %p = for K carry(%p = 1) { %x; yield mul %p, %x }; yield %p }

#include "core/analysis/evaluate.h"
#include "core/ir/flow.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/derivatives/derivative_context.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

namespace {

bool needsLoop(const Function& f, const types::TypeStore& types, const NestView& nest, const NestPart& part) {
  if (part.spec->kind != NestResultKind::Reduce) return false;
  TypeId t = types.element(f.typeOf(nest.results(part)[0]));
  const bool hasRule = isLinear(*part.spec) || infoOf(part.spec->monoid).position;
  return isCombine(*part.spec) || (types.isFloat(t) && !hasRule);
}

bool nestNeedsLoop(const Function& f, const types::TypeStore& types, const Op& op) {
  const NestView nest(f, op);
  return std::any_of(nest.parts().begin(), nest.parts().end(),
                     [&](const NestPart& part) { return needsLoop(f, types, nest, part); });
}

class Preparer {
public:
  Preparer(Ad& ad, FunctionId f) : ad_(ad), m_(ad.module), f_(f) {}

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      for (RegionId inner : fn().ops[id].regions) run(inner);
      const Op& o = fn().ops[id];
      return o.kind != OpKind::Nest || !nestNeedsLoop(fn(), m_.types, o) || rewrite(id, region);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// Moves such results into nests of their own; whether anything is left of the old one.
  bool rewrite(OpId id, RegionId region) {
    Emit e(m_, f_, region, fn().ops[id].loc);
    const Op& old = fn().ops[id];
    const NestView nest(fn(), old);
    const std::span<const ValueId> yields = nest.yields();
    std::vector<bool> gone(nest.parts().size() + nest.accs());
    for (const NestPart& part : nest.parts()) {
      gone[part.number] = needsLoop(fn(), m_.types, nest, part);
      if (!gone[part.number]) continue;
      sweep(old, *part.spec, part.yields.of(yields), nest.results(part), nest.own(part).units, e);
    }
    removeSlots(fn(), id, gone);
    return !fn().ops[id].results.empty();
  }

  /// A nest over the axes kept, around a loop over the others.
  struct Sweep {
    NestBuilder nest;
    Emit b; ///< its body
    Cloner map;
    std::vector<uint32_t> reduced;
    DimId extent; ///< of the loop
  };

  Sweep openAxes(const Op& old, const NestResult& r, Emit& e) {
    types::DimStore& dims = m_.types.dims;
    const std::vector<ValueId>& axes = fn().regions[old.regions[0]].params;
    NestBuilder nest(e);
    Sweep s{nest, e.in(nest.body()), Cloner(m_, f_, f_), {}, dims.constant(1)};
    for (uint32_t a : r.keep) s.map.values[axes[a]] = s.nest.axis(old.dims[a]);
    for (uint32_t a = 0; a < old.dims.size(); ++a)
      if (std::find(r.keep.begin(), r.keep.end(), a) == r.keep.end()) {
        s.reduced.push_back(a);
        s.extent = dims.mul(s.extent, old.dims[a]);
      }
    return s;
  }

  /// The axes reduced, from the number of the iteration; row-major: the last axis runs fastest.
  void splitIndex(Sweep& s, const Op& old, ValueId linear, Emit& in) {
    const std::vector<ValueId>& axes = fn().regions[old.regions[0]].params;
    for (size_t k = s.reduced.size(); k-- > 0;) {
      ValueId d = in.dimValue(old.dims[s.reduced[k]]);
      s.map.values[axes[s.reduced[k]]] = k == 0 ? linear : in.binary(OpKind::IRem, linear, d);
      if (k != 0) linear = in.binary(OpKind::IDiv, linear, d);
    }
    for (size_t k = old.dims.size(); k < axes.size(); ++k)
      s.map.values[axes[k]] = axes[k]; // accumulators are not read
  }

  /// One step: what was carried combined with what the point yields.
  std::vector<ValueId> step(Sweep& s, const Op& old, const NestResult& r, std::span<const ValueId> yields,
                            const std::vector<ValueId>& carried, Emit& in) {
    for (OpId id : needed(old.regions[0], yields)) s.map.op(id, in);
    if (!isCombine(r)) {
      const ValueId product = in.mul(carried[0], s.map.value(yields[0]));
      ad_.productSteps[f_].insert(product);
      return {product};
    }
    RegionId combine = old.regions[r.combineRegion];
    const std::vector<ValueId>& params = fn().regions[combine].params;
    for (size_t k = 0; k < yields.size(); ++k) {
      s.map.values[params[k]] = carried[k];
      s.map.values[params[yields.size() + k]] = s.map.value(yields[k]);
    }
    return s.map.body(combine, in).values;
  }

  void sweep(const Op& old, const NestResult& r, std::span<const ValueId> yields,
             std::span<const ValueId> results, std::vector<ValueId> units, Emit& e) {
    Sweep s = openAxes(old, r, e);
    const TypeId type = fn().typeOf(yields[0]);
    if (units.empty()) units.push_back(s.b.constant(type, unitOf(r.monoid, m_.types.kind(type))));
    Op loop = Emit::simple(OpKind::For, {s.b.dimValue(s.extent)}, LoopAttr{});
    loop.operands.insert(loop.operands.end(), units.begin(), units.end());
    Emit in = s.b.in(s.b.newRegion());
    ValueId linear = in.param(m_.types.int64());
    std::vector<ValueId> carried;
    std::vector<TypeId> types;
    for (ValueId v : yields) {
      types.push_back(fn().typeOf(v));
      carried.push_back(in.param(types.back()));
    }
    splitIndex(s, old, linear, in);
    in.yield(step(s, old, r, yields, carried, in));
    loop.regions = {in.region};
    OpId made = s.b.append(std::move(loop), types);
    for (ValueId v : fn().ops[made].results) s.nest.collect(v);
    takeOver(fn(), s.nest.finish(), results); // what reads them, copied already or to be copied, reads this
  }

  /// Whether the op, or one in it, may have an effect, for all that is known of what it calls.
  bool mayHaveEffect(OpId id) const {
    const Op& o = fn().ops[id];
    const ops::EffectKind kind = ops::opEffect(o.kind);
    const bool isControl =
        o.kind == OpKind::If || o.kind == OpKind::Match || o.kind == OpKind::For || o.kind == OpKind::Nest;
    if ((kind != ops::EffectKind::None && !isControl) || !panickingSums(m_, fn(), o).empty()) return true;
    return std::ranges::any_of(o.regions, [&](RegionId r) {
      return std::ranges::any_of(fn().regions[r].ops, [&](OpId inner) { return mayHaveEffect(inner); });
    });
  }
  /// The ops of the body that the values need, and those with effects, in order.
  std::vector<OpId> needed(RegionId region, std::span<const ValueId> roots) const {
    std::unordered_set<uint32_t> wanted;
    for (ValueId v : roots) wanted.insert(v.index);
    const std::vector<OpId>& ops = fn().regions[region].ops;
    std::vector<OpId> out;
    for (size_t i = ops.size(); i-- > 0;) {
      const Op& o = fn().ops[ops[i]];
      bool keep = mayHaveEffect(ops[i]) || !o.resultDims.empty();
      for (ValueId r : o.results) keep |= wanted.count(r.index) != 0;
      if (!keep) continue;
      out.push_back(ops[i]);
      for (ValueId v : o.operands) wanted.insert(v.index);
      for (RegionId r : o.regions)
        forEachOp(fn(), r, [&](OpId x) {
          for (ValueId v : fn().ops[x].operands) wanted.insert(v.index);
        });
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  Ad& ad_;
  Module& m_;
  FunctionId f_;
};

} // namespace

FunctionId prepare(Ad& ad, FunctionId f) {
  Module& m = ad.module;
  bool needs = false;
  forEachOp(m.functions[f], [&](OpId id) {
    const Op& o = m.functions[f].ops[id];
    needs |= o.kind == OpKind::Nest && nestNeedsLoop(m.functions[f], m.types, o);
  });
  if (!needs) return f;
  Function copy;
  {
    const Function& from = m.functions[f];
    copy.name = from.name;
    copy.key = "loops of " + from.key;
    copy.device = from.device;
    copy.inouts = from.inouts;
    copy.loc = from.loc;
  }
  FunctionId to = m.functions.add(std::move(copy));
  Cloner clone(m, f, to);
  for (DimSym s : std::vector<DimSym>(m.functions[f].dimParams))
    m.functions[to].dimParams.push_back(clone.defineDim(s));
  Builder b(m, to, RegionId(), m.functions[f].loc);
  m.functions[to].body = clone.region(m.functions[f].body, b);
  for (DimSym s : std::vector<DimSym>(m.functions[f].resultDims))
    m.functions[to].resultDims.push_back(clone.defineDim(s));
  for (TypeId t : std::vector<TypeId>(m.functions[f].results))
    m.functions[to].results.push_back(clone.type(t));
  Preparer(ad, to).run(m.functions[to].body);
  return to;
}

} // namespace melix::transforms
