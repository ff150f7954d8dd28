#include "transforms/accumulation/scatter_plan.h"

#include "core/analysis/ranges.h"
#include "core/analysis/sizes.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "transforms/accumulation/gather_support.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/walks/speculation.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

bool ScatterPlanner::plan(ScatteredAdd& c) {
  openSite(c);
  if (!readPlace(c)) return false;
  sortAxes(c);
  chooseKind(c);
  return takeGuards(c) && takeOps(c);
}

// --- what is made of which axes
// ---------------------------------------------------------------------------------

void ScatterPlanner::openSite(const ScatteredAdd& c) {
  levelOf_.clear();
  definedBy_.clear();
  insideDims_.clear();
  axes_.clear();
  inOrder_.clear();
  ofOp_.clear();
  mayFail_.clear();
  forEachOp(fn(), c.site.levels[0].region, [&](OpId id) {
    insideDims_.insert(op(id).resultDims.begin(), op(id).resultDims.end());
    for (RegionId r : op(id).regions)
      insideDims_.insert(fn().regions[r].dimParams.begin(), fn().regions[r].dimParams.end());
  });
  for (size_t l = 0; l < c.site.levels.size(); ++l) {
    const SiteLevel& level = c.site.levels[l];
    levelOf_[level.region] = l;
    for (OpId id : fn().regions[level.region].ops)
      for (DimSym s : op(id).resultDims) definedBy_[s] = id;
    if (level.kind != SiteLevel::Kind::Nest) continue;
    const Op& nest = op(level.op);
    for (size_t a = 0; a < nest.dims.size(); ++a) {
      inOrder_.push_back({fn().regions[level.region].params[a], nest.dims[a], l, isOutside(nest.dims[a])});
      axes_[inOrder_.back().param] = inOrder_.back();
    }
  }
}

ScatterPlanner::AxisSet ScatterPlanner::axesOf(ValueId v) {
  if (axes_.contains(v)) return {v};
  const OpId def = fn().values[v].def;
  return def.valid() && levelOf_.contains(uses_.regionOf(def)) ? axesOf(def) : AxisSet();
}

const ScatterPlanner::AxisSet& ScatterPlanner::axesOf(OpId id) {
  if (const auto known = ofOp_.find(id); known != ofOp_.end()) return known->second;
  AxisSet all;
  auto take = [&](const Op& o) {
    for (ValueId v : o.operands) all.merge(axesOf(v));
  };
  take(op(id));
  for (RegionId r : op(id).regions) forEachOp(fn(), r, [&](OpId inner) { take(op(inner)); });
  for (DimSym s : sizesFor(id)) all.merge(axesOf(types().dims.symbol(s)));
  return ofOp_[id] = std::move(all);
}

ScatterPlanner::AxisSet ScatterPlanner::axesOf(DimId d) {
  std::vector<DimSym> symbols;
  types().dims.collectSymbols(d, symbols);
  AxisSet all;
  for (DimSym s : symbols)
    if (const auto by = definedBy_.find(s); by != definedBy_.end()) all.merge(AxisSet(axesOf(by->second)));
  return all;
}

/// The sizes that an op mentions and does not find itself.
std::vector<DimSym> ScatterPlanner::sizesFor(OpId id) const {
  std::vector<DimSym> out = sizesWithin(m_, fn(), id);
  std::unordered_set<DimSym> own(op(id).resultDims.begin(), op(id).resultDims.end());
  for (RegionId r : op(id).regions) {
    own.insert(fn().regions[r].dimParams.begin(), fn().regions[r].dimParams.end());
    forEachOp(fn(), r, [&](OpId inner) {
      own.insert(op(inner).resultDims.begin(), op(inner).resultDims.end());
      for (RegionId deeper : op(inner).regions)
        own.insert(fn().regions[deeper].dimParams.begin(), fn().regions[deeper].dimParams.end());
    });
  }
  std::erase_if(out, [&](DimSym s) { return own.contains(s); });
  return out;
}

bool ScatterPlanner::isOutside(const std::vector<DimSym>& symbols) const {
  return std::ranges::none_of(symbols, [&](DimSym s) { return insideDims_.contains(s); });
}

bool ScatterPlanner::isOutside(DimId d) const {
  std::vector<DimSym> symbols;
  types().dims.collectSymbols(d, symbols);
  return isOutside(symbols);
}

