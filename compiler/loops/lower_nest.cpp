// Nests: every nest alone, one scalar loop for each axis. Results whose kept axes do not fit one order of the
// loops get a sweep of their own.
#include "loops/lower_nest.h"

#include "core/order.h"
#include "core/walk.h"

#include <algorithm>

namespace melix::loops {
namespace {

using core::NestResult;
using core::NestResultKind;

std::set<uint32_t> keptAxes(const NestResult& r, uint32_t axes) {
  std::set<uint32_t> kept(r.keep.begin(), r.keep.end());
  if (r.kind != NestResultKind::Reduce)
    for (uint32_t a = 0; a < axes; ++a) kept.insert(a);
  return kept;
}

/// Whether terms of a kind give the same in any order.
bool isExact(const NestResult& r, TypeKind kind) {
  switch (r.monoid) {
  case core::MonoidKind::Sum:
  case core::MonoidKind::Prod: return types::isIntKind(kind);
  case core::MonoidKind::Min:
  case core::MonoidKind::Max:
  case core::MonoidKind::And:
  case core::MonoidKind::Or: return true;
  default: return false;
  }
}

bool nested(const std::set<uint32_t>& a, const std::set<uint32_t>& b) {
  return std::includes(a.begin(), a.end(), b.begin(), b.end()) ||
         std::includes(b.begin(), b.end(), a.begin(), a.end());
}

bool isPrefix(const std::set<uint32_t>& kept) { return kept.empty() || *kept.rbegin() + 1 == kept.size(); }

/// Ops of `region` that these values, and effects, need. What stands outside of it is not looked at.
class Needed {
public:
  Needed(const core::Function& fn, core::RegionId region) : fn_(fn) {
    for (core::OpId id : fn.regions[region].ops) top_.insert(&fn.ops[id]);
    core::forEachOp(fn, region, [&](core::OpId id) { inside_.insert(&fn.ops[id]); });
  }
  void value(core::ValueId v) {
    core::OpId def = fn_.values[v].def;
    if (def) op(&fn_.ops[def]);
  }
  void op(const core::Op* op) {
    if (inside_.erase(op) == 0) return; // or seen before
    if (top_.count(op)) found.insert(op);
    for (core::ValueId v : op->operands) value(v);
    for (core::RegionId r : op->regions)
      for (core::OpId inner : fn_.regions[r].ops) this->op(&fn_.ops[inner]);
  }
  std::set<const core::Op*> found;

private:
  const core::Function& fn_;
  std::unordered_set<const core::Op*> top_, inside_;
};

} // namespace

/// The sweeps of a nest: results whose kept axes are nested share one.
std::vector<Lower::Sweep> Lower::sweepsOf(const core::Op& op) {
  const core::NestView nest(in_, op);
  auto axisCount = static_cast<uint32_t>(op.dims.size());
  std::vector<Sweep> sweeps;
  if (nest.accs()) sweeps.emplace_back().withAccs = true;
  for (const core::NestPart& part : nest.parts()) {
    const NestResult& r = *part.spec;
    NestResultState state;
    state.part = part;
    state.yielded = nest.yields(part)[0];
    if (state.isReduce() && !isExact(r, termKind(state))) state.sequence = core::termSequence(r, axisCount);
    if (state.isReduce() && core::isOrdered(r.monoid, r.order, termKind(state)))
      state.ordered.emplace(b_, r, termKind(state), state.sequence);
    auto found =
        std::find_if(sweeps.begin(), sweeps.end(), [&](const Sweep& s) { return fits(s, state, axisCount); });
    if (found == sweeps.end()) found = sweeps.insert(sweeps.end(), Sweep{});
    found->results.push_back(state);
  }
  if (sweeps.empty()) sweeps.emplace_back();
  return sweeps;
}

/// Whether a sweep can serve one more result.
bool Lower::fits(const Sweep& sweep, const NestResultState& r, uint32_t axes) {
  // Of results that ask the same, one stands for all.
  auto asksTheSame = [&](const NestResultState& other) {
    return other.part.spec->keep == r.part.spec->keep && other.part.spec->row == r.part.spec->row &&
           other.part.spec->kind == r.part.spec->kind && other.hasLanes() == r.hasLanes() &&
           other.sequence == r.sequence;
  };
  if (!sweep.results.empty() && asksTheSame(sweep.results.back())) return true;
  const std::set<uint32_t> kept = keptAxes(*r.part.spec, axes);
  if (sweep.withAccs && !isPrefix(kept)) return false;
  for (const NestResultState& other : sweep.results)
    if (!nested(kept, keptAxes(*other.part.spec, axes))) return false;
  Sweep both = sweep;
  both.results.push_back(r);
  return axisOrder(both, axes).has_value();
}

/// The axes from the outside in: those that the first results keep, then those that more keep, then the rest;
/// none if the terms of a result would not follow each other as they should. Accumulators take them in index
/// order.
std::optional<std::vector<uint32_t>> Lower::axisOrder(const Sweep& sweep, uint32_t axisCount) {
  std::vector<std::set<uint32_t>> kept;
  if (!sweep.withAccs)
    for (const NestResultState& r : sweep.results) kept.push_back(keptAxes(*r.part.spec, axisCount));
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::set<uint32_t> all;
  for (uint32_t a = 0; a < axisCount; ++a) all.insert(a);
  kept.push_back(all);
  std::vector<uint32_t> order;
  for (const std::set<uint32_t>& set : kept) {
    const auto group = static_cast<std::ptrdiff_t>(order.size());
    for (uint32_t a : set)
      if (std::find(order.begin(), order.end(), a) == order.end()) order.push_back(a);
    for (const NestResultState& r : sweep.results)
      if (!sweep.withAccs && r.hasLanes()) // its row axis comes last
        std::stable_partition(order.begin() + group, order.end(),
                              [&](uint32_t a) { return a != r.part.spec->row; });
  }
  auto inSequence = [&](const NestResultState& r) {
    std::vector<uint32_t> reduced = order;
    std::erase_if(reduced, [&](uint32_t a) {
      return std::find(r.sequence.begin(), r.sequence.end(), a) == r.sequence.end();
    });
    return reduced == r.sequence;
  };
  if (!std::all_of(sweep.results.begin(), sweep.results.end(), inSequence)) return std::nullopt;
  return order;
}

/// The ops of the body that one of several sweeps runs: what its results are made of, the sizes found there,
/// and with the first one all effects.
std::set<const core::Op*> Lower::neededBy(const core::Op& op, const Sweep& sweep, bool isFirst) {
  const core::NestView nest(in_, op);
  core::RegionId body = nest.body();
  Needed needed(in_, body);
  for (const NestResultState& r : sweep.results)
    for (uint32_t k = 0; k < core::yieldsOf(*r.part.spec); ++k)
      needed.value(nest.yields()[r.part.yields.first + k]);
  if (sweep.withAccs)
    for (core::ValueId v : nest.accYields()) needed.value(v);
  for (core::OpId id : in_.regions[body].ops) {
    const core::Op& inner = in_.ops[id];
    bool effect = inner.kind == OpKind::Check || inner.kind == OpKind::Panic || inner.kind == OpKind::Call ||
                  inner.kind == OpKind::While || inner.kind == OpKind::Debug;
    for (core::RegionId r : inner.regions) effect = effect || hasEffects(r);
    if ((effect && isFirst) || !inner.resultDims.empty()) needed.op(&inner);
  }
  return needed.found;
}

void Lower::lowerNest(const core::Op& op) {
  auto axisCount = static_cast<uint32_t>(op.dims.size());
  std::vector<ValueId> extents;
  for (types::DimId d : op.dims) extents.push_back(dim(d));
  std::vector<Sweep> sweeps = sweepsOf(op);
  for (Sweep& sweep : sweeps) sweep.order = *axisOrder(sweep, axisCount);
  // Effects come with the first sweep, in the order of the points: where it has another, before it.
  const std::vector<uint32_t>& first = sweeps.front().order;
  if (!std::is_sorted(first.begin(), first.end()) && hasEffects(op.regions[0])) {
    sweeps.insert(sweeps.begin(), Sweep{});
    sweeps.front().order = *axisOrder(sweeps.front(), axisCount);
  }
  auto isAcc = [&](core::ValueId v) { return types_.kind(typeOf(v)) == TypeKind::Acc; };
  auto adds = [&](const core::Op* inner) {
    return std::ranges::any_of(inner->operands, isAcc) || std::ranges::any_of(inner->results, isAcc);
  };
  for (Sweep& sweep : sweeps) {
    sweep.extents = extents;
    sweep.axes.resize(axisCount);
    sweep.whole = sweeps.size() == 1;
    if (!sweep.whole) sweep.needed = neededBy(op, sweep, &sweep == &sweeps.front());
    if (!sweep.withAccs && std::ranges::any_of(sweep.needed, adds))
      return fail("a result that takes the points of a nest in another order than what adds for it");
    if (sweep.withAccs)
      runAdding(op, sweep);
    else
      runSweep(op, sweep);
    if (context_.error) return;
  }
}

/// The sweep that adds: accumulators that begin here are memory from here to its end.
void Lower::runAdding(const core::Op& op, Sweep& sweep) {
  const core::NestView nest(in_, op);
  const uint32_t count = nest.accs();
  std::vector<std::vector<ValueId>> begun(count), addresses(count);
  auto begins = [&](uint32_t k) { return types_.kind(typeOf(nest.accOperands()[k])) != TypeKind::Acc; };
  for (uint32_t k = 0; k < count; ++k) {
    begun[k] = leaves(nest.accOperands()[k]);
    addresses[k] = begins(k) ? openAcc(typeOf(nest.accOperands()[k]), begun[k]) : begun[k];
    sweep.accs.insert(sweep.accs.end(), addresses[k].begin(), addresses[k].end());
  }
  runSweep(op, sweep);
  if (context_.error) return;
  for (uint32_t k = 0; k < count; ++k) {
    core::ValueId result = nest.accResults()[k];
    define(result, begins(k) ? closeAcc(typeOf(result), addresses[k], begun[k]) : addresses[k]);
  }
}

void Lower::runSweep(const core::Op& op, Sweep& sweep) {
  // Memory of the results that keep axes.
  for (NestResultState& r : sweep.results) {
    r.out.resize(r.part.results.count);
    r.placed.resize(r.part.results.count);
    if (r.keepsNone()) continue;
    for (uint32_t k = 0; k < r.part.results.count; ++k) {
      core::ValueId v = op.results[r.part.results.first + k];
      TypeId type = typeOf(v), elem = types_.element(type);
      if (r.isFilter()) {
        std::vector<ValueId> dims = filterDims(type, sweep.extents[0]);
        r.out[k] = memoryPlace(allocArray(elem, dims, layouts_.stored(elem).counted), elem);
        r.out[k].scale = layouts_.stored(elem).size;
        std::vector<ValueId> strides = denseStrides(dims);
        for (size_t a = 0; a < dims.size(); ++a) r.out[k].axes.push_back({strides[a], dims[a], true});
        continue;
      }
      for (types::DimId d : types_[type].dims)
        if (!dimInScope(d)) fail("a nest of arrays of a size found in its body");
      if (context_.error) return;
      auto placed = destinations_.find(v.index);
      r.placed[k] = placed != destinations_.end();
      Destination at = r.placed[k] ? placed->second
                                   : Destination{allocArray(elem, dimsOf(type), layouts_.stored(elem).counted,
                                                            arraysLike(type, op)),
                                                 {}};
      r.out[k] = densePlace(at, type);
    }
  }

  if (runsOnPool(op, sweep)) {
    sweepOnPool(op, sweep);
    return defineKept(op, sweep);
  }
  std::vector<ValueId> carried;
  for (NestResultState& r : sweep.results)
    if (r.isFilter()) {
      r.at = static_cast<uint32_t>(carried.size());
      r.count = 1;
      carried.push_back(b_.integer(0));
    }
  carried = sweepLevel(op, sweep, 0, std::move(carried));
  if (context_.error) return;

  b_.loc = op.loc;
  for (const NestResultState& r : sweep.results)
    if (r.isFilter()) finishFilter(op, r, carried[r.at]);
  defineKept(op, sweep);
}

/// The arrays of scalars of a type that a nest reads: each might lie where the result does.
std::vector<ValueId> Lower::arraysLike(TypeId type, const core::Op& op) {
  std::vector<ValueId> out;
  if (!types_.isScalar(types_.element(type))) return out;
  std::unordered_set<uint32_t> inside; // ops of the body, and regions
  auto isInside = [&](core::ValueId v) {
    const core::OpId def = in_.values[v].def;
    return inside.contains(def ? 2 * def.index : 2 * in_.values[v].region.index + 1);
  };
  inside.insert(2 * op.regions[0].index + 1);
  core::forEachOp(in_, op.regions[0], [&](core::OpId id) {
    const core::Op& read = in_.ops[id];
    inside.insert(2 * id.index);
    for (core::RegionId r : read.regions) inside.insert(2 * r.index + 1);
    if (read.kind != OpKind::Get || typeOf(read.operands[0]) != type || isInside(read.operands[0])) return;
    const Rep& array = rep(read.operands[0]);
    if (array.leaves.size() != 1 || array.view || array.placed) return;
    if (std::ranges::find(out, array.leaves[0]) == out.end()) out.push_back(array.leaves[0]);
  });
  return out;
}

/// The results that are memory.
void Lower::defineKept(const core::Op& op, const Sweep& sweep) {
  if (context_.error) return;
  for (const NestResultState& r : sweep.results) {
    if (r.isFilter() || r.keepsNone()) continue;
    for (uint32_t k = 0; k < r.part.results.count; ++k) {
      core::ValueId v = op.results[r.part.results.first + k];
      define(v, {r.out[k].base});
      env_[v.index].placed = r.placed[k];
    }
  }
}

/// Whether a level has one point, and needs no loop.
bool Lower::isUnit(const Sweep& sweep, uint32_t level) {
  const uint64_t* known = b_.asConstant(sweep.extents[sweep.order[level]]);
  return known && *known == 1;
}

/// Whether there is no loop around that of a level.
bool Lower::isOutermost(const Sweep& sweep, uint32_t level) {
  for (uint32_t k = 0; k < level; ++k)
    if (!isUnit(sweep, k)) return false;
  return true;
}

/// How often the loop of a level runs: not at all where one further in has nothing to do, unless something
/// that ends in between is the unit then.
ValueId Lower::turnsAt(const Sweep& sweep, uint32_t level) {
  ValueId turns = sweep.extents[sweep.order[level]];
  bool first = isOutermost(sweep, level); // the loop around it asks for the others
  for (const NestResultState& r : sweep.results) {
    if (r.isReduce() && r.part.spec->keep.size() > level) return turns;
    first |= r.endsAt(level);
  }
  if (!first) return turns;
  for (size_t k = level + 1; k < sweep.order.size(); ++k) {
    ValueId inner = sweep.extents[sweep.order[k]];
    const uint64_t* known = b_.asConstant(inner);
    if (known && *known == 0) return inner;
    if (known) continue;
    turns = b_.select(b_.compare(ops::CmpKind::Gt, inner, b_.integer(0)), turns, b_.integer(0));
  }
  return turns;
}

std::vector<ValueId> Lower::sweepLevel(const core::Op& op, Sweep& sweep, uint32_t level,
                                       std::vector<ValueId> carried) {
  size_t outer = carried.size();
  const bool blocks = runsInBlocks(sweep, level);
  for (NestResultState& r : sweep.results) {
    if (!r.endsAt(level)) continue;
    if (r.ordered) r.ordered->open(std::span(sweep.order).subspan(level), sweep.extents, blocks);
    std::vector<ValueId> state = initState(op, r);
    r.at = static_cast<uint32_t>(carried.size());
    r.count = static_cast<uint32_t>(state.size());
    carried.insert(carried.end(), state.begin(), state.end());
  }

  if (level == sweep.order.size()) {
    carried = sweepBody(op, sweep, std::move(carried));
  } else if (blocks) {
    carried = sweepBlocks(op, sweep, blocksFrom(sweep, level), std::move(carried));
  } else if (isUnit(sweep, level)) {
    sweep.axes[sweep.order[level]] = b_.integer(0);
    carried = sweepLevel(op, sweep, level + 1, std::move(carried));
  } else {
    ForAttr attr;
    if (sweep.hasPoints(level)) attr.mark = MarkKind::Points;
    if (isOutermost(sweep, level) && carried.empty() && nestDepth_ == 0 && (!sweep.withAccs || addsApart(op)))
      attr.mark = MarkKind::Parallel;
    uint32_t axis = sweep.order[level];
    carried = b_.carryLoop(
        b_.integer(0), turnsAt(sweep, level), std::move(carried),
        [&](ValueId i, std::vector<ValueId> values) {
          sweep.axes[axis] = i;
          std::vector<ValueId> next = sweepLevel(op, sweep, level + 1, std::move(values));
          b_.loc = op.loc;
          return next;
        },
        attr);
  }
  finishLevel(op, sweep, level, carried);
  carried.resize(outer);
  return carried;
}

/// The values of the reductions that end at this level.
void Lower::finishLevel(const core::Op& op, const Sweep& sweep, uint32_t level,
                        const std::vector<ValueId>& carried) {
  if (context_.error) return;
  b_.loc = op.loc;
  for (const NestResultState& r : sweep.results) {
    if (!r.endsAt(level)) continue;
    auto first = carried.begin() + r.at;
    std::vector<ValueId> values = finishState(r, {first, first + r.count});
    size_t at = 0;
    for (uint32_t k = 0; k < r.part.results.count; ++k) {
      core::ValueId v = op.results[r.part.results.first + k];
      size_t count = level == 0 ? layouts_.leafCount(typeOf(v)) : values.size() / r.part.results.count;
      std::vector<ValueId> value(values.begin() + static_cast<long>(at),
                                 values.begin() + static_cast<long>(at + count));
      at += count;
      if (level == 0)
        define(v, std::move(value));
      else
        storeResult(op, sweep, r, k, value);
    }
  }
}

} // namespace melix::loops
