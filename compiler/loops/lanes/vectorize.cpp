#include "loops/lanes/vectorize.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/analysis/vectorizability.h"
#include "loops/ir/build.h"
#include "loops/ir/cost_table.h"
#include "loops/kernels/launch_trip_counts.h"
#include "loops/lanes/mask_support.h"
#include "loops/lanes/unroll_short_loops.h"
#include "loops/lanes/vector_cost.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr uint64_t shortRow = 16;   ///< iterations, for which it is not worth to join what lanes found
constexpr double mostOfLoop = 192;  ///< statements of a loop that is written out
constexpr double mostOfTerms = 48;  ///< of such a loop of terms that each of some rows takes
constexpr double shufflesPerOp = 4; ///< shuffles that an op is worth where rows share what they make
constexpr uint64_t fewRows = 8;     ///< points too few to be lanes of sums
constexpr double waiting = 2; ///< what an op that waits for the one before takes, beside other iterations

/// Whether lanes take less time than turns one after another: what lies anywhere is read one by one, and
/// stored at more cost than by itself.
bool isWorthIt(const LaneWork& work, uint32_t lanes) {
  const double steps = 2 * std::countr_zero(lanes) + 1; // and as many shuffles
  const double shared = work.ops + work.loads + work.stores + work.shuffles + steps * work.running;
  const double iteration =
      0.5 * (work.ops + work.loads + work.gathers) + work.stores + work.scatters + work.running;
  const double separately = std::max(iteration, work.kept > 0 ? waiting * work.chained : 0);
  return shared / lanes + work.gathers + 6 * work.scatters + 2 * work.moves < separately + work.gathers / 4;
}

/// The extremes of floats ask for NaN and zeros.
double opsOfStep(const ReassociableStep& step) { return types::isFloatKind(step.kind) ? 4 : 1; }

class Vectorizer {
public:
  /// `tripCount`: of the chunks that the function is, at most.
  Vectorizer(const Module& module, Function& fn, const Machine& machine, std::optional<uint64_t> tripCount)
      : module_(module), fn_(fn), machine_(machine), tripCount_(tripCount) {}

  /// Whether a loop in the region, which may be the body of a loop, runs in lanes now.
  bool region(RegionId r, StmtId around = {}) {
    bool any = false;
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      bool inside = false;
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      const bool isLoop = fn_.stmts[id].kind == StmtKind::For;
      if (isLoop) around_.push_back(id);
      for (RegionId inner : regions) inside |= region(inner, isLoop ? id : StmtId());
      if (isLoop) around_.pop_back();
      const bool isLeft = !inside && isForColumns(id);
      if (!isLeft && unrolled(id))
        inside = true;
      else if (inside)
        rows(id);
      else if (!isLeft && !isForLoopAround(id, around) && loop(id)) {
        inside = true;
        sumInRows(id);
        chainsInRows(fn_.stmts[id]);
      }
      if (inside) haveLanes_.insert(around_.begin(), around_.end());
      variances_.erase(id);
      any |= inside;
    }
    return any;
  }

