#include "transforms/accumulation_plan.h"

#include "core/ranges.h"
#include "core/sizes.h"
#include "core/walk.h"
#include "transforms/accumulation_nests.h"
#include "transforms/cost.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace melix::transforms {

using namespace core;

DimId Conversion::extentOf(ValueId axis) const {
  return extents[static_cast<size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin())];
}

DimId ceilDiv(types::DimStore& dims, DimId n, DimId by) {
  return dims.floorDiv(dims.add(n, dims.sub(by, dims.constant(1))), by);
}

DimId Conversion::steps(types::DimStore& dims, const Solved& s) const {
  return ceilDiv(dims, extentOf(s.rest), dims.constant(std::abs(s.radix)));
}

bool Conversion::isWhole(ValueId axis) const {
  return !ends.contains(axis) && !found.contains(axis) &&
         std::ranges::none_of(divided, [&](const Divided& d) {
           return !d.isWhole && (d.quotient == axis || d.remainder == axis);
         });
}

bool Conversion::looksForElement() const {
  return std::ranges::any_of(target, [&](const Solved& s) { return found.contains(s.axis); });
}

bool Conversion::isSolved(ValueId axis) const {
  return std::ranges::any_of(target, [&](const Solved& s) { return s.axis == axis || s.rest == axis; }) ||
         std::ranges::any_of(divided, [&](const Divided& d) { return d.axis == axis; });
}

bool Conversion::mayMissPoints() const {
  return !ends.empty() || std::ranges::any_of(site.levels, [](const SiteLevel& level) {
    return level.kind == SiteLevel::Kind::Arm;
  });
}

// --- what is inside of the nest
// --------------------------------------------------------------------------------

AccumulationPlanner::AccumulationPlanner(Module& m, FunctionId f, const Uses& uses,
                                         const Undefined& undefined, OpId nest)
    : m_(m), f_(f), uses_(uses), undefined_(undefined), ranges_(m, m.functions[f]) {
  for (RegionId r : fn().ops[nest].regions) {
    enter(r);
    forEachOp(fn(), r, [&](OpId o) {
      insideOps_.insert(o.index);
      for (DimSym s : fn().ops[o].resultDims) insideDims_.insert(s.index);
      if (fn().ops[o].kind == OpKind::BindDim) boundTo_[fn().ops[o].resultDims[0]] = fn().ops[o].operands[0];
      for (RegionId inner : fn().ops[o].regions) enter(inner);
    });
  }
}

void AccumulationPlanner::enter(RegionId r) {
  for (ValueId p : fn().regions[r].params) insideParams_.insert(p.index);
  for (DimSym s : fn().regions[r].dimParams) insideDims_.insert(s.index);
}

bool AccumulationPlanner::outside(ValueId v) const {
  OpId def = fn().values[v].def;
  return def.valid() ? !insideOps_.count(def.index) : !insideParams_.count(v.index);
}

bool AccumulationPlanner::allOutside(const std::vector<DimSym>& symbols) const {
  return std::none_of(symbols.begin(), symbols.end(),
                      [&](DimSym s) { return insideDims_.count(s.index) != 0; });
}

bool AccumulationPlanner::outsideDim(DimId d) const {
  std::vector<DimSym> symbols;
  types().dims.collectSymbols(d, symbols);
  return allOutside(symbols);
}

bool AccumulationPlanner::outsideType(TypeId t) const {
  std::vector<DimSym> symbols;
  types().collectSymbols(t, symbols);
  return allOutside(symbols);
}

// --- the axes of the nests around the add
// ------------------------------------------------------------------------

bool AccumulationPlanner::plan(Conversion& c) {
  AffineIndices indices;
  if (!takeAxes(c)) return false;
  c.points = types().dims.product(c.extents);
  return placeIndices(c, indices) && solve(c, indices) && isDense(c) && slice(c);
}

/// The axes of all nests around the add.
bool AccumulationPlanner::takeAxes(Conversion& c) const {
  for (const SiteLevel& level : c.site.levels) {
    if (level.kind != SiteLevel::Kind::Nest) continue;
    const Op& n = fn().ops[level.op];
    for (size_t a = 0; a < n.dims.size(); ++a) {
      const ValueId axis = fn().regions[n.regions[0]].params[a];
      if (!outsideDim(n.dims[a])) {
        if (!takeRaggedAxis(c, axis, n.dims[a])) return false;
        continue;
      }
      c.axes.push_back(axis);
      c.extents.push_back(n.dims[a]);
    }
  }
  return true;
}

