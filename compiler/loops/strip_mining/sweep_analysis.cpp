#include "loops/strip_mining/sweep_analysis.h"

#include "loops/ir/build.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

bool isMemory(ValueType type) { return type.counted() || type.cls == ClassKind::Address; }

/// What an address was taken of.
ValueId rootOf(const Function& fn, ValueId v) {
  for (;;) {
    const StmtId def = fn.values[v].def;
    if (!def.valid()) return v;
    const Stmt& s = fn.stmts[def];
    if (s.kind != StmtKind::AddressOf && s.kind != StmtKind::PointerOf) return v;
    v = s.operands[0];
  }
}

void addMemory(const Function& fn, const Stmt& s, MemoryUse& use) {
  for (ValueId v : s.operands)
    if (isMemory(fn.typeOf(v))) (s.kind == StmtKind::Load ? use.reads : use.writes).insert(rootOf(fn, v));
  for (RegionId r : s.regions)
    for (StmtId id : fn.regions[r].stmts) addMemory(fn, fn.stmts[id], use);
}

bool meet(const ValueSet& a, const ValueSet& b) {
  return std::ranges::any_of(a, [&](ValueId v) { return b.contains(v); });
}

} // namespace

void MemoryUse::add(const MemoryUse& other) {
  reads.insert(other.reads.begin(), other.reads.end());
  writes.insert(other.writes.begin(), other.writes.end());
}
bool MemoryUse::conflicts(const MemoryUse& other) const {
  return meet(writes, other.reads) || meet(writes, other.writes) || meet(reads, other.writes);
}
MemoryUse memoryOf(const Function& fn, const Stmt& s) {
  MemoryUse use;
  addMemory(fn, s, use);
  return use;
}

bool RowSweep::areOutermost(size_t count) const {
  return std::all_of(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(count),
                     [count](size_t loop) { return loop < count; });
}

RowSweeps::RowSweeps(const Module& module, const Function& fn, const LocalBlocks& blocks, RegionId home,
                     Least least, const std::unordered_set<size_t>& mayNotSum)
    : module_(module), fn_(fn), blocks_(blocks), home_(home), least_(least), mayNotSum_(mayNotSum) {
  size_t opaque = 0;
  for (StmtId id : fn.regions[home].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::AllocArray) sizes_[s.results[0]] = id;
    if (!isRows(s) || !isEffectFree(s.regions[0])) {
      opaque += isOpaque(s);
      continue;
    }
    sweeps_.push_back(sweepOf(id));
    opaqueBefore_.push_back(opaque);
  }
}

// --- sweeps
// ----------------------------------------------------------------------------------------------------------

bool RowSweeps::isRows(const Stmt& s) const {
  if (s.kind != StmtKind::For || !s.results.empty()) return false;
  const auto& attr = s.as<ForAttr>();
  const uint64_t* begin = asConstant(fn_, s.operands[0]);
  const bool points = attr.dependence == Dependence::None ||
                      (attr.dependence == Dependence::Independent && attr.minDistance == 0);
  return points && !attr.polls && !attr.grid && begin && *begin == 0;
}

/// Whether nothing in a region can fail, or is seen elsewhere than in memory.
bool RowSweeps::isEffectFree(RegionId region) const {
  return std::ranges::all_of(fn_.regions[region].stmts, [this](StmtId id) {
    const Stmt& s = fn_.stmts[id];
    const bool isRow = s.kind == StmtKind::AllocArray || s.kind == StmtKind::Drop;
    const bool isClosedCall = s.kind == StmtKind::Call && module_.functions[s.as<FunctionId>()].isClosed();
    if (s.kind == StmtKind::Check || s.kind == StmtKind::BlackBox) return false;
    if (siteOf(s.kind) == SiteKind::Host && !isRow && !isClosedCall) return false;
    return std::ranges::all_of(s.regions, [this](RegionId r) { return isEffectFree(r); });
  });
}

/// Whether more may come of a statement than that the elements of arrays it names change, or that a check
/// fails: what it does then stays where it is between others, and what is read through pointers in memory is
/// not looked for.
bool RowSweeps::isOpaque(const Stmt& s) const {
  switch (s.kind) {
  case StmtKind::Load:
  case StmtKind::Store:
    for (ValueId v : std::span(s.operands).subspan(1))
      if (isMemory(fn_.typeOf(v))) return true;
    return fn_.typeOf(s.operands[0]) != dataType ||
           (!s.results.empty() && isMemory(fn_.typeOf(s.results[0])));
  case StmtKind::Const:
  case StmtKind::Scalar:
  case StmtKind::AllocArray:
  case StmtKind::FrameArray:
  case StmtKind::Drop:
  case StmtKind::Check:
  case StmtKind::Yield: return false;
  case StmtKind::Call: return !module_.functions[s.as<FunctionId>()].isClosed();
  case StmtKind::If:
  case StmtKind::For:
    for (ValueId v : s.results)
      if (isMemory(fn_.typeOf(v))) return true;
    return std::ranges::any_of(s.regions, [this](RegionId r) {
      return std::ranges::any_of(fn_.regions[r].stmts, [this](StmtId id) { return isOpaque(fn_.stmts[id]); });
    });
  default: return true;
  }
}

