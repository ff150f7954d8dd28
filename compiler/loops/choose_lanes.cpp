#include "loops/choose_lanes.h"

#include "loops/build.h"
#include "loops/costs.h"
#include "loops/find_contraction.h"
#include "loops/lane_groups.h"
#include "loops/lane_masks.h"
#include "loops/lanes.h"
#include "loops/row_gains.h"
#include "loops/unroll_short.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr uint32_t storedRows = 8; ///< turns that store neighbours together
constexpr uint64_t shortRow = 16;  ///< turns, for which it is not worth to join what lanes found
constexpr double waiting = 2;      ///< what an op that waits for the one before takes, beside other turns

/// What a turn of a loop is made of, as far as it differs between lanes. What stands in loops counts as often
/// as they turn.
struct Body {
  uint32_t bits = 0;    ///< of the widest value
  uint32_t values = 0;  ///< that are there, each once
  uint32_t carried = 0; ///< values that inner loops carry, at most
  uint32_t held = 0;    ///< values made in front of inner loops that these use, at most
  uint32_t kept = 0;    ///< values of each turn of these that are stored by some turns together
  double chained = 0;   ///< turns of a loop that wait for each other
  double ops = 0, loads = 0, stores = 0; ///< of these, memory side by side
  double gathers = 0, scatters = 0;      ///< memory anywhere
  double shuffles = 0;                   ///< of registers, for rows that are put apart by column
  double moves = 0;                      ///< of single lanes, to and from calls of each
  double running = 0;                    ///< ops of steps that make running totals
};

class BodyReader {
public:
  /// `around`: how values differ between turns of the loop around, if there is one.
  BodyReader(const Module& module, const Function& fn, const Variance& variance, ValueId index = {},
             const Variance* around = nullptr)
      : module_(module), fn_(fn), variance_(variance), neighbours_(fn, variance, index), around_(around) {}

  Body body;

