#include "loops/kernels/launch_cost.h"

#include "loops/analysis/launch_expressions.h"
#include "loops/analysis/stride_analysis.h"
#include "loops/ir/cost_table.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr int64_t unitShift = 10;
constexpr double unitsPerNanosecond = 1 << unitShift; ///< times are added in these, in numbers of kind i64

/// Units: those known now, and a value that stands where the launch does.
struct Time {
  double known = 0;
  ValueId more = {};
};

/// What a launch leaves: numbers only, or blocks that its threads made, which the others then wait for.
enum class LeavesKind { Numbers, Blocks };

LeavesKind leavesOf(const Function& kernel) {
  const bool counted = std::ranges::any_of(kernel.stmts, [&kernel](const Stmt& s) {
    return s.kind == StmtKind::Store && !s.as<Access>().borrowed &&
           kernel.typeOf(s.operands.back()).counted();
  });
  return counted ? LeavesKind::Blocks : LeavesKind::Numbers;
}

/// How functions take their time that kernels call: a number for each, whatever it is given.
class FunctionTimes {
public:
  FunctionTimes(const Module& module, LeavesKind leaves) : module_(module), leaves_(leaves) {}
  /// Of a function that calls itself: what one call takes, and `time::recursion` if that is anything.
  double of(FunctionId f);
  LeavesKind leaves() const { return leaves_; }

private:
  struct Entry {
    double known = 0;
    bool isOpen = true; ///< being read: its calls are of itself
    bool isRecursive = false;
  };

  const Module& module_;
  LeavesKind leaves_;
  std::unordered_map<FunctionId, Entry> known_;
};

/// The loop in lanes around the statements that are read.
struct LanesAround {
  LanesAround(const Function& fn, const Stmt& loop, const ForAttr& attr)
      : variance(fn, loop), strides(fn, variance, fn.regions[loop.regions[0]].params[0]),
        lane(1.0 / attr.vectorWidth), strip(lane / attr.interleave) {}
  LanesAround(const LanesAround&) = delete;

  Variance variance;
  LaneStrides strides;
  double lane;  ///< the part of a strip's time that an iteration takes, of what differs between lanes
  double strip; ///< the same, of what is done once for all lanes in all registers
};

class TimeReader {
public:
  /// `launched` is none where iterations are to be known.
  TimeReader(const Function& fn, FunctionTimes& times, Builder* b = nullptr, LaunchValues* launched = nullptr)
      : fn_(fn), times_(times), b_(b), launched_(launched), isUsed_(fn.values.size()) {
    for (const Stmt& s : fn.stmts)
      for (ValueId v : s.operands) isUsed_[v.index] = true;
  }

  Time region(RegionId r) {
    Time all;
    for (StmtId id : fn_.regions[r].stmts) add(all, statement(fn_.stmts[id]));
    return all;
  }
  /// As one value.
  ValueId total(Time time) {
    const int64_t known = std::llround(time.known);
    if (time.more.valid() && known == 0) return time.more;
    return time.more.valid() ? b_->arith(OpKind::Add, time.more, b_->integer(known)) : b_->integer(known);
  }

private:
  Time statement(const Stmt& s) {
    switch (s.kind) {
    case StmtKind::Scalar: return scalar(s);
    case StmtKind::Load: return access(s, varies(s.results), time::gather);
    case StmtKind::Store: return access(s, varies(s.operands), time::scatter);
    case StmtKind::CopyBytes:
    case StmtKind::ZeroBytes: return bytes(s);
    case StmtKind::Call:
    case StmtKind::Launch: return {times_.of(s.as<FunctionId>()) * share(varies(s.operands))};
    case StmtKind::Retain:
    case StmtKind::Drop: return units(leavesBlocks() ? -time::sharedCount : time::count);
    case StmtKind::If:
    case StmtKind::Switch: return branches(s);
    case StmtKind::While: return whileLoop(s);
    case StmtKind::For: return forLoop(s);
    default: return units(siteOf(s.kind) == SiteKind::Host ? host(s) : 0);
    }
  }

  bool leavesBlocks() const { return times_.leaves() == LeavesKind::Blocks; }
  /// Of a statement of the runtime.
  double host(const Stmt& s) const {
    const bool makes = std::ranges::any_of(s.results, [this](ValueId v) { return fn_.typeOf(v).counted(); });
    return makes && leavesBlocks() ? -time::handover : time::host;
  }