/// An axis whose number of points is a form of those around it, or the least of some.
bool AccumulationPlanner::takeRaggedAxis(Conversion& c, ValueId axis, DimId extent) const {
  DimId most;
  std::vector<AffineIndex> ends;
  for (DimId d : leastOf(extent)) {
    const std::optional<AffineIndex> end = affine(c, d);
    const DimId last = end ? bound(c, *end) : DimId();
    if (!last.valid()) return false;
    most = most.valid() ? types().dims.min(most, last) : last;
    ends.push_back(*end);
  }
  c.ends[axis] = std::move(ends);
  c.axes.push_back(axis);
  c.extents.push_back(most);
  return true;
}

/// The dimensions of which it is the least, if it is that of some, and something.
std::vector<DimId> AccumulationPlanner::leastOf(DimId d) const {
  types::DimStore& dims = types().dims;
  std::vector<DimId> sides;
  for (const types::DimTerm& term : dims.terms(d)) {
    if (term.coefficient != 1 || term.factors.size() != 1) continue;
    const types::DimAtom& atom = dims.atom(term.factors[0]);
    if (atom.kind != types::DimAtomKind::Min) continue;
    if (!sides.empty()) return {d};
    sides = atom.args;
  }
  if (sides.empty()) return {d};
  DimId least = sides[0];
  for (DimId side : sides) least = dims.min(least, side);
  const DimId rest = dims.sub(d, least);
  for (DimId& side : sides) side = dims.add(side, rest);
  return sides;
}

/// What a form of axes is not more than, if that is a size outside.
DimId AccumulationPlanner::bound(const Conversion& c, const AffineIndex& end) const {
  types::DimStore& dims = types().dims;
  if (!end.outside.empty()) return {};
  DimId sum = dims.constant(end.constant);
  for (auto [d, factor] : end.dims) sum = dims.add(sum, dims.mul(dims.constant(factor), d));
  for (auto [axis, factor] : end.axes) {
    if (factor < 0) continue; // at its least
    const DimId last = dims.sub(c.extentOf(axis), dims.constant(1));
    sum = dims.add(sum, dims.mul(dims.constant(factor), last));
  }
  return dims.atLeast(sum, 0) ? sum : dims.max(sum, dims.constant(0));
}

// --- solved for axes
// -------------------------------------------------------------------------------------------

bool AccumulationPlanner::solve(Conversion& c, const AffineIndices& indices) {
  std::map<ValueId, int> uses;
  for (const auto& i : indices)
    for (auto [a, k] : i->axes) ++uses[a];
  // What an index is alone tells an axis, also where others are made of it; two such are a diagonal.
  std::map<ValueId, int> alone;
  for (const auto& i : indices)
    if (i->isAxis()) ++alone[i->axes.begin()->first];
  for (auto [a, k] : alone)
    if (k > 1) return false;
  for (const auto& i : indices) {
    Solved s;
    s.index = *i;
    if (!solveIndex(c, s, uses)) return false;
    // A place without axes may not exist if no point reaches it.
    if (s.kind == Solved::Kind::Fixed && c.mayMissPoints() && !isThere(c, c.target.size())) return false;
    c.target.push_back(s);
  }
  // What is left in an index beside the axis solved for must be free, or solved by another index on its
  // own.
  for (const Solved& s : c.target)
    for (auto [a, k] : s.index.axes) {
      if (s.kind == Solved::Kind::Fixed || a == s.axis || a == s.rest) continue;
      for (const Solved& other : c.target)
        if ((other.axis == a || other.rest == a) && !other.index.isAxis()) return false;
    }
  return true;
}

/// Whether an index of the place is in range wherever the nest stands.
bool AccumulationPlanner::isThere(const Conversion& c, size_t axis) {
  const Op& add = fn().ops[c.site.add];
  const Path& path = add.as<Path>();
  const auto isIndexed = [](const PathStep& s) { return s.kind != StepKind::All; };
  if (axis >= path.size() || path[axis].kind != StepKind::Index) return false;
  const auto before = std::count_if(path.begin(), path.begin() + static_cast<ptrdiff_t>(axis), isIndexed);
  const DimId extent = types()[types()[fn().typeOf(add.operands[0])].parts[0]].dims[axis];
  return ranges_.isIndex(add.operands[2 + static_cast<size_t>(before)], extent);
}