// --- the place
// --------------------------------------------------------------------------------------------------

/// Which axes indices are made of, and which are indices themselves; false for places that are no elements of
/// an array of numbers.
bool ScatterPlanner::readPlace(ScatteredAdd& c) {
  const Op& add = op(c.site.add);
  TypeId array = fn().typeOf(add.operands[0]);
  if (types().kind(array) == TypeKind::Acc) array = types()[array].parts[0];
  if (types().kind(array) != TypeKind::Array || !types().isScalar(types()[array].parts[0])) return false;
  const std::vector<DimId> extents = types()[array].dims;
  size_t operand = 2, axis = 0;
  std::map<ValueId, int> alone;
  std::map<ValueId, size_t> positions;
  const size_t inside = c.site.levels.size();
  for (const PathStep& s : add.as<Path>()) {
    if (s.kind == StepKind::Index) {
      const ValueId index = add.operands[operand++];
      if (axes_.contains(index)) {
        ++alone[index];
        positions[index] = axis;
      } else {
        c.varying.merge(axesOf(index));
      }
    } else if (s.kind == StepKind::Slice) {
      c.varying.merge(axesOf(add.operands[operand++]));
      c.elements.push_back(
          {fn().values.add(Value{types().int64(), {}, {}, 0, {}}), s.length, inside, isOutside(s.length)});
    } else if (s.kind == StepKind::All) {
      c.elements.push_back({fn().values.add(Value{types().int64(), {}, {}, 0, {}}), extents[axis], inside,
                            isOutside(extents[axis])});
    } else {
      return false;
    }
    ++axis;
  }
  for (; axis < extents.size(); ++axis)
    c.elements.push_back({fn().values.add(Value{types().int64(), {}, {}, 0, {}}), extents[axis], inside,
                          isOutside(extents[axis])});
  for (auto [v, times] : alone)
    if (times > 1) c.varying.insert(v);
  for (const ScatteredAdd::Axis& a : inOrder_)
    if (alone.contains(a.param)) c.rows.push_back(a);
  std::ranges::sort(c.rows, {}, [&](const ScatteredAdd::Axis& a) { return positions.at(a.param); });
  return std::ranges::all_of(c.elements, &ScatteredAdd::Axis::isKnown);
}

/// What determines how many points another axis has belongs to the places.
void ScatterPlanner::sortAxes(ScatteredAdd& c) {
  for (size_t before = 0; before != c.varying.size() || before == 0;) {
    before = c.varying.size();
    for (const ScatteredAdd::Axis& a : inOrder_) c.varying.merge(axesOf(a.extent));
    if (before == c.varying.size()) break;
  }
  std::erase_if(c.rows, [&](const ScatteredAdd::Axis& a) { return c.varying.contains(a.param); });
  for (const ScatteredAdd::Axis& a : inOrder_) {
    auto isThis = [&](const ScatteredAdd::Axis& row) { return row.param == a.param; };
    if (c.varying.contains(a.param))
      c.places.push_back(a);
    else if (std::ranges::none_of(c.rows, isThis))
      c.summed.push_back(a);
  }
}

void ScatterPlanner::chooseKind(ScatteredAdd& c) const {
  auto areOut = [&](const std::vector<ScatteredAdd::Axis>& axes) {
    return std::ranges::all_of(axes, &ScatteredAdd::Axis::isKnown);
  };
  c.isSum = std::ranges::any_of(c.summed,
                                [&](const ScatteredAdd::Axis& a) { return maySum(types().dims, a.extent); });
  c.isAhead = (c.isSum || (c.summed.empty() && isValueSum(c))) && areOut(c.places) && areOut(c.rows) &&
              areOut(c.summed);
  std::vector<ValueId> now, wanted;
  for (const auto* axes : {&c.places, &c.rows})
    for (const ScatteredAdd::Axis& a : *axes) wanted.push_back(a.param);
  for (const ScatteredAdd::Axis& a : inOrder_)
    if (std::ranges::find(wanted, a.param) != wanted.end()) now.push_back(a.param);
  c.isMoved = now != wanted;
}

