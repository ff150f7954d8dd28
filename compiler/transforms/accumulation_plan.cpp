#include "transforms/accumulation_plan.h"

#include "core/ranges.h"
#include "core/sizes.h"
#include "core/walk.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace melix::transforms {

using namespace core;

DimId Conversion::extentOf(ValueId axis) const {
  return extents[static_cast<size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin())];
}

bool Conversion::mayMissPoints() const {
  return !ends.empty() || std::ranges::any_of(site.levels, [](const SiteLevel& level) {
    return level.kind == SiteLevel::Kind::Arm;
  });
}

// --- what is inside of the nest
// --------------------------------------------------------------------------------

AccumulationPlanner::AccumulationPlanner(Module& m, FunctionId f, const Uses& uses, OpId nest)
    : m_(m), f_(f), uses_(uses) {
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

// --- the place as forms of the axes
// ----------------------------------------------------------------------------

bool AccumulationPlanner::plan(Conversion& c) {
  AffineIndices indices;
  return takeAxes(c) && placeIndices(c, indices) && solve(c, indices) && slice(c);
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

/// An axis whose number of points is a form of those around it.
bool AccumulationPlanner::takeRaggedAxis(Conversion& c, ValueId axis, DimId extent) const {
  const std::optional<AffineIndex> end = affine(c, extent);
  if (!end) return false;
  const DimId most = bound(c, *end);
  if (!most.valid()) return false;
  c.ends[axis] = *end;
  c.axes.push_back(axis);
  c.extents.push_back(most);
  return true;
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

/// An affine form for each axis of the accumulator; slices and whole axes bring axes of their own.
bool AccumulationPlanner::placeIndices(Conversion& c, AffineIndices& indices) {
  const Op& add = fn().ops[c.site.add];
  const types::Type& t = types()[types()[fn().typeOf(add.operands[0])].parts[0]];
  size_t operand = 2;
  for (const PathStep& s : add.as<Path>()) {
    if (s.kind == StepKind::Index) {
      indices.push_back(affine(c, add.operands[operand++]));
    } else if (s.kind == StepKind::Slice) {
      auto start = affine(c, add.operands[operand++]);
      if (!outsideDim(s.length)) return false;
      ValueId q = newAxis(c, s.length);
      if (start) start->axes[q] += s.step;
      indices.push_back(start);
    } else if (s.kind == StepKind::All) {
      indices.push_back(wholeAxis(c, t.dims[indices.size()]));
    } else {
      return false;
    }
  }
  while (indices.size() < t.dims.size()) indices.push_back(wholeAxis(c, t.dims[indices.size()]));
  return std::all_of(t.dims.begin(), t.dims.end(), [&](DimId d) { return outsideDim(d); }) &&
         std::all_of(indices.begin(), indices.end(), [](const auto& i) { return i.has_value(); });
}

ValueId AccumulationPlanner::newAxis(Conversion& c, DimId extent) {
  ValueId q = fn().values.add(Value{types().int64(), {}, {}, 0, {}});
  c.axes.push_back(q);
  c.extents.push_back(extent);
  c.element.push_back(q);
  return q;
}

std::optional<AffineIndex> AccumulationPlanner::wholeAxis(Conversion& c, DimId extent) {
  AffineIndex i;
  i.axes[newAxis(c, extent)] = 1;
  return i;
}

std::optional<AffineIndex> AccumulationPlanner::affine(const Conversion& c, ValueId v) const {
  std::optional<AffineIndex> form = affineIndex(
      m_, fn(), v, [&](ValueId x) { return std::find(c.axes.begin(), c.axes.end(), x) != c.axes.end(); },
      [&](ValueId x) { return outside(x); });
  if (!form) return std::nullopt;
  const std::map<DimId, int64_t> dims = std::exchange(form->dims, {});
  for (auto [d, factor] : dims) {
    const std::optional<AffineIndex> opened = affine(c, d);
    if (!opened) return std::nullopt;
    accumulate(*form, *opened, factor);
  }
  return form;
}

/// Of a size, in place of those from inside the numbers that they are.
std::optional<AffineIndex> AccumulationPlanner::affine(const Conversion& c, DimId d) const {
  types::DimStore& dims = types().dims;
  AffineIndex form;
  const std::vector<types::DimTerm> terms = dims.terms(d);
  for (const types::DimTerm& term : terms) {
    if (term.factors.size() != 1 || dims.atom(term.factors[0]).kind != types::DimAtomKind::Symbol) continue;
    const DimSym symbol = dims.atom(term.factors[0]).symbol;
    const auto number = boundTo_.find(symbol);
    if (number == boundTo_.end()) continue;
    const std::optional<AffineIndex> opened = affine(c, number->second);
    if (!opened) return std::nullopt;
    accumulate(form, *opened, term.coefficient);
    d = dims.sub(d, dims.mul(dims.constant(term.coefficient), dims.symbol(symbol)));
  }
  if (!outsideDim(d)) return std::nullopt;
  AffineIndex rest;
  for (const types::DimTerm& term : terms)
    if (term.factors.empty()) rest.constant = term.coefficient;
  d = dims.sub(d, dims.constant(rest.constant));
  if (dims.asConstant(d) != 0) rest.dims[d] = 1;
  accumulate(form, rest, 1);
  return form;
}

// --- solved for axes
// -------------------------------------------------------------------------------------------

bool AccumulationPlanner::solve(Conversion& c, const AffineIndices& indices) const {
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
bool AccumulationPlanner::isThere(const Conversion& c, size_t axis) const {
  const Op& add = fn().ops[c.site.add];
  const Path& path = add.as<Path>();
  const auto isIndexed = [](const PathStep& s) { return s.kind != StepKind::All; };
  if (axis >= path.size() || path[axis].kind != StepKind::Index) return false;
  const auto before = std::count_if(path.begin(), path.begin() + static_cast<ptrdiff_t>(axis), isIndexed);
  const DimId extent = types()[types()[fn().typeOf(add.operands[0])].parts[0]].dims[axis];
  return Ranges(m_, fn()).isIndex(add.operands[2 + static_cast<size_t>(before)], extent);
}

/// For the outermost axis that stands in this index alone.
bool AccumulationPlanner::solveIndex(const Conversion& c, Solved& s, std::map<ValueId, int>& uses) const {
  const AffineIndex& i = s.index;
  if (i.axes.empty()) return true;
  if (solveRagged(c, s, uses)) return true;
  for (ValueId a : c.axes) {
    auto at = i.axes.find(a);
    if (at == i.axes.end() || (uses[a] != 1 && !i.isAxis()) || (at->second != 1 && at->second != -1))
      continue;
    if (i.axes.size() > 1 && (radix(c, i, uses, s) || stride(a, uses, s))) return true;
    s.kind = Solved::Kind::Unit;
    s.axis = a;
    s.sign = at->second;
    return true;
  }
  return radix(c, i, uses, s);
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
bool AccumulationPlanner::stride(ValueId rest, std::map<ValueId, int>& uses, Solved& s) const {
  constexpr int64_t longest = 1 << 12; // an extent has fewer than 2^48 points
  const int64_t sign = s.index.axes.at(rest);
  int64_t best = longest;
  for (auto [axis, factor] : s.index.axes) {
    if (axis == rest || uses[axis] != 1 || factor <= -best || factor >= best || std::abs(factor) < 2)
      continue;
    best = std::abs(factor);
    s.axis = axis;
    s.radix = sign * factor;
  }
  if (best == longest) return false;
  s.kind = Solved::Kind::Stride;
  s.sign = sign;
  s.rest = rest;
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

static bool structured(const Op& o) { return !o.regions.empty() || o.kind == OpKind::Call; }

/// The ops that the added value needs; dear ones of the outermost body are kept by the first nest instead.
bool AccumulationPlanner::slice(Conversion& c) const {
  Needed needed;
  needed.values.insert(fn().ops[c.site.add].operands[1].index);
  for (const SiteLevel& level : c.site.levels)
    if (level.kind == SiteLevel::Kind::Arm) needed.values.insert(fn().ops[level.op].operands[0].index);
  for (size_t l = c.site.levels.size(); l-- > 0;)
    if (!sliceLevel(c, l, needed)) return false;
  return dimsCopied(c);
}

bool AccumulationPlanner::sliceLevel(Conversion& c, size_t level, Needed& needed) const {
  const std::vector<OpId>& ops = fn().regions[c.site.levels[level].region].ops;
  for (size_t i = ops.size(); i-- > 0;) {
    const Op& o = fn().ops[ops[i]];
    bool wanted = false;
    for (ValueId r : o.results) wanted |= needed.values.count(r.index) != 0;
    for (DimSym s : o.resultDims) wanted |= needed.dims.count(s.index) != 0;
    if (!wanted) continue;
    if (dear(o) && level == 0) {
      for (ValueId r : o.results) {
        if (!needed.values.count(r.index)) continue;
        if (!outsideType(fn().typeOf(r)) || types().kind(fn().typeOf(r)) == TypeKind::Acc) return false;
        c.kept.push_back(r);
      }
      continue;
    }
    if (structured(o) && level + 1 < c.site.levels.size()) return false;
    if (!isSeparable(fn(), types(), uses_, ops[i])) return false;
    c.slice.insert(ops[i].index);
    if (o.kind == OpKind::DimValue && !outsideDim(o.dims[0]))
      if (std::optional<AffineIndex> form = affine(c, o.dims[0])) {
        c.sizes[o.results[0]] = std::move(*form);
        continue;
      }
    need(o, needed);
    for (RegionId inner : o.regions) forEachOp(fn(), inner, [&](OpId x) { need(fn().ops[x], needed); });
  }
  return true;
}

void AccumulationPlanner::need(const Op& op, Needed& needed) const {
  for (ValueId v : op.operands)
    if (types().kind(fn().typeOf(v)) != TypeKind::Acc) needed.values.insert(v.index);
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