/// For the axis of most points that stands in this index alone: what is left is summed over.
bool AccumulationPlanner::solveIndex(const Conversion& c, Solved& s, std::map<ValueId, int>& uses) {
  const AffineIndex& i = s.index;
  if (i.axes.empty()) return true;
  if (solveRagged(c, s, uses)) return true;
  ValueId longest;
  for (ValueId a : c.axes) {
    auto at = i.axes.find(a);
    const bool isUnit = at != i.axes.end() && (uses[a] == 1 || i.isAxis()) && std::abs(at->second) == 1;
    if (isUnit && (!longest.valid() || hasMorePoints(c, a, longest))) longest = a;
  }
  if (!longest.valid()) return radix(c, i, uses, s) || multiple(c, uses, s);
  if (i.axes.size() > 1 && (radix(c, i, uses, s) || stride(c, longest, uses, s))) return true;
  s.kind = Solved::Kind::Unit;
  s.axis = longest;
  s.sign = i.axes.at(longest);
  return true;
}

/// For the longest axis with a small factor, of which few places are a multiple.
bool AccumulationPlanner::multiple(const Conversion& c, std::map<ValueId, int>& uses, Solved& s) {
  constexpr int64_t largest = 16;
  for (auto [axis, factor] : s.index.axes) {
    if (uses[axis] != 1 || std::abs(factor) > largest || c.ends.contains(axis)) continue;
    if (s.axis.valid() && !hasMorePoints(c, axis, s.axis)) continue;
    s.kind = Solved::Kind::Multiple;
    s.axis = axis;
    s.radix = std::abs(factor);
    s.sign = factor > 0 ? 1 : -1;
  }
  return s.kind == Solved::Kind::Multiple;
}

/// Of two that cannot be compared, the outer one; one that is not known has many.
bool AccumulationPlanner::hasMorePoints(const Conversion& c, ValueId a, ValueId b) {
  const std::optional<int64_t> left = types().dims.asConstant(c.extentOf(a)),
                               right = types().dims.asConstant(c.extentOf(b));
  if (left && right) return *left > *right;
  if (left || right) return right.has_value();
  return std::ranges::find(c.axes, a) < std::ranges::find(c.axes, b);
}

/// For an axis that begins or ends where others are: what is left are these, and not the distance to them.
bool AccumulationPlanner::solveRagged(const Conversion& c, Solved& s, std::map<ValueId, int>& uses) {
  for (auto [a, factor] : s.index.axes) {
    if (!c.ends.contains(a) || uses[a] != 1 || (factor != 1 && factor != -1)) continue;
    s.kind = Solved::Kind::Unit;
    s.axis = a;
    s.sign = factor;
    return true;
  }
  return false;
}

/// c·a + b with 0 <= b < extent(b) <= c, where it does not wrap: else several (a, b) may have one index.
bool AccumulationPlanner::radix(const Conversion& c, const AffineIndex& i, std::map<ValueId, int>& uses,
                                Solved& s) const {
  if (i.axes.size() != 2 || !i.outside.empty() || !i.dims.empty() || i.constant != 0) return false;
  std::pair<ValueId, int64_t> first = *i.axes.begin(), second = *std::next(i.axes.begin());
  if (second.second != 1) std::swap(first, second);
  if (second.second != 1 || first.second <= 1 || uses[first.first] != 1 || uses[second.first] != 1)
    return false;
  if (c.ends.contains(first.first) || c.ends.contains(second.first)) return false;
  auto extent = types().dims.asConstant(c.extentOf(second.first));
  if (!extent || *extent > first.second) return false;
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  if (types().dims.asConstant(c.extentOf(first.first)).value_or(types::maxExtent) > most / first.second - 1)
    return false;
  s.kind = Solved::Kind::Radix;
  s.axis = first.first;
  s.rest = second.first;
  s.radix = first.second;
  return true;
}

/// Steps of an axis beside `rest`, which has the factor 1 or -1: of the axes for which nothing wraps that
/// with the smallest step. Solved for `rest` alone, every step would be a term, and few of them in range.
bool AccumulationPlanner::stride(const Conversion& c, ValueId rest, std::map<ValueId, int>& uses, Solved& s) {
  constexpr int64_t longest = 1 << 12; // an extent has fewer than 2^48 points
  Solved out;
  out.kind = Solved::Kind::Stride;
  out.index = s.index;
  out.sign = s.index.axes.at(rest);
  out.rest = rest;
  int64_t best = longest;
  for (auto [axis, factor] : s.index.axes) {
    if (axis == rest || uses[axis] != 1 || factor <= -best || factor >= best || std::abs(factor) < 2)
      continue;
    best = std::abs(factor);
    out.axis = axis;
    out.radix = out.sign * factor;
  }
  if (best == longest || hasFewerSteps(c, out)) return false;
  s = out;
  return true;
}