private:
  /// A loop around short ones: these are written out if it then runs in lanes, as many as theirs. Not where
  /// a panel of what its lanes read, for the rows around, spares most of what they do.
  bool unrolled(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::For) return false;
    if (!holdsShort(fn_, s, mostOfLoop, mostIterationsOf(s))) return false;
    const bool isShared = haveRows(id);
    const double most = isShared ? mostOfTerms : mostOfLoop;
    if (isShared && (gainsByPanel(id) || !holdsShort(fn_, s, most, mostIterationsOf(s)))) return false;
    const RegionId body = s.regions[0];
    const std::optional<RegionId> made = unrollShortLoop(fn_, id, most);
    if (!made) return false;
    replace(id, *made);
    ForAttr& attr = fn_.stmts[id].as<ForAttr>();
    if (loop(id) && attr.vectorWidth >= mostLanesIn(body)) return true;
    attr.vectorWidth = attr.interleave = 0;
    replace(id, body);
    return false;
  }
  void replace(StmtId loop, RegionId body) {
    fn_.stmts[loop].regions[0] = body;
    variances_.erase(loop);
    for (StmtId outer : around_) variances_.erase(outer);
  }
  /// How values differ between iterations of a loop, which each loop in it may ask.
  const Variance& varianceOf(StmtId loop) const {
    return variances_.try_emplace(loop, fn_, fn_.stmts[loop]).first->second;
  }
  std::optional<uint64_t> mostIterationsOf(const Stmt& loop) const {
    return isOverChunk(fn_, loop) ? tripCount_ : constantTripCount(fn_, loop);
  }
  /// Whether a loop is columns of products, of which each row around takes its terms; `nearest` is another
  /// loop, whose iterations may be taken together.
  bool haveRows(StmtId columns, StmtId nearest = {}) const {
    auto are = [&](StmtId rows) { return rows != columns && areSides(rows, columns); };
    const bool isAmong = !around_.empty() && around_.back() == nearest;
    return (nearest.valid() && !isAmong && are(nearest)) || std::ranges::any_of(around_, are);
  }
  bool areSides(StmtId rows, StmtId columns) const {
    return haveTwoSides(fn_, fn_.stmts[rows], varianceOf(rows), fn_.stmts[columns], varianceOf(columns));
  }
  /// Of the loops in a region, the most lanes.
  uint32_t mostLanesIn(RegionId r) const {
    uint32_t most = 0;
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::For) most = std::max(most, s.as<ForAttr>().vectorWidth);
      for (RegionId inner : s.regions) most = std::max(most, mostLanesIn(inner));
    }
    return most;
  }

  /// Whether a loop that looks for the best of a row is to be left to lanes of rows: what lanes find is
  /// joined at the end of each row, which may be short. Long rows that lanes would have to gather are not.
  bool isForLoopAround(StmtId id, StmtId around) const {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::For || !around.valid() || s.results.empty()) return false;
    const bool hasLoop = std::ranges::any_of(fn_.regions[s.regions[0]].stmts,
                                             [&](StmtId o) { return fn_.stmts[o].kind == StmtKind::For; });
    const auto steps = exactSteps(fn_, s);
    return !hasLoop && steps &&
           std::ranges::any_of(*steps, [](const ReassociableStep& e) { return e.best.has_value(); }) &&
           canVectorize(module_, fn_, fn_.stmts[around], varianceOf(around)) &&
           (constantTripCount(fn_, s).value_or(shortRow) < shortRow ||
            workOf(around).gathers <= workOf(id).gathers);
  }

  /// Whether a sum that nothing rounds is to be left to lanes of the points around it: to columns, of which
  /// rows share one side, and which share the other, or where iterations of the sum would gather what these
  /// read side by side, or deinterleave what a tile packs, as where the highest of products is looked for.
  bool isForColumns(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::For || s.results.empty() || !exactSteps(fn_, s)) return false;
    auto at = around_.rbegin();
    while (at != around_.rend() && !fn_.stmts[*at].results.empty()) ++at;
    if (at == around_.rend()) return false;
    const StmtId columns = *at;
    if (haveLanes_.contains(columns)) return false; // it will not be in lanes itself
    const Columns& asked = ask(columns);
    if (!asked.mayHaveLanes || asked.haveRows) return asked.mayHaveLanes;
    const LaneWork work = workOf(id);
    if (work.gathers > 0 && asked.gathers == 0) return true;
    const bool areFew = mostIterationsOf(fn_.stmts[columns]).value_or(fewRows) < fewRows;
    return !areFew && needsPanel(work) && areSides(columns, id);
  }
  /// What sums ask of the columns around them: many in one loop ask the same.
  struct Columns {
    StmtId loop, inside; ///< `inside`: the innermost loop around the sum
    bool mayHaveLanes = false, haveRows = false;
    double gathers = 0;
  };
  const Columns& ask(StmtId columns) {
    if (asked_ && asked_->loop == columns && asked_->inside == around_.back()) return *asked_;
    Columns now{columns, around_.back(), mayHaveLanes(columns)};
    if (now.mayHaveLanes) now.haveRows = haveRows(columns);
    if (now.mayHaveLanes && !now.haveRows) now.gathers = workOf(columns).gathers;
    return asked_.emplace(now);
  }
  bool mayHaveLanes(StmtId id) {
    ForAttr& attr = fn_.stmts[id].as<ForAttr>();
    if (attr.minDistance > 0 || !loop(id)) return false;
    attr.vectorWidth = attr.interleave = 0;
    return true;
  }
  /// Whether lanes deinterleave what they read, which a panel has side by side, far more than they compute.
  bool gainsByPanel(StmtId id) const {
    const LaneWork work = workOf(id);
    return work.deinterleaving + shufflesPerOp * work.gathers > shufflesPerOp * work.ops;
  }
  /// Whether lanes read what does not lie side by side.
  static bool needsPanel(const LaneWork& work) { return work.gathers + work.inRows > 0; }
  LaneWork workOf(StmtId id) const { return vectorCost(module_, fn_, fn_.stmts[id], varianceOf(id)); }

  bool loop(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::For || !canVectorize(module_, fn_, s, varianceOf(id))) return false;
    widen(id, 1, around_.empty() ? StmtId() : around_.back());
    return s.as<ForAttr>().vectorWidth > 0;
  }

  /// A loop around one in lanes: points of both are done together where that saves reads.
  void rows(StmtId loop) {
    Stmt& s = fn_.stmts[loop];
    if (s.kind != StmtKind::For) return;
    if (!gainsByRows(module_, fn_, s)) return rowsOfStrips(s);
    std::vector<StmtId> inLanes;
    for (StmtId id : fn_.regions[s.regions[0]].stmts)
      if (const Stmt& inner = fn_.stmts[id];
          inner.kind == StmtKind::For && inner.as<ForAttr>().vectorWidth > 0)
        inLanes.push_back(id);
    if (std::ranges::any_of(inLanes, [this](StmtId id) { return holdsRows(fn_.stmts[id]); })) return;
    const bool areShort = std::ranges::all_of(inLanes, [this](StmtId id) { return isShortInLanes(id); });
    const uint32_t rows = blockOf(constantTripCount(fn_, s), areShort ? mostRows : mostLongRows);
    if (rows < 2) return;
    s.as<ForAttr>().unrollJam = rows;
    for (StmtId id : inLanes) widen(id, rows, loop);
  }
  /// Points whose partial sums, all together, stay in registers.
  void rowsOfStrips(Stmt& s) const {
    const std::optional<uint64_t> bytes = frameOfStrips(module_, fn_, s);
    if (!bytes || *bytes == 0) return;
    const uint64_t each = (8 * *bytes + machine_.vectorBits - 1) / machine_.vectorBits;
    if (each >= machine_.registers) return;
    const uint32_t most = std::min<uint64_t>(mostStrips, (machine_.registers - each) / each);
    if (const uint32_t rows = blockOf(constantTripCount(fn_, s), most); rows > 1)
      s.as<ForAttr>().unrollJam = rows;
  }
  /// Of a loop in lanes, iterations of a sum around the chain are done together where that saves reads.
  void sumInRows(StmtId id) {
    const std::optional<StmtId> sum = sumForRows(fn_, id, sumsIn(fn_, id));
    if (!sum) return;
    const uint32_t most = storesAlong(fn_, fn_.stmts[*sum]) ? storedRows
                          : isShortInLanes(id)              ? mostRows
                                                            : mostLongRows;
    const uint32_t rows = blockOf(constantTripCount(fn_, fn_.stmts[*sum]), most);
    if (rows < 2) return;
    fn_.stmts[*sum].as<ForAttr>().unrollJam = rows;
    widen(id, rows, *sum);
  }
  /// Chains in a loop in lanes whose iterations store neighbours.
  void chainsInRows(const Stmt& s) {
    for (RegionId r : s.regions)
      for (StmtId id : fn_.regions[r].stmts) {
        Stmt& inner = fn_.stmts[id];
        if (inner.kind != StmtKind::For) continue;
        if (!storesOfChain(fn_, inner).empty()) inner.as<ForAttr>().unrollJam = storedRows;
        chainsInRows(inner);
      }
  }
  bool holdsRows(const Stmt& s) const {
    return std::ranges::any_of(s.regions, [&](RegionId r) {
      return std::ranges::any_of(fn_.regions[r].stmts, [&](StmtId id) {
        const Stmt& inner = fn_.stmts[id];
        return (inner.kind == StmtKind::For && inner.as<ForAttr>().unrollJam > 0) || holdsRows(inner);
      });
    });
  }

  /// So many iterations, at most, that blocks of them are about as large.
  static uint32_t blockOf(std::optional<uint64_t> tripCount, uint32_t most) {
    if (!tripCount || *tripCount == 0) return most;
    return static_cast<uint32_t>((*tripCount + (*tripCount - 1) / most) / (1 + (*tripCount - 1) / most));
  }

  /// Whether the iterations of a loop in lanes hold little beside what sums carry.
  bool isShortInLanes(StmtId id) const { return workOf(id).values <= shortIteration; }

  /// As many lanes as suit the loop, of so many iterations of another one, around it or in it.
  void widen(StmtId id, uint32_t rows, StmtId other) const {
    Stmt& s = fn_.stmts[id];
    LaneWork work = vectorCost(module_, fn_, s, varianceOf(id), other.valid() ? &varianceOf(other) : nullptr);
    const std::vector<ReassociableStep> steps = *exactSteps(fn_, s);
    for (const ReassociableStep& step : steps)
      if (step.running) work.running += opsOfStep(step);
    if (work.bits == 0 && work.values == 0) return;
    work.bits = std::max(work.bits, 8U); // a bool is a byte in memory
    const uint32_t most = machine_.vectorBits / work.bits;
    // A chunk of few iterations is a register of which some lanes are off.
    const bool isChunk = isOverChunk(fn_, s);
    const uint64_t mostIterationsHere = mostIterationsOf(s).value_or(std::numeric_limits<uint32_t>::max());
    const uint64_t all = isChunk ? std::max<uint64_t>(mostIterationsHere, most) : mostIterationsHere;
    if (all > fewLanes && work.gathers + work.inRows > 0 && haveRows(id, other)) byPanel(work);
    ForAttr& attr = s.as<ForAttr>();
    const uint64_t count = attr.minDistance > 0 ? std::min<uint64_t>(all, attr.minDistance) : all;
    const auto lanes = static_cast<uint32_t>(std::bit_ceil(std::min<uint64_t>(count, most)));
    const bool canLeaveOut = canMask(machine_, fn_, s);
    // Of sums one lane may be left over.
    const bool fewLeft = count + 1 == fewLanes && work.carried > 0 && canLeaveOut;
    if ((!fewLeft && !isEnough(count, lanes, most)) || !isWorthIt(work, lanes)) return;
    attr.vectorWidth = lanes;
    attr.interleave = registersOf(work, s, rows);
    const uint64_t whole = canLeaveOut ? std::bit_ceil(count) : std::bit_floor(count);
    const uint64_t once = std::max<uint64_t>(1, whole / lanes);
    const bool areScattered =
        work.shuffles > 0 && whole != count; // under a mask each register is deinterleaved by itself
    if (once <= mostAtOnce && isShort(work) && work.running == 0 && !areScattered)
      attr.interleave = static_cast<uint32_t>(once);
    else
      while (attr.interleave > 1 && uint64_t(lanes) * attr.interleave > (isChunk ? whole : count))
        attr.interleave /= 2;
    if (work.values > longCode && canLeaveOut) { // an iteration takes so long that a mask costs nothing
      attr.interleave = 1;
      attr.predicated = true;
    }
  }
  /// What lanes read lies side by side in a panel, which is made once for some rows at least.
  static void byPanel(LaneWork& work) {
    work.gathers = (work.gathers + work.inRows) / mostLongRows;
    work.shuffles -= work.deinterleaving;
  }
  /// Less than half of a register is for as many iterations as there are lanes.
  static bool isEnough(uint64_t tripCount, uint32_t lanes, uint32_t most) {
    return tripCount >= fewLanes && (lanes >= most / 2 || lanes == tripCount);
  }
  bool isShort(const LaneWork& work) const {
    return work.carried == 0 && work.values <= machine_.registers / 4;
  }

  /// How many registers a value may take: more than one pays where iterations wait for what is carried, and
  /// where an iteration is so long that the processor does not see the next one.
  uint32_t registersOf(const LaneWork& work, const Stmt& s, uint32_t rows) const {
    const ForAttr& attr = s.as<ForAttr>();
    const uint32_t room = machine_.registers / 2;
    if (work.carried > 0) { // beside that, what is read for all rows, and for one
      const uint32_t each = work.carried * rows + work.kept * storedRows + std::max(1U, work.held);
      return std::bit_floor(std::clamp((machine_.registers - 1) / each, 1U, machine_.registers / 4));
    }
    // What is added to the lanes of a sum stays in registers where these are all there is of a strip.
    if (attr.minDistance > 0 && isShort(work)) return std::max(1U, attr.minDistance / attr.vectorWidth);
    if (work.running > 0 || work.shuffles > 0) return 1;
    if (isShort(work)) return s.results.empty() ? 1 : 4;
    return work.values <= 4 * room ? 2 : 1;
  }

  static constexpr uint32_t fewLanes = 4, mostRows = 6, mostLongRows = 4, shortIteration = 20;
  static constexpr uint32_t mostStrips = 4;  ///< points of partial sums in the frame
  static constexpr uint64_t mostAtOnce = 4;  ///< registers of a loop that is one iteration
  static constexpr uint32_t longCode = 4096; ///< values of an iteration whose code stands once

  const Module& module_;
  Function& fn_;
  const Machine& machine_;
  const std::optional<uint64_t> tripCount_;
  std::vector<StmtId> around_;           ///< loops around the region at hand, outermost first
  std::unordered_set<StmtId> haveLanes_; ///< loops that were around one that runs in lanes
  std::optional<Columns> asked_;         ///< of a loop none of those in which has lanes yet
  /// Of loops that hold what they held when it was asked for.
  mutable std::unordered_map<StmtId, Variance> variances_;
};

/// How many iterations of the loops over a chunk are done together: all are powers of two. Those inside of
/// others, or of branches, are the ones with the chunk's ends.
uint32_t widestStepOf(const Function& fn, RegionId region) {
  uint32_t step = 1;
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::For && (region == fn.body || (s.results.empty() && isOverChunk(fn, s)))) {
      const auto& attr = s.as<ForAttr>();
      step = std::max({step, attr.vectorWidth * attr.interleave, attr.unrollJam});
    }
    for (RegionId r : s.regions) step = std::max(step, widestStepOf(fn, r));
  }
  return step;
}

} // namespace

void vectorize(Module& module, const Machine& machine) {
  const std::vector<LaunchTripCount> iterations = launchTripCounts(module);
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    if (fn.inlined || !fn.isScheduled()) continue;
    Vectorizer(module, fn, machine, iterations[f].most).region(fn.body);
    if (fn.kind != FunctionKind::Orchestration) fn.tripCount.unrolledBy = widestStepOf(fn, fn.body);
  }
}

} // namespace melix::loops
