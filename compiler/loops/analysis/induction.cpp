#include "loops/analysis/induction.h"

#include "loops/ir/build.h"

#include <algorithm>
#include <bit>

namespace melix::loops {

using core::OpKind;

namespace {

/// A remainder or quotient by less, if that is known, costs less than a wrap.
constexpr uint64_t longWrap = 9;

bool isScalar(const Stmt& s, OpKind op) { return s.kind == StmtKind::Scalar && s.as<ScalarAttr>().op == op; }

/// What rises by 1 and what falls by 1 cancel out, but only up to where a remainder wraps, and their sum is
/// not computed without the index: it has no slope.
std::optional<int> ifUnit(int slope) {
  return slope == 1 || slope == -1 ? std::optional(slope) : std::nullopt;
}

} // namespace

Slopes::Slopes(Function& fn, const Stmt& loop, SlopeRange range) : fn_(fn), range_(range) {
  const RegionId body = loop.regions[0];
  enter(body);
  slopes_[fn.regions[body].params[0]] = 1;
  walk(body);
}

void Slopes::enter(RegionId region) {
  const std::vector<ValueId>& params = fn_.regions[region].params;
  made_.insert(params.begin(), params.end());
}

void Slopes::walk(RegionId region) {
  for (StmtId id : fn_.regions[region].stmts) {
    const Stmt& s = fn_.stmts[id];
    for (RegionId inner : s.regions) {
      enter(inner);
      walk(inner);
    }
    made_.insert(s.results.begin(), s.results.end());
    const std::optional<int> slope = slopeOf(s);
    if (!slope) continue;
    slopes_[s.results[0]] = *slope;
    steps_.push_back(id);
    if (isScalar(s, OpKind::IRem) || isScalar(s, OpKind::IDiv))
      (isInvariant(s) ? quotients : wraps).push_back(id);
  }
}

std::optional<int> Slopes::slopeOf(const Stmt& s) const {
  if (s.kind == StmtKind::Const) return 0;
  if (s.kind != StmtKind::Scalar) return std::nullopt;
  if (!std::ranges::all_of(s.operands, [this](ValueId v) { return strideOf(v).has_value(); })) return {};
  return isInvariant(s) ? 0 : slopeOfVarying(s);
}

/// Of a statement whose operands have slopes: whether all of them are 0.
bool Slopes::isInvariant(const Stmt& s) const {
  return std::ranges::all_of(s.operands, [this](ValueId v) { return strideOf(v) == 0; });
}

/// Of a statement whose operands have slopes, not all of them 0.
std::optional<int> Slopes::slopeOfVarying(const Stmt& s) const {
  const ScalarAttr& attr = s.as<ScalarAttr>();
  if (attr.from != TypeKind::I64) return std::nullopt;
  const int first = *strideOf(s.operands[0]), second = s.operands.size() > 1 ? *strideOf(s.operands[1]) : 0;
  switch (attr.op) {
  case OpKind::Add: return ifUnit(first + second);
  case OpKind::Sub: return ifUnit(first - second);
  case OpKind::Neg: return -first;
  case OpKind::IRem: return second == 0 && isLong(s.operands[1]) ? std::optional(first) : std::nullopt;
  case OpKind::IDiv: {
    // A piece for each quotient by a number that may be 1 costs more than the divisions.
    const bool isStep = range_ == SlopeRange::BetweenWraps && asConstant(fn_, s.operands[1]) &&
                        isLong(s.operands[1]) && !isShift(s.operands[1]);
    return isStep ? std::optional(0) : std::nullopt;
  }
  default: return std::nullopt;
  }
}

bool Slopes::isLong(ValueId divisor) const {
  const uint64_t* n = asConstant(fn_, divisor);
  return !n || static_cast<int64_t>(*n) >= static_cast<int64_t>(longWrap);
}

/// A quotient by a power of two costs as little as a sum.
bool Slopes::isShift(ValueId divisor) const {
  const uint64_t* n = asConstant(fn_, divisor);
  return n && std::has_single_bit(*n);
}

std::vector<StmtId> Slopes::withOperands(std::span<const StmtId> stmts) const {
  std::unordered_set<ValueId> needed;
  for (StmtId id : stmts) needed.insert(fn_.stmts[id].results[0]);
  std::vector<StmtId> out;
  for (size_t k = steps_.size(); k-- > 0;) {
    const Stmt& s = fn_.stmts[steps_[k]];
    if (!needed.contains(s.results[0])) continue;
    needed.insert(s.operands.begin(), s.operands.end());
    out.push_back(steps_[k]);
  }
  std::ranges::reverse(out);
  return out;
}

bool replaceInnermost(Function& fn, RegionId region, InPlace inPlace) {
  bool hasLoops = false;
  std::vector<StmtId> out;
  const std::vector<StmtId> stmts = fn.regions[region].stmts;
  for (StmtId id : stmts) {
    bool inside = false;
    const std::vector<RegionId> regions = fn.stmts[id].regions;
    for (RegionId inner : regions) inside |= replaceInnermost(fn, inner, inPlace);
    const StmtKind kind = fn.stmts[id].kind;
    hasLoops |= inside || isLoop(fn.stmts[id]) || kind == StmtKind::Launch;
    if (kind != StmtKind::For || inside) {
      out.push_back(id);
      continue;
    }
    const std::vector<StmtId> made = inPlace(id, region);
    out.insert(out.end(), made.begin(), made.end());
  }
  fn.regions[region].stmts = std::move(out);
  return hasLoops;
}

} // namespace melix::loops
