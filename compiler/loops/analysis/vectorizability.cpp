#include "loops/analysis/vectorizability.h"

#include "core/analysis/evaluate.h"
#include "core/ir/monoid.h"
#include "loops/analysis/closed_functions.h"
#include "loops/ir/build.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

bool isReassociable(OpKind op, TypeKind kind) {
  const std::optional<core::MonoidKind> monoid = core::monoidOf(op);
  return op == OpKind::Xor || (monoid && core::isExact(*monoid, kind));
}

uint64_t unitOf(OpKind op, TypeKind kind) {
  return op == OpKind::Xor ? 0 : core::unitOf(*core::monoidOf(op), kind);
}

/// How often each of some values is used.
using UseCounts = std::unordered_map<ValueId, unsigned>;
void countUses(const Function& fn, RegionId region, UseCounts& counts) {
  forEachUse(fn, region, [&](ValueId v) {
    if (auto found = counts.find(v); found != counts.end()) ++found->second;
  });
}

/// The step that makes `next` of what is carried, if it is one.
std::optional<ReassociableStep> stepOf(const Function& fn, RegionId body, ValueId carried, ValueId next) {
  const StmtId def = fn.values[next].def;
  if (!def.valid() || fn.values[next].region != body || fn.stmts[def].kind != StmtKind::Scalar)
    return std::nullopt;
  const Stmt& step = fn.stmts[def];
  const auto& attr = step.as<ScalarAttr>();
  if (!isReassociable(attr.op, attr.from)) return std::nullopt;
  for (size_t side : {0, 1})
    if (step.operands[side] == carried)
      return ReassociableStep{attr.op, step.operands[1 - side], attr.from, unitOf(attr.op, attr.from)};
  return std::nullopt;
}

/// Finds the steps of argmin and argmax as they are lowered.
class BestReader {
public:
  BestReader(const Function& fn, RegionId body)
      : fn_(fn), body_(body), carried_(std::span(fn.regions[body].params).subspan(1)),
        next_(fn.stmts[fn.regions[body].stmts.back()].operands) {}

  /// Of all that is carried; none for what is no part of one.
  std::vector<std::optional<ReassociableStep>> run() {
    std::vector<std::optional<ReassociableStep>> out(next_.size());
    for (size_t k = 0; k < next_.size(); ++k) {
      if (out[k]) continue;
      const std::optional<ReassociableStep> found = at(k);
      if (!found) continue;
      out[k] = found;
      const ReassociableStep along{OpKind::Select, {}, TypeKind::I64, 0, false, {}, true};
      out[found->best->isThere] = along;
      for (size_t place : found->best->places) out[place] = along;
    }
    if (!expected_.empty() && !areUsedSo()) out.assign(next_.size(), std::nullopt);
    return out;
  }

private:
  /// The one whose value is carried as the k-th.
  std::optional<ReassociableStep> at(size_t k) {
    const Stmt* value = scalar(next_[k], OpKind::Select);
    if (!value || value->operands[2] != carried_[k]) return std::nullopt;
    const ValueId take = value->operands[0], term = value->operands[1];
    const Stmt* either = scalar(take, OpKind::Or);
    const Stmt* first = either ? scalar(either->operands[0], OpKind::Not) : nullptr;
    if (!first) return std::nullopt;
    const auto isThere =
        static_cast<size_t>(std::ranges::find(carried_, first->operands[0]) - carried_.begin());
    if (isThere == carried_.size() || !isTrue(next_[isThere])) return std::nullopt;
    const TypeKind kind = fn_.typeOf(term).scalar;
    UseCounts uses{
        {carried_[k], 2}, {take, 1}, {next_[k], 1}, {either->operands[0], 1}, {either->operands[1], 1}};
    const std::optional<ops::CmpKind> beyond = comparison(either->operands[1], term, carried_[k]);
    if (beyond != ops::CmpKind::Lt && beyond != ops::CmpKind::Gt) return std::nullopt;
    ArgExtremeStep best{*beyond, isThere, k, {}};
    for (size_t j = 0; j < next_.size(); ++j)
      if (j != k && isPlace(j, take, best)) {
        best.places.push_back(j);
        ++uses[take];
        uses[carried_[j]] = uses[next_[j]] = 1;
      }
    if (best.iteration == k) return std::nullopt;
    if (negations_.insert(either->operands[0]).second) ++uses[carried_[isThere]];
    for (const auto& [v, count] : uses) expected_[v] += count;
    const uint64_t unit = unitOf(*beyond == ops::CmpKind::Lt ? OpKind::Min : OpKind::Max, kind);
    return ReassociableStep{OpKind::Select, term, kind, unit, false, best};
  }

