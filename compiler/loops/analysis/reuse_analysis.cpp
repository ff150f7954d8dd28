#include "loops/analysis/reuse_analysis.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/vectorizability.h"
#include "loops/ir/build.h"
#include "loops/ir/clone.h"

#include <algorithm>

namespace melix::loops {
namespace {

/// A read, or one under a mask.
bool isRead(const Function& fn, const Stmt& s) {
  if (s.kind != StmtKind::If || s.results.size() != 1) return s.kind == StmtKind::Load;
  return std::ranges::any_of(s.regions, [&](RegionId arm) {
    return anyOf(fn, arm, [](const Stmt& inner) { return inner.kind == StmtKind::Load; });
  });
}

/// Whether a region reads something that is the same at all points, to use it in lanes.
bool readsShared(const Function& fn, RegionId region, const Variance& points, const Variance& lanes) {
  return anyOf(fn, region, [&](const Stmt& s) {
    if (isRead(fn, s) && points.isUniform(s.results[0]) && !lanes.isUniform(s.results[0])) return true;
    return s.kind == StmtKind::If &&
           std::ranges::any_of(s.regions, [&](RegionId arm) { return readsShared(fn, arm, points, lanes); });
  });
}

/// Whether a loop in lanes holds a chain, of as many terms at all points, that reads what they share.
bool sharesInChain(const Function& fn, RegionId region, const Variance& points, const Variance& lanes) {
  return anyOf(fn, region, [&](const Stmt& s) {
    if (s.kind != StmtKind::For) return false;
    const bool together = points.isUniform(s.operands[0]) && points.isUniform(s.operands[1]);
    const bool chain = !s.results.empty() && readsShared(fn, s.regions[0], points, lanes);
    return together && (chain || sharesInChain(fn, s.regions[0], points, lanes));
  });
}

/// Whether a store goes on by one element from point to point: nothing else of its place differs.
bool isAlong(const Function& fn, const Variance& points, const Stmt& s, ValueId point) {
  if (s.kind != StmtKind::Store || s.as<Access>().elemBytes != bytesOf(s.as<Access>().elem)) return false;
  bool isFound = false;
  if (!points.isUniform(s.operands[0])) return false;
  for (size_t k = 1; k + 2 < s.operands.size(); k += 2) {
    if (s.operands[k] != point) {
      if (!points.isUniform(s.operands[k]) || !points.isUniform(s.operands[k + 1])) return false;
      continue;
    }
    const uint64_t* stride = asConstant(fn, s.operands[k + 1]);
    if (isFound || !stride || *stride != 1) return false;
    isFound = true;
  }
  return isFound;
}

bool isOrHoldsLoop(const Function& fn, const Stmt& s) {
  return siteOf(s.kind) != SiteKind::Vectorisable || isLoop(s) ||
         std::ranges::any_of(s.regions, [&](RegionId r) {
           return anyOf(fn, r, [&](const Stmt& inner) { return isOrHoldsLoop(fn, inner); });
         });
}

/// Whether a region reads of each point, and for each lane, something else.
bool readsStrided(const Function& fn, RegionId region, const Variance& points, const Variance& lanes) {
  return anyOf(fn, region, [&](const Stmt& s) {
    return (s.kind == StmtKind::Load && !points.isUniform(s.results[0]) && !lanes.isUniform(s.results[0])) ||
           std::ranges::any_of(s.regions, [&](RegionId r) { return readsStrided(fn, r, points, lanes); });
  });
}

/// Whether copies of a region, one for each point, can be mixed: each writes to memory of its own only.
bool canMix(const Module& module, const Function& fn, RegionId region, const Variance& points) {
  return !anyOf(fn, region, [&](const Stmt& s) {
    if (s.kind == StmtKind::Store) {
      const std::span<const ValueId> place = std::span(s.operands).first(s.operands.size() - 1);
      return fn.typeOf(s.operands.back()).counted() || points.allUniform(place);
    }
    const bool isLoop = s.kind == StmtKind::For && s.as<ForAttr>().dependence != Dependence::None;
    if (!isLoop && s.kind != StmtKind::If && s.kind != StmtKind::Scratch && !isPlain(module, fn, s))
      return true;
    return std::ranges::any_of(s.regions, [&](RegionId r) { return !canMix(module, fn, r, points); });
  });
}

/// Whether a strip in lanes, of as many terms at all points, reads what they share.
bool sharesInStrip(const Function& fn, RegionId region, const Variance& points) {
  return anyOf(fn, region, [&](const Stmt& s) {
    if (s.kind != StmtKind::For || !points.isUniform(s.operands[0]) || !points.isUniform(s.operands[1]))
      return false;
    const auto& attr = s.as<ForAttr>();
    const bool isStrip = attr.vectorWidth > 0 && attr.minDistance > 0;
    return isStrip ? readsShared(fn, s.regions[0], points, Variance(fn, s))
                   : sharesInStrip(fn, s.regions[0], points);
  });
}

uint64_t bytesOfFrames(const Function& fn, RegionId region) {
  uint64_t bytes = 0;
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::Scratch) bytes += s.as<uint64_t>();
    for (RegionId r : s.regions) bytes += bytesOfFrames(fn, r);
  }
  return bytes;
}

} // namespace

