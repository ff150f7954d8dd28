#include "transforms/accumulation/gather_plan.h"

#include "core/analysis/ranges.h"
#include "core/ir/walk.h"
#include "transforms/accumulation/gather_support.h"

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
    : m_(m), f_(f), uses_(uses), undefined_(undefined), ranges_(m, f) {
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
  std::vector<AffineForm> ends;
  for (DimId d : leastOf(extent)) {
    const std::optional<AffineForm> end = affine(c, d);
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
DimId AccumulationPlanner::bound(const Conversion& c, const AffineForm& end) const {
  types::DimStore& dims = types().dims;
  if (!end.outside.empty()) return {};
  const DimId sum = extremeOf(dims, end, true, [&](ValueId axis) { return c.extentOf(axis); });
  return dims.nonNegative(sum);
}

// --- solved for axes
// -------------------------------------------------------------------------------------------

bool AccumulationPlanner::solve(Conversion& c, const AffineIndices& indices) {
  std::map<ValueId, int> uses;
  for (const auto& i : indices)
    for (auto [a, k] : i->axes) ++uses[a];
  // What an index is alone determines an axis, also where others are made of it; two such are a diagonal.
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
    if (s.kind == Solved::Kind::Fixed && c.mayMissPoints() && !elementIndexIsInBounds(c, c.target.size()))
      return false;
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
bool AccumulationPlanner::elementIndexIsInBounds(const Conversion& c, size_t axis) {
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
  const AffineForm& i = s.index;
  if (i.axes.empty()) return true;
  if (solveRagged(c, s, uses)) return true;
  ValueId longest;
  for (ValueId a : c.axes) {
    auto at = i.axes.find(a);
    const bool isUnit =
        at != i.axes.end() && (uses[a] == 1 || i.isAxis()) && (at->second == 1 || at->second == -1);
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
    if (uses[axis] != 1 || factor < -largest || factor > largest || c.ends.contains(axis)) continue;
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
bool AccumulationPlanner::radix(const Conversion& c, const AffineForm& i, std::map<ValueId, int>& uses,
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
  bool addsUp = false,
       addsOverOtherAxes = false; // what is added up, and that along axes which no place asks for
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
      (asked.contains(axis) ? addsUp : addsOverOtherAxes) = true;
  }
  addsUp |= addsOverOtherAxes;
  if (!c.divided.empty() && !(addsUp && areQuotientsFew(c))) return false;
  if (isMultiple && !addsOverOtherAxes) return false;
  if (c.found.empty() && !isMultiple) return true;
  return terms <= most && !(addsUp && c.looksForElement());
}

/// Whether quotients and remainders have about as many pairs as what they stand for has points: all, or few
/// more at the ends of one axis. Each of the others that the place does not determine is a term.
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

} // namespace melix::transforms