/// Whether fewer steps are made than there are points of the rest with one remainder, as where a window is
/// spread over more than it holds. Of two that cannot be compared, a window has the inner axis.
bool AccumulationPlanner::hasFewerSteps(const Conversion& c, const Solved& stride) {
  const std::optional<int64_t> all = types().dims.asConstant(c.extentOf(stride.axis)),
                               some = types().dims.asConstant(c.steps(types().dims, stride));
  if (all && some) return *all <= *some;
  if (all || some) return all.has_value();
  return std::ranges::find(c.axes, stride.rest) < std::ranges::find(c.axes, stride.axis);
}

/// Whether there are few terms for each point, or none but one for each element of the accumulator: a place
/// that is found is looked for among all that it can be, and few places are a multiple.
bool AccumulationPlanner::isDense(const Conversion& c) const {
  constexpr int64_t most = 32; ///< terms for a point
  int64_t terms = 1;
  auto times = [&](DimId d) {
    const int64_t extent = std::min(most + 1, types().dims.asConstant(d).value_or(most + 1));
    terms = std::min(most + 1, terms * extent);
  };
  bool addsUp = false, addsBeside = false; // what is added up, and that along axes which no place asks for
  bool isMultiple = false;
  std::unordered_set<ValueId> asked;
  for (const Solved& s : c.target) {
    isMultiple |= s.kind == Solved::Kind::Multiple;
    for (auto [axis, factor] : s.index.axes) asked.insert(axis);
    times(types().dims.constant(std::abs(s.radix)));
    if (s.kind == Solved::Kind::Stride) times(c.steps(types().dims, s));
  }
  for (ValueId axis : c.axes) {
    if (c.isSolved(axis)) continue;
    if (c.found.contains(axis))
      times(c.extentOf(axis));
    else if (maySum(types().dims, c.extentOf(axis)))
      (asked.contains(axis) ? addsUp : addsBeside) = true;
  }
  addsUp |= addsBeside;
  if (!c.divided.empty() && !(addsUp && areQuotientsFew(c))) return false;
  if (isMultiple && !addsBeside) return false;
  if (c.found.empty() && !isMultiple) return true;
  return terms <= most && !(addsUp && c.looksForElement());
}

/// Whether quotients and remainders have about as many pairs as what they stand for has points: all, or few
/// more at the ends of one axis. Each of the others that the place does not tell is a term.
bool AccumulationPlanner::areQuotientsFew(const Conversion& c) const {
  constexpr int64_t small = 16, fewQuotients = 4;
  int inPart = 0;
  for (const Divided& d : c.divided) {
    if (d.isWhole) continue;
    if (++inPart > 1 || !d.rest.axes.empty()) return false;
    const bool isShifted = !d.rest.outside.empty() || !d.rest.dims.empty();
    const std::optional<int64_t> by = types().dims.asConstant(d.by),
                                 extent = types().dims.asConstant(c.extentOf(d.axis)),
                                 quotients = types().dims.asConstant(c.extentOf(d.quotient));
    if (c.isSolved(d.remainder)) {
      if (isShifted && quotients.value_or(fewQuotients + 1) > fewQuotients) return false;
    } else if (isShifted || !by || (*by > small && *by > extent.value_or(0))) {
      return false;
    }
  }
  return true;
}

// --- what is copied
// --------------------------------------------------------------------------------------------

static bool dear(const Op& o) {
  switch (o.kind) {
  case OpKind::Nest:
  case OpKind::For:
  case OpKind::While:
  case OpKind::Call:
  case OpKind::If:
  case OpKind::Match:
  case OpKind::Math:
  case OpKind::Div:
  case OpKind::Sqrt:
  case OpKind::CastDims:
  case OpKind::Builtin: return true;
  default: return false;
  }
}

constexpr uint32_t mostMadeAgain = 4 * mathFlops; ///< operations of one number

static bool structured(const Op& o) { return !o.regions.empty() || o.kind == OpKind::Call; }