  static Time units(double nanoseconds) { return {nanoseconds * unitsPerNanosecond}; }
  void add(Time& all, Time part) {
    all.known += part.known;
    if (!part.more.valid()) return;
    all.more = all.more.valid() ? b_->arith(OpKind::Add, all.more, part.more) : part.more;
  }

  bool varies(std::span<const ValueId> values) const {
    return lanes_ && std::ranges::any_of(values, [this](ValueId v) {
             return lanes_->variance.of(v) == VarianceKind::Varying;
           });
  }
  double share(bool varying) const { return !lanes_ ? 1 : varying ? lanes_->lane : lanes_->strip; }

  Time scalar(const Stmt& s) {
    const auto& attr = s.as<ScalarAttr>();
    if (!isUsed_[s.results[0].index]) return {};
    const bool varying = varies(s.results);
    if (attr.op != OpKind::IDiv && attr.op != OpKind::IRem)
      return units(opsOf(attr) * time::op * share(varying));
    if (asConstant(fn_, s.operands[1])) return units(4 * time::op * share(varying));
    return units(time::division * (varying ? 1 : share(false)));
  }

  Time access(const Stmt& s, bool varying, double bytes) const {
    if (varying && !lanes_->strides.areSideBySide(s)) return units(bytes);
    return units(time::access * share(varying));
  }

  /// Of a branch that all iterations take, or none, whether they do, as far as that is known before.
  std::optional<ValueId> known(const Stmt& s) {
    const bool isSame = launched_ && s.kind == StmtKind::If && LaunchValues::isUniform(fn_, s.operands[0]);
    return isSame ? launched_->of(s.operands[0]) : std::nullopt;
  }
  /// The one that is taken where that is known; else the dearest one where one is taken, all where lanes take
  /// different ones. Blocks that one leaves behind do not vanish beside one that leaves none: there it is the
  /// mean.
  Time branches(const Stmt& s) {
    if (const std::optional<ValueId> isFirst = known(s)) {
      const Time first = region(s.regions[0]), second = region(s.regions[1]);
      if (const uint64_t* which = b_->asConstant(*isFirst)) return *which ? first : second;
      return {0, b_->select(*isFirst, total(first), total(second))};
    }
    const bool all = varies(std::span(s.operands).first(1));
    Time out;
    for (RegionId r : s.regions) {
      const Time each = region(r);
      if (all || r == s.regions[0] || (leavesBlocks() && !out.more.valid() && !each.more.valid()))
        add(out, each);
      else if (!out.more.valid() && !each.more.valid())
        out.known = std::max(out.known, each.known);
      else
        out = {0, b_->arith(OpKind::Max, total(out), total(each))};
    }
    if (!all && leavesBlocks() && !out.more.valid()) out.known /= static_cast<double>(s.regions.size());
    return out;
  }

  Time whileLoop(const Stmt& s) {
    Time iteration = region(s.regions[0]);
    add(iteration, region(s.regions[1]));
    return times(assumedTripCount, iteration);
  }

  Time forLoop(const Stmt& s) {
    const auto& attr = s.as<ForAttr>();
    std::optional<LanesAround> lanes;
    LanesAround* const outer = lanes_;
    if (attr.vectorWidth > 0) lanes_ = &lanes.emplace(fn_, s, attr);
    if (launched_) launched_->enter(s);
    Time iteration = region(s.regions[0]);
    if (std::ranges::any_of(s.results, [this](ValueId v) { return isFloat(v); }))
      iteration.known = std::max(iteration.known, units(time::chain * share(false)).known);
    lanes_ = outer;
    return repeat(s, iteration);
  }
  bool isFloat(ValueId v) const {
    const ValueType type = fn_.typeOf(v);
    return type.cls == ClassKind::Scalar && types::isFloatKind(type.scalar);
  }