  void region(RegionId r) {
    const std::vector<LaneGroup> groups = laneGroups(module_, fn_, r, neighbours_);
    if (!underMask_)
      for (const LaneGroup& group : groups) rows(group);
    for (StmtId id : fn_.regions[r].stmts) statement(id);
  }

private:
  /// Memory side by side: what a group reads but none of its members uses, and what puts it apart.
  void rows(const LaneGroup& group) {
    for (const LaneGroup::Member& m : group.members) inRows_.insert(m.stmt);
    const double all = std::max<double>(group.row, static_cast<double>(group.members.size()));
    body.shuffles += often_ * (all - static_cast<double>(group.members.size()) + shufflesOf(group));
  }
  void statement(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    for (ValueId v : s.results) value(v);
    switch (s.kind) {
    case StmtKind::Scalar: return scalar(s);
    case StmtKind::Load:
      if (!variance_.isUniform(s.results[0])) (areSideBySide(id) ? body.loads : body.gathers) += often_;
      return;
    case StmtKind::Store:
      widest(fn_.typeOf(s.operands.back()));
      (areSideBySide(id) ? body.stores : body.scatters) += often_;
      return;
    case StmtKind::Call: return call(s);
    case StmtKind::For:
    case StmtKind::While: return loop(s);
    default:
      const bool before = underMask_;
      underMask_ |= masks(s, variance_);
      for (RegionId r : s.regions)
        if (!isApart(r)) region(r);
      underMask_ = before;
    }
  }
  bool areSideBySide(StmtId id) const {
    return inRows_.contains(id) || neighbours_.areSideBySide(fn_.stmts[id]);
  }
  /// A branch in which lanes call one by one is for what is seldom: how wide it is counts as little as its
  /// work.
  bool isApart(RegionId r) const {
    return std::ranges::any_of(fn_.regions[r].stmts, [&](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      return s.kind == StmtKind::Call && laneCallOf(module_, s, variance_) == LaneCallKind::OneByOne;
    });
  }
  void value(ValueId v) {
    if (variance_.of(v) != VarianceKind::Varying) return;
    ++body.values;
    widest(fn_.typeOf(v));
  }
  void widest(ValueType type) {
    const TypeKind kind = type.cls == ClassKind::Scalar ? type.scalar : TypeKind::I64;
    if (kind != TypeKind::Bool) body.bits = std::max(body.bits, types::scalarBits(kind));
  }
  void scalar(const Stmt& s) {
    const auto& attr = s.as<ScalarAttr>();
    neighbours_.note(s);
    if (variance_.of(s.results[0]) != VarianceKind::Varying) return;
    if (!comparesPlaces(s)) widest(scalarType(attr.from));
    body.ops += often_ * opsOf(attr);
  }
  /// A comparison of places, which go on by the same from lane to lane, that is the same in all turns around:
  /// of what is made once only the mask is there for them.
  bool comparesPlaces(const Stmt& s) const {
    return s.as<ScalarAttr>().op == OpKind::Cmp && around_ && around_->isUniform(s.results[0]) &&
           std::ranges::none_of(s.operands,
                                [this](ValueId v) { return variance_.of(v) == VarianceKind::Varying; });
  }
  void loop(const Stmt& s) {
    const auto varying = std::ranges::count_if(s.results, [&](ValueId v) { return !variance_.isUniform(v); });
    body.carried = std::max(body.carried, static_cast<uint32_t>(varying));
    if (varying > 0) body.held = std::max(body.held, heldFor(s));
    const std::optional<uint64_t> turns = s.kind == StmtKind::For ? turnsOf(fn_, s) : std::nullopt;
    const double before = often_;
    const bool masked = underMask_;
    underMask_ |= masks(s, variance_);
    often_ *= static_cast<double>(std::min(turns.value_or(unknownTurns), unknownTurns));
    if (s.kind == StmtKind::For && varying > 0) chain(s);
    for (RegionId r : s.regions) region(r);
    often_ = before;
    underMask_ = masked;
  }
  /// How many values differ between lanes that are made in front of a loop and used in it.
  uint32_t heldFor(const Stmt& loop) const {
    std::unordered_set<RegionId> inside;
    std::unordered_set<ValueId> used;
    for (RegionId r : loop.regions) {
      inside.merge(regionsWithin(fn_, r));
      forEachUse(fn_, r, [&](ValueId v) { used.insert(v); });
    }
    return static_cast<uint32_t>(std::ranges::count_if(used, [&](ValueId v) {
      return variance_.of(v) == VarianceKind::Varying && !inside.contains(fn_.values[v].region);
    }));
  }
  /// One op waits for that of the turn before. What turns store side by side is stored by some of them
  /// together, and shuffled for that.
  void chain(const Stmt& s) {
    body.chained = std::max(body.chained, often_);
    const std::vector<StmtId> together = storesOfChain(fn_, s);
    if (underMask_) return;
    for (StmtId id : together) inRows_.insert(id);
    body.kept = std::max(body.kept, static_cast<uint32_t>(together.size()));
    body.shuffles += often_ * static_cast<double>(together.size() * std::countr_zero(storedRows));
  }
  void call(const Stmt& s) {
    switch (laneCallOf(module_, s, variance_)) {
    case LaneCallKind::Merged: return callee(s);
    case LaneCallKind::OneByOne:
      body.moves += often_ * static_cast<double>(s.operands.size() + s.results.size());
      return;
    default: return;
    }
  }
  void callee(const Stmt& s) {
    const Variance inside = varianceOfCall(module_, s, variance_);
    BodyReader reader(module_, module_.functions[s.as<FunctionId>()], inside);
    reader.region(module_.functions[s.as<FunctionId>()].body);
    body.bits = std::max(body.bits, reader.body.bits);
    body.values += reader.body.values;
    body.ops += often_ * reader.body.ops;
    body.moves += often_ * reader.body.moves;
  }

  const Module& module_;
  const Function& fn_;
  const Variance& variance_;
  Neighbours neighbours_;
  const Variance* around_;
  std::unordered_set<StmtId> inRows_; ///< accesses in groups
  bool underMask_ = false;
  double often_ = 1;
};

/// Whether lanes take less time than turns one after another: what lies anywhere is read one by one, and
/// stored at more cost than by itself.
bool isWorthIt(const Body& body, uint32_t lanes) {
  const double steps = 2 * std::countr_zero(lanes) + 1; // and as many shuffles
  const double shared = body.ops + body.loads + body.stores + body.shuffles + steps * body.running;
  const double work =
      0.5 * (body.ops + body.loads + body.gathers) + body.stores + body.scatters + body.running;
  const double apart = std::max(work, body.kept > 0 ? waiting * body.chained : 0);
  return shared / lanes + body.gathers + 6 * body.scatters + 2 * body.moves < apart + body.gathers / 4;
}

/// The extremes of floats ask for NaN and zeros.
double opsOfStep(const ExactStep& step) { return types::isFloatKind(step.kind) ? 4 : 1; }