/// Whether it chooses between what is soon made again, at each point of the nests inside.
static bool isPlainBranch(const Function& f, const Op& o) {
  return o.kind == OpKind::If && std::ranges::all_of(o.regions, [&](RegionId r) {
           return std::ranges::none_of(f.regions[r].ops, [&](OpId inner) { return dear(f.ops[inner]); });
         });
}

bool isSoonMadeRow(const types::TypeStore& types, const Function& f, const Op& o) {
  if (o.kind != OpKind::Nest || nestAccs(o) > 0 || o.results.size() != 1) return false;
  const NestResult& r = nestResults(o)[0];
  return r.kind == NestResultKind::Collect && r.keep == collecting(o.dims.size()).keep &&
         types.isScalar(f.typeOf(terminator(f, o.regions[0]).operands[0])) &&
         std::ranges::none_of(f.regions[o.regions[0]].ops, [&](OpId inner) { return dear(f.ops[inner]); });
}

/// The ops that the added value needs; dear ones of the outermost body are kept by the first nest instead,
/// and numbers that rows are made of.
bool AccumulationPlanner::slice(Conversion& c) const {
  Needed needed;
  needed.values.insert(fn().ops[c.site.add].operands[1].index);
  for (const auto& [axis, place] : c.found) needed.values.insert(place.index);
  for (const SiteLevel& level : c.site.levels)
    if (level.kind == SiteLevel::Kind::Arm) needed.values.insert(fn().ops[level.op].operands[0].index);
  for (size_t l = c.site.levels.size(); l-- > 0;)
    if (!sliceLevel(c, l, needed)) return false;
  return dimsCopied(c);
}

/// Whether those ops of a body that are copied read a row of it element by element, in rows.
bool AccumulationPlanner::isReadByRows(const Conversion& c, OpId row, RegionId body,
                                       const std::unordered_set<RegionId>& rows) const {
  bool is = true;
  uses_.forEach(fn().ops[row].results[0], [&](Use use) {
    const OpId user = uses_.ancestorIn(body, use.op);
    if (!user.valid() || !c.slice.contains(user.index)) return;
    const Op& by = fn().ops[use.op];
    is = is && rows.contains(uses_.regionOf(use.op)) && by.kind == OpKind::Get && use.operand == 0 &&
         types().isScalar(fn().typeOf(by.results[0]));
  });
  return is;
}

bool AccumulationPlanner::sliceLevel(Conversion& c, size_t level, Needed& needed) const {
  const std::vector<OpId>& ops = fn().regions[c.site.levels[level].region].ops;
  std::unordered_set<RegionId> rows; // that the added one is made of, and its own
  for (size_t i = ops.size(); i-- > 0;) {
    const Op& o = fn().ops[ops[i]];
    bool wanted = false;
    for (ValueId r : o.results) wanted |= needed.values.count(r.index) != 0;
    for (DimSym s : o.resultDims) wanted |= needed.dims.count(s.index) != 0;
    if (!wanted) continue;
    const bool isAdded = o.results.size() == 1 && o.results[0] == fn().ops[c.site.add].operands[1];
    if (isAdded && level + 1 == c.site.levels.size() && isSoonMadeRow(types(), fn(), o)) c.row = ops[i];
    const bool isOfRow = c.row == ops[i] || (!rows.empty() && isSoonMadeRow(types(), fn(), o) &&
                                             isReadByRows(c, ops[i], c.site.levels[level].region, rows));
    if (isOfRow) rows.insert(o.regions[0]);
    if (dear(o) && level == 0 && !isOfRow && !isMadeOfLess(c, ops[i])) {
      for (ValueId r : o.results) {
        if (!needed.values.count(r.index)) continue;
        if (!outsideType(fn().typeOf(r)) || types().kind(fn().typeOf(r)) == TypeKind::Acc) return false;
        if (undefined_.mayBe(f_, r)) return false; // what no arm made is not there to be kept
        c.kept.push_back(r);
      }
      continue;
    }
    if (structured(o) && level + 1 < c.site.levels.size() && !isPlainBranch(fn(), o)) return false;
    if (!isSeparable(fn(), types(), uses_, ops[i])) return false;
    c.slice.insert(ops[i].index);
    if (o.kind == OpKind::DimValue && !outsideDim(o.dims[0]))
      if (std::optional<AffineIndex> form = affine(c, o.dims[0])) {
        c.sizes[o.results[0]] = std::move(*form);
        continue;
      }
    if (isOfRow && level == 0) keepNumbers(c, o, needed);
    need(o, needed);
    for (RegionId inner : o.regions) forEachOp(fn(), inner, [&](OpId x) { need(fn().ops[x], needed); });
  }
  return true;
}