/// Whether what is added is itself a sum over many points.
bool ScatterPlanner::isValueSum(const ScatteredAdd& c) const {
  const OpId def = fn().values[op(c.site.add).operands[1]].def;
  if (!def.valid() || uses_.regionOf(def) != c.site.levels.back().region || op(def).kind != OpKind::Nest)
    return false;
  auto isReduced = [](const NestResult& r) { return r.kind == NestResultKind::Reduce; };
  return std::ranges::any_of(nestResults(op(def)), isReduced) && isExpensive(Costs(m_, fn()).ofOp(def));
}

/// An arm that not the places alone decide leaves terms out of a sum; its place is added to then without.
bool ScatterPlanner::takeGuards(ScatteredAdd& c) {
  free_ = c.site.levels.size();
  for (size_t l = 0; l < c.site.levels.size(); ++l) {
    const SiteLevel& level = c.site.levels[l];
    const bool isArm = level.kind == SiteLevel::Kind::Arm;
    const AxisSet axes = isArm ? axesOf(op(level.op).operands[0]) : AxisSet();
    c.guards.push_back(isArm && std::ranges::includes(c.varying, axes));
    if (isArm && !c.guards.back()) free_ = std::min(free_, l);
  }
  return free_ == c.site.levels.size() || !(c.isSum || c.isAhead) || isPlaceThere(c);
}

bool ScatterPlanner::isPlaceThere(const ScatteredAdd& c) const {
  const Op& add = op(c.site.add);
  const std::vector<DimId> extents = types()[types()[fn().typeOf(add.operands[0])].parts[0]].dims;
  Ranges ranges(m_, f_);
  size_t operand = 2, axis = 0;
  for (const PathStep& s : add.as<Path>()) {
    if (s.kind == StepKind::Slice) return false;
    if (s.kind == StepKind::Index && !ranges.isIndex(add.operands[operand++], extents[axis])) return false;
    ++axis;
  }
  return true;
}

// --- the ops
// ----------------------------------------------------------------------------------------------------

bool ScatterPlanner::takeOps(ScatteredAdd& c) {
  const Op& add = op(c.site.add);
  innermost_ = inOrder_.empty() ? 0 : inOrder_.back().level;
  bool ok = slice(c, add.operands[1], SliceKind::Value);
  for (size_t k = 2; k < add.operands.size(); ++k) ok = ok && slice(c, add.operands[k], SliceKind::Placing);
  for (const ScatteredAdd::Axis& a : inOrder_) ok = ok && slice(c, a.extent, SliceKind::Placing);
  for (size_t l = 0; l < c.site.levels.size(); ++l) {
    if (c.site.levels[l].kind != SiteLevel::Kind::Arm) continue;
    const ValueId condition = op(c.site.levels[l].op).operands[0];
    if (c.guards[l]) ok = ok && slice(c, condition, SliceKind::Placing);
    if (!c.guards[l] || c.isAhead) ok = ok && slice(c, condition, SliceKind::Value);
  }
  if (ok) findNeeded(c);
  return ok;
}

/// Whether an op, and what it needs, may run at a point of the places that has no term.
bool ScatterPlanner::isPlacedByAll(const ScatteredAdd& c, OpId id) {
  if (!std::ranges::includes(c.varying, axesOf(id))) return false;
  return levelOf_.at(uses_.regionOf(id)) < free_ || !mayFail(id);
}

/// Whether an op reads, or needs something that reads, where only an earlier check shows that it is there.
bool ScatterPlanner::mayFail(OpId id) {
  if (const auto known = mayFail_.find(id); known != mayFail_.end()) return known->second;
  Ranges ranges(m_, f_);
  bool fails = false;
  auto look = [&](OpId at) {
    const Op& o = op(at);
    const bool isIndexed = o.kind == OpKind::Set || o.kind == OpKind::AddAt || isMatchOfEnum(m_, fn(), o) ||
                           o.kind == OpKind::Length || o.kind == OpKind::Call;
    fails = fails || isIndexed || (o.kind == OpKind::Get && !readsInRange(m_, fn(), ranges, o)) ||
            std::ranges::any_of(o.dims, [&](DimId d) { return !types().dims.atLeast(d, 0); });
    for (ValueId v : o.operands)
      if (const OpId def = fn().values[v].def; def.valid() && levelOf_.contains(uses_.regionOf(def)))
        fails = fails || mayFail(def);
  };
  look(id);
  for (RegionId r : op(id).regions) forEachOp(fn(), r, look);
  return mayFail_[id] = fails;
}