  const Stmt* scalar(ValueId v, OpKind op) const {
    const StmtId def = fn_.values[v].def;
    if (!def.valid() || fn_.values[v].region != body_ || fn_.stmts[def].kind != StmtKind::Scalar)
      return nullptr;
    return fn_.stmts[def].as<ScalarAttr>().op == op ? &fn_.stmts[def] : nullptr;
  }
  bool isTrue(ValueId v) const {
    const uint64_t* bits = asConstant(fn_, v);
    return bits && *bits == 1 && fn_.typeOf(v) == scalarType(TypeKind::Bool);
  }
  std::optional<ops::CmpKind> comparison(ValueId v, ValueId a, ValueId b) const {
    const Stmt* s = scalar(v, OpKind::Cmp);
    if (!s || s->operands[0] != a || s->operands[1] != b) return std::nullopt;
    return static_cast<ops::CmpKind>(s->as<ScalarAttr>().index);
  }
  bool isPlace(size_t k, ValueId take, ArgExtremeStep& best) const {
    const Stmt* place = scalar(next_[k], OpKind::Select);
    if (!place || place->operands[0] != take || place->operands[2] != carried_[k]) return false;
    const bool isLoopIndex = place->operands[1] == fn_.regions[body_].params[0];
    if (!isLoopIndex && fn_.values[place->operands[1]].region == body_) return false;
    if (isLoopIndex) best.iteration = k;
    return true;
  }
  bool areUsedSo() const {
    UseCounts counts;
    for (const auto& [v, count] : expected_) counts[v] = 0;
    countUses(fn_, body_, counts);
    return counts == expected_;
  }

  const Function& fn_;
  const RegionId body_;
  const std::span<const ValueId> carried_;
  const std::vector<ValueId>& next_;
  UseCounts expected_;                    ///< of what may be used by these steps alone
  std::unordered_set<ValueId> negations_; ///< of whether there is one
};

/// Looks for what no lane can do, or no iteration that is jammed with others.
class VectorizabilityReader {
public:
  VectorizabilityReader(const Module& module, const Function& fn, const Variance& variance,
                        bool isJammed = false)
      : module_(module), fn_(fn), variance_(variance), isJammed_(isJammed) {}

  bool canDo(RegionId r) {
    return std::ranges::all_of(fn_.regions[r].stmts, [&](StmtId id) { return canDo(fn_.stmts[id]); });
  }
  /// Whether the iteration that would panic first, one after another, does so in lanes.
  bool keepsFirstPanic() const { return panics_ == 0 || (endless_ == 1 && !panicsInLoop_); }

private:
  bool canDo(const Stmt& s) {
    if (siteOf(s.kind) != SiteKind::Vectorisable && s.kind != StmtKind::Call) return false;
    if (isJammed_ && isBorrowingLoad(s)) return true;
    auto isFine = [&](ValueId v) { return !fn_.typeOf(v).counted() || variance_.isUniform(v); };
    if (!std::ranges::all_of(s.results, isFine)) return false;
    if (!isSideBySide(s)) return false;
    endless_ += s.kind == StmtKind::While;
    loops_ += isLoop(s);
    const bool can = std::ranges::all_of(s.regions, [&](RegionId r) { return canDo(r); });
    loops_ -= isLoop(s);
    return can;
  }

  /// Where the iteration has a block: a register holds no vector of such.
  bool isBorrowingLoad(const Stmt& s) const {
    return s.kind == StmtKind::Load && fn_.typeOf(s.results[0]).counted() &&
           !s.as<Access>().transfersOwnership;
  }

  bool isSideBySide(const Stmt& s) {
    switch (s.kind) {
    case StmtKind::Load: return !fn_.typeOf(s.results[0]).counted();
    case StmtKind::Store: // one place for all lanes is a conflict
      return !fn_.typeOf(s.operands.back()).counted() &&
             !variance_.allUniform(std::span(s.operands).first(s.operands.size() - 1));
    case StmtKind::Call: return canCall(s);
    case StmtKind::For:
      return variance_.isUniform(s.operands[0]) && s.as<ForAttr>().dependence != Dependence::None;
    default: return true;
    }
  }

  bool canCall(const Stmt& s) {
    const Function& callee = module_.functions[s.as<FunctionId>()];
    endless_ += !ends(module_, callee);
    panics_ += !callee.isClosed();
    panicsInLoop_ |= !callee.isClosed() && loops_ > 0;
    return laneCallOf(module_, s, variance_) != LaneCallKind::Never;
  }

