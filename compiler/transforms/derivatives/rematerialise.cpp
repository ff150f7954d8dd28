// What values of a region of the jvp companion can be made of again, and how they are.

#include "core/analysis/sizes.h"
#include "core/ir/nest.h"
#include "core/order/clone.h"
#include "transforms/derivatives/backward_values.h"
#include "transforms/derivatives/residual_cost.h"

#include <algorithm>
#include <array>
#include <functional>

namespace melix::transforms {

/// Whether what the op gives has the same bits whatever stands around it, if what it takes has: an `fma`
/// takes sums of products.
bool KnownValues::keepsBits(const Op& op) const {
  auto isProduct = [this](ValueId v) {
    const Op* def = definition(v);
    while (def && (def->kind == OpKind::Neg || def->kind == OpKind::StopGradient))
      def = definition(def->operands[0]);
    return def && def->kind == OpKind::Mul;
  };
  switch (op.kind) {
  case OpKind::Get:
  case OpKind::CastDims:
  case OpKind::StopGradient:
  case OpKind::Neg:
  case OpKind::Abs:
  case OpKind::Min:
  case OpKind::Max: return true;
  case OpKind::Add:
  case OpKind::Sub: return std::ranges::none_of(op.operands, isProduct);
  default: return false;
  }
}

/// Whether the value comes from outside of the loop, nest or function around the scope.
bool KnownValues::isOutside(const Scope& s, ValueId v) const {
  return &levelOf(scopeOf(homeOf(v))) != &levelOf(s);
}

/// Whether the nest reads every element of the array at its own axes.
bool KnownValues::walksAll(const Scope& level, const Op& get) const {
  const types::Type& t = types()[g().typeOf(get.operands[0])];
  if (level.kind != ScopeKind::Nest || t.kind != TypeKind::Array || get.operands.size() != t.dims.size() + 1)
    return false;
  const Op& nest = opOf(g().regions[level.source].parent);
  const std::vector<ValueId>& axes = g().regions[level.source].params;
  for (size_t i = 0; i < t.dims.size(); ++i) {
    const auto axis = std::find(axes.begin(), axes.end(), get.operands[i + 1]);
    const auto at = static_cast<size_t>(axis - axes.begin());
    if (at >= nest.dims.size() || nest.dims[at] != t.dims[i]) return false;
  }
  return true;
}

/// A result of a nest that collects scalars, and the ops of the body that make them, each after what it is
/// made of.
struct KnownValues::Slice {
  ValueId yielded;
  const NestResult* spec;
  std::vector<OpId> ops;
  std::vector<ValueId> outside; ///< values from around the nest that they use
  Effort effort;                ///< at one point
};

/// Whether the op mentions a size that the region binds.
bool KnownValues::isSizeOf(RegionId region, const Op& op) const {
  return std::ranges::any_of(sizesOf(ad_.module, g(), op), [&](DimSym d) {
    const auto home = dimHome_.find(d);
    return home != dimHome_.end() && home->second == region;
  });
}

/// None if it is more than scalar work.
std::optional<KnownValues::Slice> KnownValues::sliceOf(ValueId v) const {
  const OpId nest = g().values[v].def;
  if (!nest.valid() || opOf(nest).kind != OpKind::Nest || finalReads_.contains(v)) return std::nullopt;
  const NestView view(g(), opOf(nest));
  const auto part = std::find_if(view.parts().begin(), view.parts().end(),
                                 [&](const NestPart& p) { return view.results(p)[0] == v; });
  if (part == view.parts().end() || part->spec->kind != NestResultKind::Collect) return std::nullopt;
  Slice out{view.yields(*part)[0], part->spec, {}, {}, {}};
  std::unordered_set<ValueId> seen;
  bool scalar = true;
  std::function<void(ValueId)> visit = [&](ValueId x) { // as deep as what `isProfitable` allows
    if (!scalar || !seen.insert(x).second) return;
    if (isImmediate(x)) {
      scalar = !isSizeOf(view.body(), *definition(x));
      return;
    }
    if (uses_.homeOf(x) != view.body()) return out.outside.push_back(x);
    const OpId def = g().values[x].def;
    if (!def.valid()) return; // an axis
    const std::optional<Effort> effort = rematerialisationEffort(g(), types(), opOf(def));
    scalar = effort && types().isScalar(g().typeOf(x)) &&
             isProfitable(types(), g().typeOf(v), out.effort += *effort);
    if (!scalar) return;
    for (ValueId y : opOf(def).operands) visit(y);
    out.ops.push_back(def);
  };
  visit(out.yielded);
  return scalar && types().isScalar(g().typeOf(out.yielded)) ? std::optional(std::move(out)) : std::nullopt;
}

/// One number that a branch gives, and the ops of its arms that make it, each after what it is made of.
struct KnownValues::BranchSlice {
  struct Arm {
    ValueId yielded;
    std::vector<OpId> ops;
  };
  ValueId condition;
  std::array<Arm, 2> arms;
  std::vector<ValueId> outside; ///< values from around the branch that the arms use
  Effort effort;                ///< of both arms
};

/// None if the arms do more than scalar work for it.
std::optional<KnownValues::BranchSlice> KnownValues::branchSliceOf(ValueId v) const {
  const OpId def = g().values[v].def;
  if (!def.valid() || opOf(def).kind != OpKind::If || !opOf(def).resultDims.empty() || linear(v) ||
      finalReads_.contains(v) || !types().isScalar(g().typeOf(v)))
    return std::nullopt;
  const Op& branch = opOf(def);
  const auto k = static_cast<size_t>(std::ranges::find(branch.results, v) - branch.results.begin());
  BranchSlice out{branch.operands[0], {}, {}, {}};
  for (size_t a : {0, 1}) {
    const RegionId home = branch.regions[a];
    std::unordered_set<ValueId> seen;
    std::function<bool(ValueId)> visit = [&](ValueId x) { // as deep as what `isProfitable` allows
      if (!seen.insert(x).second) return true;
      if (isImmediate(x)) return !isSizeOf(home, *definition(x));
      if (uses_.homeOf(x) != home) return out.outside.push_back(x), true;
      const Op& op = opOf(g().values[x].def);
      const std::optional<Effort> effort = rematerialisationEffort(g(), types(), op);
      if (!effort || !types().isScalar(g().typeOf(x)) || linear(x) ||
          !isProfitable(types(), g().typeOf(v), out.effort += *effort) ||
          !std::ranges::all_of(op.operands, visit))
        return false;
      out.arms[a].ops.push_back(g().values[x].def);
      return true;
    };
    out.arms[a].yielded = terminator(home).operands[k];
    if (!visit(out.arms[a].yielded)) return std::nullopt;
  }
  return out;
}

Effort KnownValues::effortOf(ValueId v) const {
  if (const std::optional<Slice> slice = sliceOf(v)) return slice->effort;
  if (const std::optional<BranchSlice> slice = branchSliceOf(v)) return slice->effort;
  return *rematerialisationEffort(g(), types(), *definition(v));
}

/// The numbers that sizes are bound to which an op mentions, itself or by an operand that is one.
void KnownValues::addNumbers(const Op& op, std::vector<ValueId>& out) const {
  for (DimSym d : sizesOf(ad_.module, g(), op)) addNumbers(d, out);
  for (ValueId x : op.operands)
    if (isImmediate(x)) addNumbers(*definition(x), out);
}
void KnownValues::addNumbers(DimSym d, std::vector<ValueId>& out) const {
  const types::DimSubst& same = ad_.dimsOf(lin_.source);
  if (const auto alias = same.find(d); alias != same.end()) {
    std::vector<DimSym> symbols;
    types().dims.collectSymbols(alias->second, symbols);
    for (DimSym each : symbols) addNumbers(each, out);
  } else if (isBoundAtHand(d)) {
    const ValueId number = boundTo_.at(d);
    out.push_back(number);
    if (isImmediate(number)) addNumbers(*definition(number), out);
  }
}

/// The values of which `v`, defined in the region of `s`, can be rematerialised.
std::optional<std::vector<ValueId>> KnownValues::rematerialisationSources(const Scope& s, ValueId v) const {
  const Op* def = definition(v);
  if (exact_.contains(v) && def && !keepsBits(*def)) return std::nullopt;
  if (const std::optional<Slice> slice = sliceOf(v)) {
    std::vector<ValueId> sources = slice->outside;
    addNumbers(*def, sources);
    for (OpId id : slice->ops) {
      if (opOf(id).kind == OpKind::Get && updated(opOf(id).operands[0])) return std::nullopt;
      addNumbers(opOf(id), sources);
    }
    return sources;
  }
  if (const std::optional<BranchSlice> slice = branchSliceOf(v)) {
    std::vector<ValueId> sources = slice->outside;
    sources.push_back(slice->condition);
    for (const BranchSlice::Arm& arm : slice->arms)
      for (OpId id : arm.ops) {
        if (opOf(id).kind == OpKind::Get && updated(opOf(id).operands[0])) return std::nullopt;
        addNumbers(opOf(id), sources);
      }
    return sources;
  }
  if (!def || !rematerialisationEffort(g(), types(), *def)) return std::nullopt;
  if (def->kind == OpKind::Get && updated(def->operands[0]) &&
      (!isOutside(s, def->operands[0]) || !walksAll(levelOf(s), *def)))
    return std::nullopt;
  std::vector<ValueId> sources(def->operands.begin(), def->operands.end());
  addNumbers(*def, sources);
  return sources;
}

/// Defines what was asked for and is not kept, each after what it is made of. Values from further out are
/// asked for there.
void KnownValues::rematerialiseAll(Scope& s, const std::vector<ValueId>& kept) {
  const std::vector<ValueId> demands = s.demands;
  std::unordered_set<ValueId> open(demands.begin(), demands.end());
  std::unordered_set<ValueId> done(kept.begin(), kept.end());
  std::function<void(ValueId)> make = [&](ValueId v) { // as deep as what `isProfitable` allows
    if (isImmediate(v) || homeOf(v) != s.source || (isKnown(v) && !open.contains(v)) ||
        !done.insert(v).second)
      return;
    if (!lin_.plan.collected.contains(v)) {
      const std::vector<ValueId> sources = rematerialisationSources(s, v).value();
      for (ValueId x : sources) make(x);
    }
    if (!isKnown(v)) s.known[v] = s.e.placeholder(typeOf(v));
    rematerialise(s, v);
  };
  for (ValueId v : demands) make(v);
}

/// Defines the placeholder of a value by the op once more, or as what a nest collects of it.
void KnownValues::rematerialise(Scope& s, ValueId v) {
  if (lin_.plan.collected.contains(v)) {
    const auto [array, indices] = *collectedAs(v);
    Op read =
        Emit::simple(OpKind::Get, {known(array)}, Path(indices.size(), PathStep{StepKind::Index, 0, {}, 1}));
    for (ValueId i : indices) read.operands.push_back(known(i));
    return define(s, s.known.at(v), std::move(read), s.rematerialised);
  }
  if (const std::optional<Slice> slice = sliceOf(v)) return rematerialiseSlice(s, v, *slice);
  if (const std::optional<BranchSlice> slice = branchSliceOf(v)) return rematerialiseBranch(s, v, *slice);
  define(s, s.known.at(v), copyOf(*definition(v), [&](ValueId x) { return known(x); }), s.rematerialised);
}

/// The op at other operands, which `map` gives.
template <class Map>
Op KnownValues::copyOf(const Op& op, Map map) {
  Op copy;
  copy.kind = op.kind;
  copy.attr = op.attr;
  copy.operands = op.operands;
  copy.dims = op.dims;
  for (ValueId& x : copy.operands) x = map(x);
  for (DimId& d : copy.dims) d = dim(d);
  if (auto* p = std::get_if<Path>(&copy.attr)) *p = path(*p);
  return copy;
}

/// A branch that gives one number of a branch of g.
void KnownValues::rematerialiseBranch(Scope& s, ValueId v, const BranchSlice& slice) {
  Op branch = Emit::simple(OpKind::If, {known(slice.condition)});
  for (const BranchSlice::Arm& arm : slice.arms) {
    branch.regions.push_back(s.e.newRegion());
    Emit in = s.e.in(branch.regions.back());
    std::unordered_map<ValueId, ValueId> inner;
    auto map = [&](ValueId x) {
      const auto found = inner.find(x);
      return found == inner.end() ? known(x) : found->second;
    };
    for (OpId id : arm.ops) {
      const ValueId x = opOf(id).results[0];
      inner[x] = in.one(copyOf(opOf(id), map), typeOf(x));
    }
    in.yield({map(arm.yielded)});
  }
  const ValueId made = s.e.in(s.e.newRegion()).one(std::move(branch), typeOf(v));
  const OpId op = s.e.fn().values[made].def;
  takeOver(s.e.fn(), op, std::span(&s.known.at(v), 1));
  s.rematerialised.push_back(op);
}

/// A nest that collects one result of a nest of g.
void KnownValues::rematerialiseSlice(Scope& s, ValueId v, const Slice& slice) {
  const Op& o = *definition(v);
  const NestView view(g(), o);
  Emit at = s.e.in(s.e.newRegion()); // from where it goes to the others
  NestBuilder made(at);
  std::unordered_map<ValueId, ValueId> inner;
  for (size_t a = 0; a < view.axes(); ++a) inner[view.axisParams()[a]] = made.axis(dim(o.dims[a]));
  auto map = [&](ValueId x) {
    auto found = inner.find(x);
    return found == inner.end() ? known(x) : found->second;
  };
  Emit b = at.in(made.body());
  for (OpId id : slice.ops) {
    const ValueId x = opOf(id).results[0];
    inner[x] = b.one(copyOf(opOf(id), map), typeOf(x));
  }
  made.add(*slice.spec, map(slice.yielded));
  const OpId op = made.finish();
  takeOver(s.e.fn(), op, std::span(&s.known.at(v), 1));
  s.rematerialised.push_back(op);
}

} // namespace melix::transforms