std::vector<StmtId> storedTogether(const Function& fn, const Variance& points, std::span<const StmtId> stmts,
                                   ValueId point) {
  std::vector<StmtId> out;
  std::vector<ValueId> read;
  for (StmtId id : stmts) {
    const Stmt& s = fn.stmts[id];
    if (!s.regions.empty() || siteOf(s.kind) != SiteKind::Vectorisable) return {};
    if (s.kind == StmtKind::Load) read.push_back(s.operands[0]);
    if (isAlong(fn, points, s, point)) out.push_back(id);
  }
  auto isBlock = [&](ValueId base) { return fn.typeOf(base) == dataType; };
  const bool areStrided = std::ranges::all_of(out, [&](StmtId id) {
    const ValueId base = fn.stmts[id].operands[0];
    return isBlock(base) && std::ranges::find(read, base) == read.end();
  });
  if (!read.empty() && !(areStrided && std::ranges::all_of(read, isBlock))) return {};
  return out;
}

std::optional<uint64_t> frameOfStrips(const Module& module, const Function& fn, const Stmt& loop) {
  if (loop.as<ForAttr>().dependence != Dependence::Independent || !loop.results.empty()) return std::nullopt;
  const Variance points(fn, loop, FramesKind::OfEach);
  if (!sharesInStrip(fn, loop.regions[0], points) || !canMix(module, fn, loop.regions[0], points))
    return std::nullopt;
  return bytesOfFrames(fn, loop.regions[0]);
}

bool addsAfterLoops(const Function& fn, const Stmt& sum) {
  const std::vector<StmtId>& stmts = fn.regions[sum.regions[0]].stmts;
  const std::span<const ValueId> carried = std::span(fn.regions[sum.regions[0]].params).subspan(1);
  size_t last = stmts.size();
  while (last > 0 && !isOrHoldsLoop(fn, fn.stmts[stmts[last - 1]])) --last;
  auto isCarried = [&](ValueId v) { return std::ranges::find(carried, v) != carried.end(); };
  bool isUsed = false;
  for (size_t k = 0; k < last; ++k) {
    isUsed |= std::ranges::any_of(fn.stmts[stmts[k]].operands, isCarried);
    for (RegionId r : fn.stmts[stmts[k]].regions)
      forEachUse(fn, r, [&](ValueId v) { isUsed |= isCarried(v); });
  }
  return !isUsed && std::ranges::all_of(stmts.begin() + static_cast<std::ptrdiff_t>(last), stmts.end(),
                                        [&](StmtId id) { return fn.stmts[id].regions.empty(); });
}

bool storesAlong(const Function& fn, const Stmt& loop) {
  const ValueId point = fn.regions[loop.regions[0]].params[0];
  const Variance points(fn, loop);
  return anyOf(fn, loop.regions[0], [&](const Stmt& s) { return isAlong(fn, points, s, point); });
}

std::vector<StmtId> storesOfChain(const Function& fn, const Stmt& loop) {
  const auto& attr = loop.as<ForAttr>();
  if (loop.results.empty() || attr.vectorWidth > 0 || attr.minDistance > 0 ||
      attr.dependence == Dependence::None)
    return {};
  const Region& body = fn.regions[loop.regions[0]];
  const Variance points(fn, loop);
  std::vector<StmtId> out =
      storedTogether(fn, points, std::span(body.stmts).first(body.stmts.size() - 1), body.params[0]);
  const auto isOther = [&](const Stmt& s) {
    return s.kind == StmtKind::Store && !isAlong(fn, points, s, body.params[0]);
  };
  if (anyOf(fn, loop.regions[0], isOther)) out.clear();
  return out;
}

std::optional<StmtId> sumForRows(const Function& fn, StmtId lanes, std::span<const StmtId> sums) {
  const Variance columns(fn, fn.stmts[lanes]);
  for (StmtId id : sums) {
    const Stmt& sum = fn.stmts[id];
    const auto& attr = sum.as<ForAttr>();
    if (attr.dependence != Dependence::Independent || attr.minDistance > 0 || attr.vectorWidth > 0 ||
        !columns.allUniform(std::span(sum.operands).first(2)) || !addsAfterLoops(fn, sum))
      continue;
    const Variance points(fn, sum);
    if (sharesInChain(fn, sum.regions[0], points, columns) &&
        !readsStrided(fn, sum.regions[0], points, columns))
      return id;
  }
  return std::nullopt;
}

/// Whether iterations of a loop share in the chains of one in lanes.
static bool shareIn(const Function& fn, const Variance& points, const Stmt& lanes) {
  return points.allUniform(lanes.operands) &&
         sharesInChain(fn, lanes.regions[0], points, Variance(fn, lanes));
}

bool haveTwoSides(const Function& fn, const Stmt& rows, const Variance& byRow, const Stmt& columns,
                  const Variance& byColumn) {
  if (rows.as<ForAttr>().dependence != Dependence::Independent || !rows.results.empty()) return false;
  return byRow.allUniform(columns.operands) && sharesInChain(fn, columns.regions[0], byRow, byColumn) &&
         sharesInChain(fn, columns.regions[0], byColumn, byRow);
}

bool gainsByRows(const Module& module, const Function& fn, const Stmt& loop) {
  if (!loop.results.empty() || !canJam(module, fn, loop)) return false;
  const Variance points(fn, loop);
  return anyOf(fn, loop.regions[0], [&](const Stmt& s) {
    return s.kind == StmtKind::For && s.as<ForAttr>().vectorWidth > 0 && shareIn(fn, points, s);
  });
}

bool gainsAround(const Module& module, const Function& fn, const Stmt& loop, const Stmt& lanes) {
  return loop.results.empty() && canJam(module, fn, loop) && shareIn(fn, Variance(fn, loop), lanes);
}

} // namespace melix::loops