RowSweep RowSweeps::sweepOf(StmtId loop) const {
  RowSweep out;
  for (StmtId at = loop; at.valid(); at = onlyRows(fn_.stmts[at].regions[0])) {
    out.axes.push_back(out.loops.size());
    out.loops.push_back(at);
    out.indices.push_back(fn_.regions[fn_.stmts[at].regions[0]].params[0]);
  }
  out.sum = findRowSum(fn_, fn_.stmts[out.loops.back()].regions[0]).value_or(RowSum());
  out.memory = memoryOf(fn_, fn_.stmts[loop]);
  return out;
}

/// The loop over rows that is all there is in a region, but for numbers; it has the same ends in all
/// iterations.
StmtId RowSweeps::onlyRows(RegionId region) const {
  const StmtId found = onlyLoop(fn_, region, [](const Stmt& s) {
    return s.kind == StmtKind::Const || s.kind == StmtKind::Scalar || s.kind == StmtKind::Yield;
  });
  if (!found.valid() || !isRows(fn_.stmts[found])) return {};
  const ValueId end = fn_.stmts[found].operands[1];
  return asConstant(fn_, end) || !isInside(end) ? found : StmtId();
}

bool RowSweeps::isInside(ValueId v) const {
  return fn_.values[v].region != home_ && blocks_.isWithin(fn_.values[v].region, home_);
}
// --- arrays of rows
// ----------------------------------------------------------------------------------------------------------

std::vector<RowArray> RowSweeps::arrays() {
  std::vector<RowArray> out;
  for (StmtId id : fn_.regions[home_].stmts)
    if (std::optional<RowArray> array = arrayOf(id)) out.push_back(std::move(*array));
  for (RowSweep& sweep : sweeps_) orderAxes(sweep, out);
  std::erase_if(out, [&](const RowArray& array) { return !isByRows(array); });
  // what such sums make is there after all rows
  const std::unordered_set<size_t> sums = sumsOver(out);
  std::erase_if(out, [&](const RowArray& array) { return sums.contains(array.sweeps[0]); });
  return out;
}
bool RowSweeps::isByRows(const RowArray& array) const {
  return rowAxes(sweeps_[array.sweeps[0]], array.array) > 0 &&
         std::ranges::all_of(array.sweeps, [&](size_t k) {
           if (rowAxes(sweeps_[k], array.array) > 0) return sameEnds(k, array.sweeps[0], 0);
           return summedAxis(k, array.array) == 0 && areSame(sweeps_[k].sum.rows, endOf(array.sweeps[0], 0));
         });
}
std::unordered_set<size_t> RowSweeps::sumsOver(const std::vector<RowArray>& arrays) const {
  std::unordered_set<size_t> sums;
  for (const RowArray& array : arrays)
    for (size_t k : array.sweeps)
      if (summedAxis(k, array.array)) sums.insert(k);
  return sums;
}

std::optional<RowArray> RowSweeps::arrayOf(StmtId alloc) const {
  const Stmt& s = fn_.stmts[alloc];
  if (s.kind != StmtKind::AllocArray || s.operands.size() < 2 || s.as<AllocAttr>().zeroed)
    return std::nullopt;
  const std::optional<LocalBlocks::Block> block =
      blocks_.follow(alloc, [](FunctionId, size_t) { return false; });
  if (!block || block->values.size() != 1 || !block->uniques.empty() || !block->carries.empty())
    return std::nullopt;
  if (block->drops.size() != 1 || blocks_.homeOf(block->drops[0]) != home_) return std::nullopt;
  RowArray out{alloc, block->drops[0], s.results[0], {}};
  for (size_t k = 0; k < sweeps_.size(); ++k)
    if (sweeps_[k].memory.touches(out.array)) out.sweeps.push_back(k);
  if (out.sweeps.size() < 2 || opaqueBefore_[out.sweeps[0]] != opaqueBefore_[out.sweeps.back()])
    return std::nullopt;
  if (isSmall(s, 0, least_.bytes) || !isUsedBySweepsAlone(out)) return std::nullopt;
  auto mayBeByRows = [&](size_t k) {
    return !leadingAxes(sweeps_[k], out.array).empty() || summedAxis(k, out.array) == 0;
  };
  const bool isMade = sweeps_[out.sweeps[0]].memory.writes.contains(out.array);
  return isMade && std::ranges::all_of(out.sweeps, mayBeByRows) ? std::optional(out) : std::nullopt;
}
/// Of an array, or of what there is of it at a point of the first axes.
bool RowSweeps::isSmall(const Stmt& alloc, size_t axes, uint64_t most) const {
  uint64_t bytes = alloc.as<AllocAttr>().bytes;
  for (ValueId d : std::span(alloc.operands).subspan(axes)) {
    const uint64_t* known = asConstant(fn_, d);
    if (!known || *known > most) return false;
    bytes *= *known;
  }
  return bytes <= most;
}
bool RowSweeps::isUsedBySweepsAlone(const RowArray& array) const {
  return std::ranges::all_of(fn_.regions[home_].stmts, [&](StmtId id) {
    if (id == array.alloc || id == array.drop) return true;
    if (std::ranges::any_of(array.sweeps, [&](size_t k) { return sweeps_[k].loop() == id; })) return true;
    return !memoryOf(fn_, fn_.stmts[id]).touches(array.array);
  });
}