/// Whether a number is made, by a few elementary functions at most, of arrays each of which has fewer axes
/// than the nest where all the levels are one: kept at all points it would be more to read than what it is
/// made of.
bool AccumulationPlanner::isMadeOfLess(const Conversion& c, OpId op) const {
  const SiteLevel& level = c.site.levels[0];
  if (c.site.levels.size() > 1) return false;
  std::unordered_set<OpId> seen;
  const Costs costs(m_, fn());
  uint32_t flops = 0;
  auto made = [&](auto& self, OpId id) -> bool {
    if (!seen.insert(id).second) return true;
    const Op& o = fn().ops[id];
    const bool isNumber = o.results.size() == 1 && o.regions.empty() && o.kind != OpKind::Call &&
                          o.kind != OpKind::Builtin && types().isScalar(fn().typeOf(o.results[0]));
    flops += costs.ofOp(id).flops;
    if (!isNumber || flops > mostMadeAgain || seen.size() > mostMadeAgain) return false;
    if (o.kind == OpKind::Get && !readsLess(o, level)) return false;
    return std::ranges::all_of(o.operands, [&](ValueId v) {
      const Value& value = fn().values[v];
      if (!value.def.valid()) return true; // an axis, or from outside
      return uses_.regionOf(value.def) != level.region || self(self, value.def);
    });
  };
  return made(made, op);
}
/// Whether a read is at some of the axes of a nest alone, of an array that was there.
bool AccumulationPlanner::readsLess(const Op& get, const SiteLevel& nest) const {
  std::unordered_set<ValueId> axes;
  for (size_t k = 1; k < get.operands.size(); ++k) {
    const Value& index = fn().values[get.operands[k]];
    if (index.def.valid()) return false;
    if (index.region == nest.region) axes.insert(get.operands[k]);
  }
  return axes.size() < fn().ops[nest.op].dims.size();
}

/// Numbers that the points around a row compute for it: what its elements read of arrays is read there.
void AccumulationPlanner::keepNumbers(Conversion& c, const Op& row, Needed& needed) const {
  const RegionId around = c.site.levels[0].region;
  forEachOp(fn(), row.regions[0], [&](OpId inner) {
    for (ValueId v : fn().ops[inner].operands) {
      const Value& value = fn().values[v];
      if (!value.def.valid() || value.region != around || !types().isFloat(fn().typeOf(v))) continue;
      const OpKind kind = fn().ops[value.def].kind;
      const bool isRead = kind == OpKind::Get || kind == OpKind::Const;
      if (!isRead && !undefined_.mayBe(f_, v) && needed.kept.insert(v.index).second) c.kept.push_back(v);
    }
  });
}

void AccumulationPlanner::need(const Op& op, Needed& needed) const {
  for (ValueId v : op.operands)
    if (types().kind(fn().typeOf(v)) != TypeKind::Acc && !needed.kept.contains(v.index))
      needed.values.insert(v.index);
  for (DimSym s : sizesOf(m_, fn(), op)) needed.dims.insert(s.index);
}

/// Whether every size from inside the nest that the copied ops mention is decided by one of them.
bool AccumulationPlanner::dimsCopied(const Conversion& c) const {
  std::unordered_set<uint32_t> copied;
  std::vector<DimSym> symbols;
  auto scan = [&](OpId id) {
    const Op& o = fn().ops[id];
    for (DimSym s : o.resultDims) copied.insert(s.index);
    for (RegionId r : o.regions)
      for (DimSym s : fn().regions[r].dimParams) copied.insert(s.index);
    const std::vector<DimSym> own = sizesOf(m_, fn(), o);
    symbols.insert(symbols.end(), own.begin(), own.end());
  };
  for (uint32_t i : c.slice) {
    const Op& op = fn().ops[OpId(i)];
    if (op.results.size() == 1 && c.sizes.contains(op.results[0])) continue;
    scan(OpId(i));
    for (RegionId r : fn().ops[OpId(i)].regions) forEachOp(fn(), r, scan);
  }
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](DimSym s) { return !insideDims_.count(s.index) || copied.count(s.index); });
}

} // namespace melix::transforms