void ScatterPlanner::findNeeded(ScatteredAdd& c) const {
  size_t level = 0; // the levels in which something is read that may not be there
  for (OpId id : c.placing)
    if (const auto known = mayFail_.find(id); known == mayFail_.end() || known->second)
      level = std::max(level, levelOf_.at(uses_.regionOf(id)) + 1);
  c.needed = c.summed;
  std::ranges::copy_if(c.rows, std::back_inserter(c.needed),
                       [&](const ScatteredAdd::Axis& a) { return a.level < level; });
}

bool ScatterPlanner::slice(ScatteredAdd& c, ValueId v, SliceKind kind) {
  const OpId def = fn().values[v].def;
  return !def.valid() || !levelOf_.contains(uses_.regionOf(def)) || slice(c, def, kind);
}

bool ScatterPlanner::slice(ScatteredAdd& c, OpId id, SliceKind kind) {
  // At a point of the places what these alone decide is computed once.
  if (kind == SliceKind::Value && !c.isAhead && isPlacedByAll(c, id)) kind = SliceKind::Placing;
  std::unordered_set<OpId>& ops = kind == SliceKind::Value ? c.value : c.placing;
  if (ops.contains(id) || c.keeps.contains(id)) return true;
  if (kind == SliceKind::Value && isExpensiveOutside(c, id)) return keep(c, id);
  if (kind == SliceKind::Placing && mayFail(id) && levelOf_.at(uses_.regionOf(id)) >= free_) return false;
  ops.insert(id);
  auto isAcc = [&](ValueId v) { return types().kind(fn().typeOf(v)) == TypeKind::Acc; };
  bool ok = true;
  auto take = [&](OpId at) {
    ok = ok && std::ranges::none_of(op(at).results, isAcc);
    for (size_t k = 0; ok && k < op(at).operands.size(); ++k)
      ok = !isAcc(op(at).operands[k]) && slice(c, op(at).operands[k], kind);
  };
  take(id);
  for (RegionId r : op(id).regions) forEachOp(fn(), r, take);
  for (DimSym s : sizesFor(id)) ok = ok && slice(c, types().dims.symbol(s), kind);
  return ok;
}

bool ScatterPlanner::slice(ScatteredAdd& c, DimId d, SliceKind kind) {
  std::vector<DimSym> symbols;
  types().dims.collectSymbols(d, symbols);
  return std::ranges::all_of(symbols, [&](DimSym s) {
    if (!insideDims_.contains(s)) return true;
    const auto by = definedBy_.find(s);
    return by != definedBy_.end() && slice(c, by->second, kind);
  });
}

/// Whether the new nest would compute an expensive op more often than now: once for each point of inner
/// nests, or for each element of the added row. A nest that collects the row computes each element once
/// anyway.
bool ScatterPlanner::isExpensiveOutside(const ScatteredAdd& c, OpId id) const {
  const bool addsWholeRows = c.elements.empty() || (c.isAhead && !c.isSum);
  const bool isRepeated =
      levelOf_.at(uses_.regionOf(id)) < innermost_ || (!addsWholeRows && !collectsRow(c, id));
  return isRepeated && isExpensive(Costs(m_, fn()).ofOp(id));
}

/// Whether an op is a nest that makes the added row, element by element.
bool ScatterPlanner::collectsRow(const ScatteredAdd& c, OpId id) const {
  if (op(id).kind != OpKind::Nest || op(id).results.size() != 1 || nestAccs(op(id)) > 0) return false;
  return op(id).results[0] == op(c.site.add).operands[1] && op(id).resultDims.empty() &&
         types().isScalar(fn().typeOf(terminator(fn(), op(id).regions[0]).operands[0]));
}

/// Of the outermost body the nest as it is gives what is expensive.
bool ScatterPlanner::keep(ScatteredAdd& c, OpId id) const {
  if (levelOf_.at(uses_.regionOf(id)) > 0 || !op(id).resultDims.empty()) return false;
  for (ValueId v : op(id).results) {
    std::vector<DimSym> symbols;
    types().collectSymbols(fn().typeOf(v), symbols);
    if (!isOutside(symbols) || types().kind(fn().typeOf(v)) == TypeKind::Acc) return false;
    if (uses_.used(v)) c.kept.push_back(v);
  }
  c.keeps.insert(id);
  return true;
}

} // namespace melix::transforms