/// The axes as the last array of rows has them: what is made of others is the larger one, as scores are.
void RowSweeps::orderAxes(RowSweep& sweep, const std::vector<RowArray>& arrays) const {
  const auto last = std::find_if(arrays.rbegin(), arrays.rend(),
                                 [&](const RowArray& array) { return sweep.memory.touches(array.array); });
  if (last == arrays.rend()) return;
  std::vector<size_t> order = leadingAxes(sweep, last->array);
  for (size_t k = 0; k < sweep.loops.size(); ++k)
    if (std::ranges::find(order, k) == order.end()) order.push_back(k);
  std::vector<ValueId> indices;
  indices.reserve(order.size());
  for (size_t k : order) indices.push_back(sweep.indices[k]);
  sweep.axes = std::move(order);
  sweep.indices = std::move(indices);
}

/// The first indices of all accesses to an array, as far as they are the same loops of the sweep.
std::vector<size_t> RowSweeps::leadingAxes(const RowSweep& sweep, ValueId array) const {
  std::optional<std::vector<size_t>> common;
  leadingAxesIn(fn_.stmts[sweep.loop()].regions[0], sweep, array, common);
  return common.value_or(std::vector<size_t>());
}
void RowSweeps::leadingAxesIn(RegionId region, const RowSweep& sweep, ValueId array,
                              std::optional<std::vector<size_t>>& common) const {
  for (StmtId id : fn_.regions[region].stmts) {
    const Stmt& s = fn_.stmts[id];
    if (!s.operands.empty() && s.operands[0] == array) {
      std::vector<size_t> axes;
      for (size_t k = 1; k + 1 < s.operands.size(); k += 2) {
        const auto at = std::ranges::find(sweep.indices, s.operands[k]);
        const auto axis = static_cast<size_t>(at - sweep.indices.begin());
        if (at == sweep.indices.end() || std::ranges::find(axes, axis) != axes.end()) break;
        axes.push_back(axis);
      }
      if (common) axes.resize(static_cast<size_t>(std::ranges::mismatch(axes, *common).in1 - axes.begin()));
      common = std::move(axes);
    }
    for (RegionId r : s.regions) leadingAxesIn(r, sweep, array, common);
  }
}

size_t RowSweeps::rowAxes(const RowSweep& sweep, ValueId array) const {
  const auto alloc = sizes_.find(array);
  if (alloc == sizes_.end()) return 0;
  const std::vector<ValueId>& sizes = fn_.stmts[alloc->second].operands;
  return rowAxesIn(fn_.stmts[sweep.loop()].regions[0], sweep, array,
                   std::min(sweep.loops.size(), sizes.size()));
}
size_t RowSweeps::rowAxesIn(RegionId region, const RowSweep& sweep, ValueId array, size_t most) const {
  for (StmtId id : fn_.regions[region].stmts) {
    const Stmt& s = fn_.stmts[id];
    for (size_t k = 0; k < s.operands.size(); ++k)
      if (s.operands[k] == array) most = k == 0 ? std::min(most, rowAxesOf(s, sweep)) : 0;
    for (RegionId r : s.regions) most = rowAxesIn(r, sweep, array, most);
  }
  return most;
}
size_t RowSweeps::rowAxesOf(const Stmt& access, const RowSweep& sweep) const {
  if (access.kind != StmtKind::Load && access.kind != StmtKind::Store) return 0;
  size_t axes = 0;
  while (axes < sweep.indices.size() && isAxis(access, axes, sweep.indices[axes])) ++axes;
  return axes;
}
/// Whether an access counts rows over an axis by an index.
bool RowSweeps::isAxis(const Stmt& access, size_t axis, ValueId index) const {
  const std::vector<ValueId>& sizes = fn_.stmts[sizes_.at(access.operands[0])].operands;
  return axis < sizes.size() && 2 * axis + 2 < access.operands.size() &&
         access.operands[2 * axis + 1] == index &&
         factorsOf(std::span(&access.operands[2 * axis + 2], 1)) ==
             factorsOf(std::span(sizes).subspan(axis + 1));
}

