// The ops that an added value needs: which are copied to where it is summed, and what of them is kept
// instead.

#include "core/analysis/sizes.h"
#include "core/ir/walk.h"
#include "transforms/accumulation/gather_plan.h"
#include "transforms/accumulation/gather_support.h"
#include "transforms/analysis/cost_model.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

static bool isExpensiveOp(const Op& o) {
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

constexpr uint32_t mostRecomputedFlops = 4 * mathFlops; ///< operations of one sum
constexpr int64_t fewKept = 4096;                       ///< numbers

static bool structured(const Op& o) { return !o.regions.empty() || o.kind == OpKind::Call; }

/// Whether it chooses between what is cheap to recompute, at each point of the nests inside.
static bool isPlainBranch(const Function& f, const Op& o) {
  return o.kind == OpKind::If && std::ranges::all_of(o.regions, [&](RegionId r) {
           return std::ranges::none_of(f.regions[r].ops,
                                       [&](OpId inner) { return isExpensiveOp(f.ops[inner]); });
         });
}

/// Whether an op collects numbers, in the order of its axes.
static bool isRow(const types::TypeStore& types, const Function& f, const Op& o) {
  if (o.kind != OpKind::Nest || nestAccs(o) > 0 || o.results.size() != 1) return false;
  const NestResult& r = nestResults(o)[0];
  return r.kind == NestResultKind::Collect && r.keep == collecting(o.dims.size()).keep &&
         types.isScalar(f.typeOf(terminator(f, o.regions[0]).operands[0]));
}

bool isSoonMadeRow(const types::TypeStore& types, const Function& f, const Op& o) {
  return isRow(types, f, o) && std::ranges::none_of(f.regions[o.regions[0]].ops,
                                                    [&](OpId inner) { return isExpensiveOp(f.ops[inner]); });
}

/// The ops that the added value needs; expensive ones of the outermost body are kept by the first nest
/// instead, and numbers that rows are made of.
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

/// Whether an op reads an element of an array, in one of the regions.
bool AccumulationPlanner::readsElement(Use use, const std::unordered_set<RegionId>& regions) const {
  const Op& by = fn().ops[use.op];
  return regions.contains(uses_.regionOf(use.op)) && by.kind == OpKind::Get && use.operand == 0 &&
         types().isScalar(fn().typeOf(by.results[0]));
}

static bool isSumOfArrays(const types::TypeStore& types, const Function& f, const Op& o) {
  return (o.kind == OpKind::Add || (o.kind == OpKind::AddAt && o.as<Path>().empty())) &&
         types.kind(f.typeOf(o.results[0])) == TypeKind::Array;
}

/// Whether those ops of a body that are copied read a row of it element by element, in rows, or add it to a
/// row that is read so.
bool AccumulationPlanner::isReadByRows(const Conversion& c, OpId row, RegionId body,
                                       const std::unordered_set<RegionId>& rows) const {
  bool is = true;
  uses_.forEach(fn().ops[row].results[0], [&](Use use) {
    const OpId user = uses_.ancestorIn(body, use.op);
    const bool isTerm = c.rows.contains(use.op) && fn().ops[use.op].regions.empty();
    if (user.valid() && c.slice.contains(user.index)) is = is && (isTerm || readsElement(use, rows));
  });
  return is;
}

/// Whether all that is copied, at any level, reads a row element by element in these nests, or adds it to a
/// row that is read so, and the add none of it.
bool AccumulationPlanner::isReadWithin(const Conversion& c, OpId row,
                                       const std::unordered_set<RegionId>& nests) const {
  bool is = true;
  uses_.forEach(fn().ops[row].results[0], [&](Use use) {
    const bool isCopied =
        use.op == c.site.add || std::ranges::any_of(c.site.levels, [&](const SiteLevel& level) {
          const OpId user = uses_.ancestorIn(level.region, use.op);
          return user.valid() && c.slice.contains(user.index);
        });
    const bool isTerm = c.rows.contains(use.op) && fn().ops[use.op].regions.empty();
    is = is && (!isCopied || isTerm || readsElement(use, nests));
  });
  return is;
}

/// Whether an op collects a row by a few elementary functions, each element of which is a part of one term.
bool AccumulationPlanner::isWorkedRow(const Conversion& c, const Op& row) const {
  const Op& nest = fn().ops[c.site.levels[0].op];
  if (!isRow(types(), fn(), row) || hasFewPoints(nest) || c.axes.size() != nest.dims.size() + row.dims.size())
    return false;
  const std::vector<OpId>& ops = fn().regions[row.regions[0]].ops;
  std::unordered_set<OpId> recomputed = c.recomputed;
  recomputed.insert(ops.begin(), ops.end());
  return flopsOfAll(recomputed) <= mostRecomputedFlops && std::ranges::none_of(ops, [&](OpId id) {
           const OpKind kind = fn().ops[id].kind;
           return structured(fn().ops[id]) || kind == OpKind::Builtin || kind == OpKind::CastDims;
         });
}
uint32_t AccumulationPlanner::flopsOfAll(const std::unordered_set<OpId>& ops) const {
  const Costs costs(m_, fn());
  uint32_t flops = 0;
  for (OpId id : ops) flops += costs.ofOp(id).flops;
  return flops;
}

/// Whether an op collects a row that costs little, of other such rows and of arrays from outside each of
/// which has fewer axes than the nest and the row together, as an image has of which it is a part, or is the
/// sum of two: kept at all points it would be more to read than these.
bool AccumulationPlanner::isRowOfLess(const Conversion& c, const Op& row) const {
  const auto isOfLess = [&](ValueId v) {
    return fn().values[v].def.valid() && isRowOfLess(c, fn().ops[fn().values[v].def]);
  };
  if (isSumOfArrays(types(), fn(), row)) return std::ranges::all_of(row.operands, isOfLess);
  if (!isSoonMadeRow(types(), fn(), row) && !isWorkedRow(c, row)) return false;
  const size_t axes = fn().ops[c.site.levels[0].op].dims.size() + row.dims.size();
  return std::ranges::all_of(fn().regions[row.regions[0]].ops, [&](OpId id) {
    if (fn().ops[id].kind != OpKind::Get) return true;
    ValueId v = fn().ops[id].operands[0];
    while (!outside(v) && fn().values[v].def.valid() && fn().ops[fn().values[v].def].kind == OpKind::Get)
      v = fn().ops[fn().values[v].def].operands[0];
    return outside(v) ? types()[fn().typeOf(v)].dims.size() < axes : isOfLess(v);
  });
}

bool AccumulationPlanner::sliceLevel(Conversion& c, size_t level, Needed& needed) const {
  const std::vector<OpId>& ops = fn().regions[c.site.levels[level].region].ops;
  std::unordered_set<RegionId> rows;   // that the added one is made of, and its own
  std::unordered_set<RegionId> around; // nests that hold the add, and rows that these read
  for (size_t l = level + 1; l < c.site.levels.size(); ++l)
    if (c.site.levels[l].kind == SiteLevel::Kind::Nest) around.insert(c.site.levels[l].region);
  for (size_t i = ops.size(); i-- > 0;) {
    const Op& o = fn().ops[ops[i]];
    bool wanted = false;
    for (ValueId r : o.results) wanted |= needed.values.count(r.index) != 0;
    for (DimSym s : o.resultDims) wanted |= needed.dims.count(s.index) != 0;
    if (!wanted) continue;
    const bool isAdded = o.results.size() == 1 && o.results[0] == fn().ops[c.site.add].operands[1];
    if (isAdded && level + 1 == c.site.levels.size() && isSoonMadeRow(types(), fn(), o)) c.row = ops[i];
    const bool isMade = isSoonMadeRow(types(), fn(), o);
    const bool isOther = !rows.empty() && (isMade || isSumOfArrays(types(), fn(), o)) &&
                         isReadByRows(c, ops[i], c.site.levels[level].region, rows);
    if (isOther) c.rows.insert(ops[i]);
    const bool isOfRow = c.row == ops[i] || (isOther && isMade);
    if (isOfRow) rows.insert(o.regions[0]);
    const bool isOfInner =
        !isOfRow && !isOther && level == 0 && isRowOfLess(c, o) && isReadWithin(c, ops[i], around);
    if (isOfInner) {
      c.rows.insert(ops[i]);
      for (RegionId r : o.regions)
        c.recomputed.insert(fn().regions[r].ops.begin(), fn().regions[r].ops.end());
    }
    if (c.row == ops[i] || isOfInner) around.insert(o.regions.begin(), o.regions.end());
    if (isExpensiveOp(o) && level == 0 && !isOfRow && !isOfInner && !isMadeOfLess(c, ops[i])) {
      for (ValueId r : o.results) {
        if (!needed.values.count(r.index)) continue;
        if (!outsideType(fn().typeOf(r)) || types().kind(fn().typeOf(r)) == TypeKind::Acc) return false;
        if (undefined_.mayBe(f_, r)) return false; // what no arm made is not there to be kept
        c.kept.push_back(r);
      }
      continue;
    }
    if (structured(o) && !isOfInner && level + 1 < c.site.levels.size() && !isPlainBranch(fn(), o))
      return false;
    if (!isSeparable(fn(), types(), uses_, ops[i])) return false;
    c.slice.insert(ops[i].index);
    if (o.kind == OpKind::DimValue && !outsideDim(o.dims[0]))
      if (std::optional<AffineForm> form = affine(c, o.dims[0])) {
        c.sizes[o.results[0]] = std::move(*form);
        continue;
      }
    if ((isOfRow || isOfInner) && level == 0 && !o.regions.empty()) keepNumbers(c, o, needed);
    need(o, needed);
    for (RegionId inner : o.regions) forEachOp(fn(), inner, [&](OpId x) { need(fn().ops[x], needed); });
  }
  return true;
}

/// Whether a number is made, by a few elementary functions at most, of arrays each of which is read at fewer
/// indices than the nest has axes, and all of them together at all of these, where all the levels are one:
/// kept at all points it would be more to read than what it is made of. Windows, `x[i + a]`, are such reads.
/// Not of few points, nor of two axes of one size, whose sums by either are one nest again. What one sum
/// recomputes is a few in all.
bool AccumulationPlanner::isMadeOfLess(Conversion& c, OpId op) const {
  const SiteLevel& level = c.site.levels[0];
  const Op& nest = fn().ops[level.op];
  const bool isSquare = nest.dims.size() == 2 && nest.dims[0] == nest.dims[1];
  if (c.site.levels.size() > 1 || isSquare || hasFewPoints(nest)) return false;
  std::unordered_set<OpId> recomputed = c.recomputed;
  std::unordered_set<ValueId> axes;
  auto made = [&](auto& self, OpId id) -> bool {
    recomputed.insert(id);
    const Op& o = fn().ops[id];
    const bool isNumber = o.results.size() == 1 && o.regions.empty() && o.kind != OpKind::Call &&
                          o.kind != OpKind::Builtin && types().isScalar(fn().typeOf(o.results[0]));
    if (!isNumber || recomputed.size() > mostRecomputedFlops ||
        (o.kind == OpKind::Get && !readsLess(c, o, axes)))
      return false;
    return std::ranges::all_of(o.operands, [&](ValueId v) {
      const Value& value = fn().values[v];
      if (!value.def.valid()) return true; // an axis, or from outside
      return uses_.regionOf(value.def) != level.region || self(self, value.def);
    });
  };
  if (!made(made, op) || axes.size() != nest.dims.size()) return false;
  if (flopsOfAll(recomputed) > mostRecomputedFlops) return false;
  c.recomputed = std::move(recomputed);
  return true;
}
/// Whether what a nest keeps of its points surely lies in the nearest cache.
bool AccumulationPlanner::hasFewPoints(const Op& nest) const {
  int64_t points = 1;
  return std::ranges::all_of(nest.dims, [&](DimId d) {
    const std::optional<int64_t> extent = types().dims.asConstant(d);
    return extent && *extent <= fewKept && (points *= *extent) <= fewKept;
  });
}
/// Whether a read is at fewer indices, sums of axes, than the nest has axes; notes these.
bool AccumulationPlanner::readsLess(const Conversion& c, const Op& get,
                                    std::unordered_set<ValueId>& axes) const {
  size_t indices = 0;
  for (size_t k = 1; k < get.operands.size(); ++k) {
    const std::optional<AffineForm> index = affine(c, get.operands[k]);
    if (!index) return false;
    indices += !index->axes.empty();
    for (auto [axis, factor] : index->axes) axes.insert(axis);
  }
  return indices < fn().ops[c.site.levels[0].op].dims.size();
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