  const Module& module_;
  const Function& fn_;
  const Variance& variance_;
  const bool isJammed_;
  unsigned loops_ = 0;   ///< around the statement
  unsigned endless_ = 0; ///< statements that may not come to their end
  unsigned panics_ = 0;  ///< those of them that may panic
  bool panicsInLoop_ = false;
};

/// Whether a function stands beside its callers as what is seldom called.
bool isSeldom(const Module& module, const Function& fn) {
  return fn.source.valid() && module.core.functions[fn.source].isCold;
}

/// So many statements are merged into what calls them.
size_t mostMerged(const Module& module, const Function& fn) { return isSeldom(module, fn) ? 96 : 1024; }

/// How many statements stand in place of calls: each function is read once.
class MergedSizes {
public:
  explicit MergedSizes(const Module& module) : module_(module) {}

  /// With those of all that is called there but for elementary functions; `mostMerged + 1` where there are
  /// more. What is seldom called stays where it is if it is long.
  size_t of(FunctionId f) {
    if (const auto found = sizes_.find(f); found != sizes_.end()) return found->second;
    const size_t size = count(f);
    return sizes_[f] = size;
  }

private:
  size_t count(FunctionId f) {
    const Function& fn = module_.functions[f];
    const size_t most = mostMerged(module_, fn);
    size_t stmts = 0;
    for (const Stmt& s : fn.stmts) {
      stmts += s.kind != StmtKind::Const;
      if (s.kind == StmtKind::Call) stmts += inPlaceOf(s.as<FunctionId>()).value_or(most + 1);
      if (stmts > most) return most + 1;
    }
    return stmts;
  }
  /// None if the call can be no part of what is merged.
  std::optional<size_t> inPlaceOf(FunctionId callee) {
    const Function& fn = module_.functions[callee];
    if (fn.inlined) return 0;
    if (!fn.isClosed()) return std::nullopt; // a recursion, too
    const size_t size = of(callee);
    return isSeldom(module_, fn) && size > mostMerged(module_, fn) ? 0 : size;
  }

  const Module& module_;
  std::unordered_map<FunctionId, size_t> sizes_;
};

/// Whether the body of a function stands in place of its calls: that of an elementary function, else one that
/// is not long.
bool isMerged(const Module& module, FunctionId f) {
  const Function& fn = module.functions[f];
  return fn.isClosed() && (fn.inlined || MergedSizes(module).of(f) <= mostMerged(module, fn));
}

/// The array of the frame that a load or store reaches, if it does.
const Stmt* arrayOfFrame(const Function& fn, const Stmt& access) {
  const StmtId base = fn.values[access.operands[0]].def;
  return base.valid() && fn.stmts[base].kind == StmtKind::Scratch ? &fn.stmts[base] : nullptr;
}
bool storesToFrame(const Function& fn, const Stmt& s) {
  return s.kind == StmtKind::Store && arrayOfFrame(fn, s);
}

/// The highest place that the first of so many lanes reaches by an index: that of the loop, or its place in a
/// strip.
std::optional<uint64_t> lastFirstPlace(const Function& fn, const Stmt& loop, ValueId index, uint32_t lanes) {
  const ValueId iteration = fn.regions[loop.regions[0]].params[0];
  if (index == iteration) {
    const uint64_t* first = asConstant(fn, loop.operands[0]);
    const std::optional<uint64_t> tripCount = constantTripCount(fn, loop);
    if (!first || !tripCount || *tripCount == 0) return std::nullopt;
    return *first + (*tripCount - 1) / lanes * lanes;
  }
  const StmtId def = fn.values[index].def;
  if (!def.valid() || fn.stmts[def].kind != StmtKind::Scalar) return std::nullopt;
  const Stmt& s = fn.stmts[def];
  if (s.as<ScalarAttr>().op != OpKind::And || s.operands[0] != iteration) return std::nullopt;
  const uint64_t* mask = asConstant(fn, s.operands[1]);
  const uint32_t strip = loop.as<ForAttr>().minDistance;
  const bool isPlace =
      mask && *mask + 1 >= strip && strip % lanes == 0 && isMultipleOf(fn, loop.operands[0], strip);
  return isPlace ? std::optional(*mask + 1 - lanes) : std::nullopt;
}

} // namespace

Variance varianceOfCall(const Module& module, const Stmt& call, const Variance& caller) {
  std::vector<VarianceKind> params;
  for (ValueId v : call.operands)
    params.push_back(caller.isUniform(v) ? VarianceKind::Uniform : VarianceKind::Varying);
  return Variance(module.functions[call.as<FunctionId>()], params);
}