class Chooser {
public:
  /// `turns`: of the chunks that the function is, at most.
  Chooser(const Module& module, Function& fn, const Machine& machine, std::optional<uint64_t> turns)
      : module_(module), fn_(fn), machine_(machine), turns_(turns) {}

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
      if (unrolled(id))
        inside = true;
      else if (inside)
        rows(id);
      else if (!isForLoopAround(id, around) && !isForColumns(id) && loop(fn_.stmts[id])) {
        inside = true;
        sumInRows(id);
        chainsInRows(fn_.stmts[id]);
      }
      any |= inside;
    }
    return any;
  }

private:
  /// A loop around short ones: these are written out if it then runs in lanes, as many as theirs.
  bool unrolled(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::For || !holdsShort(fn_, s, isOverChunk(fn_, s) ? turns_ : std::nullopt))
      return false;
    const RegionId body = s.regions[0];
    const std::optional<RegionId> made = unrollShort(fn_, id);
    if (!made) return false;
    fn_.stmts[id].regions[0] = *made;
    ForAttr& attr = fn_.stmts[id].as<ForAttr>();
    if (loop(fn_.stmts[id]) && attr.lanes >= mostLanesIn(body)) return true;
    attr.lanes = attr.unroll = 0;
    fn_.stmts[id].regions[0] = body;
    return false;
  }
  /// Of the loops in a region, the most lanes.
  uint32_t mostLanesIn(RegionId r) const {
    uint32_t most = 0;
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::For) most = std::max(most, s.as<ForAttr>().lanes);
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
           std::ranges::any_of(*steps, [](const ExactStep& e) { return e.best.has_value(); }) &&
           canWiden(module_, fn_, fn_.stmts[around]) &&
           (turnsOf(fn_, s).value_or(shortRow) < shortRow || gathersIn(around) <= gathersIn(id));
  }

  /// Whether a sum that nothing rounds is to be left to lanes of the points around it: to columns, of which
  /// rows share one side, and which share the other, or where turns of the sum would gather what these read
  /// side by side, or what a tile packs, as where the highest of products is looked for.
  bool isForColumns(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::For || s.results.empty() || !exactSteps(fn_, s)) return false;
    auto at = around_.rbegin();
    while (at != around_.rend() && !fn_.stmts[*at].results.empty()) ++at;
    if (at == around_.rend() || !mayHaveLanes(*at)) return false;
    const StmtId columns = *at;
    const bool isContraction = std::any_of(std::next(at), around_.rend(),
                                           [&](StmtId rows) { return haveTwoSides(fn_, rows, columns); });
    return isContraction ||
           (gathersIn(id) > 0 && (gathersIn(columns) == 0 || haveTwoSides(fn_, columns, id)));
  }
  bool mayHaveLanes(StmtId id) {
    ForAttr& attr = fn_.stmts[id].as<ForAttr>();
    if (attr.strip > 0 || !loop(fn_.stmts[id])) return false;
    attr.lanes = attr.unroll = 0;
    return true;
  }
  double gathersIn(StmtId id) const {
    const Stmt& s = fn_.stmts[id];
    const Variance variance(fn_, s);
    BodyReader reader(module_, fn_, variance, fn_.regions[s.regions[0]].params[0]);
    reader.region(s.regions[0]);
    return reader.body.gathers;
  }

  bool loop(Stmt& s) {
    if (!canWiden(module_, fn_, s)) return false;
    widen(s, 1, around_.empty() ? StmtId() : around_.back());
    return s.as<ForAttr>().lanes > 0;
  }

  /// A loop around one in lanes: points of both are done together where that saves reads.
  void rows(StmtId loop) {
    Stmt& s = fn_.stmts[loop];
    if (s.kind != StmtKind::For) return;
    if (!gainsByRows(module_, fn_, s)) return rowsOfStrips(s);
    std::vector<StmtId> inLanes;
    for (StmtId id : fn_.regions[s.regions[0]].stmts)
      if (const Stmt& inner = fn_.stmts[id]; inner.kind == StmtKind::For && inner.as<ForAttr>().lanes > 0)
        inLanes.push_back(id);
    if (std::ranges::any_of(inLanes, [this](StmtId id) { return holdsRows(fn_.stmts[id]); })) return;
    const bool areShort = std::ranges::all_of(inLanes, [this](StmtId id) { return isShortInLanes(id); });
    const uint32_t rows = blockOf(turnsOf(fn_, s), areShort ? mostRows : mostLongRows);
    if (rows < 2) return;
    s.as<ForAttr>().rows = rows;
    for (StmtId id : inLanes) widen(fn_.stmts[id], rows, loop);
  }
  /// Points whose partial sums, all together, stay in registers.
  void rowsOfStrips(Stmt& s) const {
    const std::optional<uint64_t> bytes = frameOfStrips(module_, fn_, s);
    if (!bytes || *bytes == 0) return;
    const uint64_t each = (8 * *bytes + machine_.vectorBits - 1) / machine_.vectorBits;
    if (each >= machine_.registers) return;
    const uint32_t most = std::min<uint64_t>(mostStrips, (machine_.registers - each) / each);
    if (const uint32_t rows = blockOf(turnsOf(fn_, s), most); rows > 1) s.as<ForAttr>().rows = rows;
  }
  /// Of a loop in lanes, turns of a sum around the chain are done together where that saves reads.
  void sumInRows(StmtId id) {
    const std::optional<StmtId> sum = sumForRows(fn_, id, sumsIn(fn_, id));
    if (!sum) return;
    const uint32_t most = storesAlong(fn_, fn_.stmts[*sum]) ? storedRows
                          : isShortInLanes(id)              ? mostRows
                                                            : mostLongRows;
    const uint32_t rows = blockOf(turnsOf(fn_, fn_.stmts[*sum]), most);
    if (rows < 2) return;
    fn_.stmts[*sum].as<ForAttr>().rows = rows;
    widen(fn_.stmts[id], rows, *sum);
  }
  /// Chains in a loop in lanes whose turns store neighbours.
  void chainsInRows(const Stmt& s) {
    for (RegionId r : s.regions)
      for (StmtId id : fn_.regions[r].stmts) {
        Stmt& inner = fn_.stmts[id];
        if (inner.kind != StmtKind::For) continue;
        if (!storesOfChain(fn_, inner).empty()) inner.as<ForAttr>().rows = storedRows;
        chainsInRows(inner);
      }
  }
  bool holdsRows(const Stmt& s) const {
    return std::ranges::any_of(s.regions, [&](RegionId r) {
      return std::ranges::any_of(fn_.regions[r].stmts, [&](StmtId id) {
        const Stmt& inner = fn_.stmts[id];
        return (inner.kind == StmtKind::For && inner.as<ForAttr>().rows > 0) || holdsRows(inner);
      });
    });
  }

  /// So many turns, at most, that blocks of them are about as large.
  static uint32_t blockOf(std::optional<uint64_t> turns, uint32_t most) {
    if (!turns || *turns == 0) return most;
    return static_cast<uint32_t>((*turns + (*turns - 1) / most) / (1 + (*turns - 1) / most));
  }

  /// Whether the turns of a loop in lanes hold little beside what sums carry.
  bool isShortInLanes(StmtId id) const {
    const Stmt& s = fn_.stmts[id];
    const Variance variance(fn_, s);
    BodyReader reader(module_, fn_, variance, fn_.regions[s.regions[0]].params[0]);
    reader.region(s.regions[0]);
    return reader.body.values <= shortTurn;
  }

  /// As many lanes as suit the loop, of so many turns of another one, around it or in it.
  void widen(Stmt& s, uint32_t rows, StmtId other) const {
    const Variance variance(fn_, s);
    const std::optional<Variance> turns =
        other.valid() ? std::optional<Variance>(std::in_place, fn_, fn_.stmts[other]) : std::nullopt;
    BodyReader reader(module_, fn_, variance, fn_.regions[s.regions[0]].params[0], turns ? &*turns : nullptr);
    reader.region(s.regions[0]);
    Body& body = reader.body;
    const std::vector<ExactStep> steps = *exactSteps(fn_, s);
    for (const ExactStep& step : steps)
      if (step.running) body.running += opsOfStep(step);
    if (body.bits == 0 && body.values == 0) return;
    body.bits = std::max(body.bits, 8U); // a bool is a byte in memory
    const uint32_t most = machine_.vectorBits / body.bits;
    ForAttr& attr = s.as<ForAttr>();
    const uint64_t all = turnsOf(fn_, s).value_or(std::numeric_limits<uint32_t>::max());
    const uint64_t count = attr.strip > 0 ? std::min<uint64_t>(all, attr.strip) : all;
    const auto lanes = static_cast<uint32_t>(std::bit_ceil(std::min<uint64_t>(count, most)));
    const bool canLeaveOut = canMask(machine_, fn_, s);
    // Of sums one lane may be left over.
    const bool fewLeft = count + 1 == fewLanes && body.carried > 0 && canLeaveOut;
    if ((!fewLeft && !isEnough(count, lanes, most)) || !isWorthIt(body, lanes)) return;
    attr.lanes = lanes;
    attr.unroll = registersOf(body, s, rows);
    const uint64_t whole = canLeaveOut ? std::bit_ceil(count) : std::bit_floor(count);
    const uint64_t once = std::max<uint64_t>(1, whole / lanes);
    if (once <= mostAtOnce && isShort(body) && body.running == 0)
      attr.unroll = static_cast<uint32_t>(once);
    else
      while (attr.unroll > 1 && uint64_t(lanes) * attr.unroll > count) attr.unroll /= 2;
  }
  /// Less than half of a register is for as many turns as there are lanes.
  static bool isEnough(uint64_t turns, uint32_t lanes, uint32_t most) {
    return turns >= fewLanes && (lanes >= most / 2 || lanes == turns);
  }
  bool isShort(const Body& body) const { return body.carried == 0 && body.values <= machine_.registers / 4; }

  /// How many registers a value may take: more than one pays where turns wait for what is carried, and where
  /// a turn is so long that the processor does not see the next one.
  uint32_t registersOf(const Body& body, const Stmt& s, uint32_t rows) const {
    const ForAttr& attr = s.as<ForAttr>();
    const uint32_t room = machine_.registers / 2;
    if (body.carried > 0) { // beside that, what is read for all rows, and for one
      const uint32_t each = body.carried * rows + body.kept * storedRows + std::max(1U, body.held);
      return std::bit_floor(std::clamp((machine_.registers - 1) / each, 1U, machine_.registers / 4));
    }
    // What is added to the lanes of a sum stays in registers where these are all there is of a strip.
    if (attr.strip > 0 && isShort(body)) return std::max(1U, attr.strip / attr.lanes);
    if (body.running > 0 || body.shuffles > 0) return 1;
    if (isShort(body)) return s.results.empty() ? 1 : 4;
    return body.values <= 4 * room ? 2 : 1;
  }

  static constexpr uint32_t fewLanes = 4, mostRows = 6, mostLongRows = 4, shortTurn = 20;
  static constexpr uint32_t mostStrips = 4; ///< points of partial sums in the frame
  static constexpr uint64_t mostAtOnce = 4; ///< registers of a loop that is one turn

  const Module& module_;
  Function& fn_;
  const Machine& machine_;
  const std::optional<uint64_t> turns_;
  std::vector<StmtId> around_; ///< loops around the region at hand, outermost first
};