std::optional<size_t> RowSweeps::summedAxis(size_t k, ValueId array) const {
  const RowSweep& sweep = sweeps_[k];
  const auto alloc = sizes_.find(array);
  std::optional<size_t> axis;
  if (mayNotSum_.contains(k) || !sweep.sum.chain.valid() || alloc == sizes_.end() ||
      !loadsSummed(fn_.stmts[sweep.loop()].regions[0], sweep, array, axis) || !axis)
    return std::nullopt;
  const Stmt& s = fn_.stmts[alloc->second];
  const bool isOfNumbers = *axis + 2 > s.operands.size(); // which are not rows
  return isOfNumbers || isSmall(s, *axis, least_.summed) ? std::nullopt : axis;
}
bool RowSweeps::loadsSummed(RegionId region, const RowSweep& sweep, ValueId array,
                            std::optional<size_t>& axis) const {
  const ValueId iteration = fn_.regions[fn_.stmts[sweep.sum.chain].regions[0]].params[0];
  return std::ranges::all_of(fn_.regions[region].stmts, [&](StmtId id) {
    const Stmt& s = fn_.stmts[id];
    if (std::ranges::find(s.operands, array) != s.operands.end()) {
      if (s.kind != StmtKind::Load) return false;
      const size_t own = rowAxesOf(s, sweep);
      if ((axis && *axis != own) || !isAxis(s, own, iteration)) return false;
      axis = own;
    }
    return std::ranges::all_of(s.regions, [&](RegionId r) { return loadsSummed(r, sweep, array, axis); });
  });
}

RowSweeps::Factors RowSweeps::factorsOf(std::span<const ValueId> sizes) const {
  Factors factors{{}, 1};
  for (ValueId v : sizes) addFactors(v, factors);
  return factors;
}
void RowSweeps::addFactors(ValueId v, Factors& factors) const {
  if (const uint64_t* n = asConstant(fn_, v)) {
    factors.second *= *n;
    return;
  }
  const StmtId def = fn_.values[v].def;
  const bool isProduct = def.valid() && fn_.stmts[def].kind == StmtKind::Scalar &&
                         fn_.stmts[def].as<ScalarAttr>().op == OpKind::Mul;
  if (!isProduct) {
    ++factors.first[v.index];
    return;
  }
  for (ValueId operand : fn_.stmts[def].operands) addFactors(operand, factors);
}

bool RowSweeps::sameEnds(size_t a, size_t b, size_t axis) const {
  return areSame(endOf(a, axis), endOf(b, axis));
}
bool RowSweeps::areSame(ValueId end, ValueId other) const {
  end = extentOf(end), other = extentOf(other);
  const uint64_t *x = asConstant(fn_, end), *y = asConstant(fn_, other);
  return end == other || (x && y && *x == *y);
}
/// How often a loop iterates unless that is 0 because of what is inside of it.
ValueId RowSweeps::extentOf(ValueId end) const {
  for (;;) {
    const StmtId def = fn_.values[end].def;
    if (!def.valid() || fn_.stmts[def].kind != StmtKind::Scalar) return end;
    const Stmt& s = fn_.stmts[def];
    if (s.as<ScalarAttr>().op != OpKind::Select || !isZero(s.operands[2]) ||
        !comparesIterations(s.operands[0]))
      return end;
    end = s.operands[1];
  }
}
bool RowSweeps::isZero(ValueId v) const {
  const uint64_t* known = asConstant(fn_, v);
  return known && *known == 0;
}
/// Whether a condition is that the loop of a sweep that has some end iterates.
bool RowSweeps::comparesIterations(ValueId condition) const {
  const StmtId def = fn_.values[condition].def;
  if (!def.valid() || fn_.stmts[def].kind != StmtKind::Scalar) return false;
  const Stmt& s = fn_.stmts[def];
  const auto& attr = s.as<ScalarAttr>();
  return attr.op == OpKind::Cmp && static_cast<ops::CmpKind>(attr.index) == ops::CmpKind::Gt &&
         isZero(s.operands[1]) && std::ranges::any_of(sweeps_, [&](const RowSweep& sweep) {
           return std::ranges::any_of(
               sweep.loops, [&](StmtId loop) { return fn_.stmts[loop].operands[1] == s.operands[0]; });
         });
}

} // namespace melix::loops