LaneCallKind laneCallOf(const Module& module, const Stmt& call, const Variance& caller) {
  const Function& callee = module.functions[call.as<FunctionId>()];
  if (callee.effects == EffectsKind::Any) return LaneCallKind::Never;
  if (caller.allUniform(call.operands)) return LaneCallKind::Together;
  const Variance variance = varianceOfCall(module, call, caller);
  if (isMerged(module, call.as<FunctionId>()) &&
      VectorizabilityReader(module, callee, variance).canDo(callee.body))
    return LaneCallKind::Merged;
  return std::ranges::all_of(callee.modes, isReadOnly) ? LaneCallKind::OneByOne : LaneCallKind::Never;
}

std::optional<std::vector<ReassociableStep>> exactSteps(const Function& fn, const Stmt& loop) {
  std::vector<ReassociableStep> steps;
  if (loop.results.empty()) return steps;
  const RegionId body = loop.regions[0];
  const std::span<const ValueId> carried = std::span(fn.regions[body].params).subspan(1);
  const std::vector<ValueId>& next = fn.stmts[fn.regions[body].stmts.back()].operands;
  UseCounts counts;
  for (ValueId v : carried) counts[v] = 0;
  for (ValueId v : next) counts[v] = 0;
  countUses(fn, body, counts);
  const std::vector<std::optional<ReassociableStep>> bests = BestReader(fn, body).run();
  for (size_t k = 0; k < carried.size(); ++k) {
    std::optional<ReassociableStep> step = bests[k] ? bests[k] : stepOf(fn, body, carried[k], next[k]);
    const bool isAlone = bests[k] || (step && counts[carried[k]] == 1 &&
                                      std::ranges::find(carried, step->term) == carried.end());
    if (!isAlone) return std::nullopt;
    step->running = !bests[k] && counts[next[k]] > 1;
    steps.push_back(*step);
  }
  return steps;
}

bool needsMask(const Stmt& s, const Variance& variance) {
  switch (s.kind) {
  case StmtKind::While: return true;
  case StmtKind::For: return !variance.isUniform(s.operands[1]);
  default: return !s.operands.empty() && !variance.isUniform(s.operands[0]);
  }
}

bool writesToFrame(const Function& fn, RegionId region) {
  return std::ranges::any_of(fn.regions[region].stmts, [&](StmtId id) {
    const Stmt& s = fn.stmts[id];
    return storesToFrame(fn, s) ||
           std::ranges::any_of(s.regions, [&](RegionId r) { return writesToFrame(fn, r); });
  });
}

bool hasRoomInFrame(const Function& fn, const Stmt& loop, const Stmt& access, uint32_t lanes) {
  const Stmt* array = arrayOfFrame(fn, access);
  const size_t oneIndex = access.kind == StmtKind::Store ? 4 : 3; // base, index, stride, perhaps a value
  if (!array || access.operands.size() != oneIndex) return false;
  const auto& attr = access.as<Access>();
  const uint64_t* stride = asConstant(fn, access.operands[2]);
  const std::optional<uint64_t> last = lastFirstPlace(fn, loop, access.operands[1], lanes);
  return stride && *stride == 1 && last && attr.offset >= 0 &&
         uint64_t(attr.offset) + (*last + lanes) * attr.elemBytes <= array->as<uint64_t>();
}

bool storesHaveRoomInFrame(const Function& fn, const Stmt& loop, RegionId region, uint32_t lanes) {
  return std::ranges::all_of(fn.regions[region].stmts, [&](StmtId id) {
    const Stmt& s = fn.stmts[id];
    return (!storesToFrame(fn, s) || hasRoomInFrame(fn, loop, s, lanes)) &&
           std::ranges::all_of(s.regions,
                               [&](RegionId r) { return storesHaveRoomInFrame(fn, loop, r, lanes); });
  });
}

bool canVectorize(const Module& module, const Function& fn, const Stmt& loop) {
  return loop.kind == StmtKind::For && loop.as<ForAttr>().dependence == Dependence::Independent &&
         canVectorize(module, fn, loop, Variance(fn, loop));
}

static bool canDoTogether(const Module& module, const Function& fn, const Stmt& loop,
                          const Variance& variance, bool isJammed) {
  if (loop.as<ForAttr>().dependence != Dependence::Independent || !exactSteps(fn, loop)) return false;
  VectorizabilityReader reader(module, fn, variance, isJammed);
  return reader.canDo(loop.regions[0]) && reader.keepsFirstPanic();
}

bool canVectorize(const Module& module, const Function& fn, const Stmt& loop, const Variance& variance) {
  return canDoTogether(module, fn, loop, variance, false);
}

bool canJam(const Module& module, const Function& fn, const Stmt& loop) {
  return loop.kind == StmtKind::For && canDoTogether(module, fn, loop, Variance(fn, loop), true);
}

} // namespace melix::loops