  /// As often as the loop iterates.
  Time repeat(const Stmt& loop, Time iteration) {
    if (const std::optional<uint64_t> tripCount = constantTripCount(fn_, loop))
      return times(*tripCount, iteration);
    std::optional<ValueId> first, end;
    if (launched_) first = launched_->of(loop.operands[0]), end = launched_->of(loop.operands[1]);
    if (!first || !end) return times(guessedTripCount(loop), iteration);
    const uint64_t* from = b_->asConstant(*first);
    if (from && *from == 0) return times(*end, iteration);
    return times(b_->arith(OpKind::Max, b_->arith(OpKind::Sub, *end, *first), b_->integer(0)), iteration);
  }
  /// Of a loop of unknown iterations; some are known to be few.
  uint64_t guessedTripCount(const Stmt& loop) const {
    const StmtId def = fn_.values[loop.operands[1]].def;
    uint64_t tripCount = assumedTripCount;
    if (!def.valid() || fn_.stmts[def].kind != StmtKind::Scalar) return tripCount;
    if (fn_.stmts[def].as<ScalarAttr>().op != OpKind::Min) return tripCount;
    for (ValueId v : fn_.stmts[def].operands)
      if (const uint64_t* most = asConstant(fn_, v)) tripCount = std::min(tripCount, *most);
    return tripCount;
  }
  Time times(ValueId tripCount, Time iteration) {
    if (const uint64_t* known = b_->asConstant(tripCount)) return times(*known, iteration);
    if (!iteration.more.valid()) iteration.known = std::max(iteration.known, 1.0);
    return {0, b_->arith(OpKind::Mul, tripCount, total(iteration))};
  }
  Time times(uint64_t tripCount, Time iteration) {
    Time out{static_cast<double>(tripCount) * iteration.known};
    if (iteration.more.valid())
      out.more = b_->arith(OpKind::Mul, iteration.more, b_->integer(static_cast<int64_t>(tripCount)));
    return out;
  }
  Time bytes(const Stmt& s) {
    std::optional<ValueId> count;
    if (launched_) count = launched_->of(s.operands.back());
    return count ? times(*count, units(time::byte)) : units(time::host);
  }

  const Function& fn_;
  FunctionTimes& times_;
  Builder* b_;
  LaunchValues* launched_;
  std::vector<bool> isUsed_; ///< by value
  LanesAround* lanes_ = nullptr;
};

double FunctionTimes::of(FunctionId f) {
  auto [at, isNew] = known_.try_emplace(f);
  if (!isNew) {
    at->second.isRecursive |= at->second.isOpen;
    return at->second.known;
  }
  const Function& fn = module_.functions[f];
  const double once = TimeReader(fn, *this).region(fn.body).known;
  Entry& entry = known_[f];
  entry.isOpen = false;
  entry.known = once + (entry.isRecursive && once > 0 ? time::recursion * unitsPerNanosecond : 0);
  return entry.known;
}

class Estimator {
public:
  Estimator(Module& module, Function& fn, FunctionTimes& ofNumbers, FunctionTimes& ofBlocks)
      : module_(module), fn_(fn), ofNumbers_(ofNumbers), ofBlocks_(ofBlocks), b_(fn) {}

  void region(RegionId r) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    std::vector<StmtId> out;
    for (StmtId id : stmts) {
      const std::vector<RegionId> inner = fn_.stmts[id].regions;
      for (RegionId each : inner) region(each);
      if (fn_.stmts[id].kind == StmtKind::Launch) launch(id, r, out);
      out.push_back(id);
    }
    fn_.regions[r].stmts = std::move(out);
  }

private:
  /// What says how long it takes goes to `out`.
  void launch(StmtId id, RegionId home, std::vector<StmtId>& out) {
    const Stmt s = fn_.stmts[id]; // statements are made on the way
    const Function& kernel = module_.functions[s.as<FunctionId>()];
    b_.loc = s.loc;
    const RegionId made = b_.begin();
    LaunchValues launched(b_, kernel, s);
    FunctionTimes& times = leavesOf(kernel) == LeavesKind::Blocks ? ofBlocks_ : ofNumbers_;
    TimeReader reader(kernel, times, &b_, &launched);
    const Time time = reader.region(kernel.body);
    const ValueId work = b_.arith(OpKind::Shr, reader.total(time), b_.integer(unitShift));
    b_.end();
    fn_.stmts[id].operands[1] = work;
    const std::vector<StmtId>& stmts = fn_.regions[made].stmts;
    for (StmtId each : std::span(stmts).first(stmts.size() - 1)) {
      for (ValueId v : fn_.stmts[each].results) fn_.values[v].region = home;
      out.push_back(each);
    }
  }

  Module& module_;
  Function& fn_;
  FunctionTimes& ofNumbers_;
  FunctionTimes& ofBlocks_;
  Builder b_;
};

} // namespace

void estimateLaunchCost(Module& module) {
  FunctionTimes ofNumbers(module, LeavesKind::Numbers), ofBlocks(module, LeavesKind::Blocks);
  for (Function& fn : module.functions) Estimator(module, fn, ofNumbers, ofBlocks).region(fn.body);
}

} // namespace melix::loops