/// How many turns of the loops over a chunk are done together: all are powers of two. Those inside of others,
/// or of branches, are the ones with the chunk's ends.
uint32_t stepOf(const Function& fn, RegionId region) {
  uint32_t step = 1;
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::For && (region == fn.body || (s.results.empty() && isOverChunk(fn, s)))) {
      const auto& attr = s.as<ForAttr>();
      step = std::max({step, attr.lanes * attr.unroll, attr.rows});
    }
    for (RegionId r : s.regions) step = std::max(step, stepOf(fn, r));
  }
  return step;
}

/// By function that is launched: the most turns that a launch has, if all are known.
std::vector<std::optional<uint64_t>> mostTurnsOfChunks(const Module& module) {
  std::vector<std::optional<uint64_t>> most(module.functions.size());
  std::vector<bool> unknown(module.functions.size(), false);
  for (const Function& fn : module.functions)
    for (const Stmt& s : fn.stmts) {
      if (s.kind != StmtKind::Launch) continue;
      const uint32_t callee = s.as<FunctionId>().index;
      if (const uint64_t* turns = asConstant(fn, s.operands[0]))
        most[callee] = std::max(most[callee].value_or(0), *turns);
      else
        unknown[callee] = true;
    }
  for (size_t f = 0; f < most.size(); ++f)
    if (unknown[f]) most[f].reset();
  return most;
}

} // namespace

void chooseLanes(Module& module, const Machine& machine) {
  const std::vector<std::optional<uint64_t>> turns = mostTurnsOfChunks(module);
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    if (fn.inlined) continue;
    Chooser(module, fn, machine, turns[f]).region(fn.body);
    if (fn.kind != FunctionKind::Orchestration) fn.step = stepOf(fn, fn.body);
  }
}

} // namespace melix::loops
