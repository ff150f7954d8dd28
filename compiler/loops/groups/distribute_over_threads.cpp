#include "loops/groups/distribute_over_threads.h"

#include "loops/groups/group_schedule.h"
#include "loops/groups/join_steps.h"
#include "loops/groups/memory_roots.h"
#include "loops/ir/clone.h"

#include <algorithm>
#include <bit>

namespace melix::loops {
namespace {

using core::OpKind;
using ops::CmpKind;

/// Memory that threads share: a bit for each piece of the group's, and one for all captured arrays, of which
/// some may be the same.
using Memory = uint64_t;

/// What threads may do with it.
struct Touch {
  Memory reads = 0, writes = 0;
  Touch operator|(const Touch& o) const { return {reads | o.reads, writes | o.writes}; }
  /// Whether `next` may not overtake it.
  bool comesBefore(const Touch& next) const {
    return ((reads | writes) & next.writes) != 0 || (writes & next.reads) != 0;
  }
};

class Distributor {
public:
  Distributor(Function& fn, const GroupSchedule& schedule) : fn_(fn), schedule_(schedule), b_(fn) {}

  void run(RegionId point) {
    fn_.points.threads = schedule_.threads;
    writesCaptures_ = std::ranges::any_of(fn_.stmts, [&](const Stmt& s) {
      const ValueId written = touchedBy(s).written;
      return written.valid() && isCapture(written);
    });
    region(point, fn_.hasScratch()); // then a group runs several points
  }

private:
  static constexpr Memory captures = 1;

  bool isCapture(ValueId memory) const {
    const ValueId root = memoryOf(fn_, memory);
    return !root.valid() || !frameOf(fn_, root).valid();
  }

  // --- statements that all threads run
  /// Rewrites a region. If `endsSynchronised`, nothing is pending where it ends.
  void region(RegionId r, bool endsSynchronised) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    const RegionId made = b_.begin();
    if (!thread_.valid()) beginPoint();
    for (StmtId id : stmts) {
      b_.loc = fn_.stmts[id].loc;
      if (id == stmts.back() && endsSynchronised) synchronise();
      statement(id);
    }
    b_.end();
    std::vector<StmtId> all = std::move(fn_.regions[made].stmts);
    fn_.regions[made].stmts.clear();
    all.pop_back(); // the yield of `end`: that of the region is before it
    for (StmtId id : all)
      for (ValueId v : fn_.stmts[id].results) fn_.values[v].region = r;
    fn_.regions[r].stmts = std::move(all);
  }

  void beginPoint() {
    thread_ = b_.value(StmtKind::Thread, {}, indexType);
    isFirst_ = b_.compare(CmpKind::Eq, thread_, b_.integer(0));
  }

  void append(StmtId id) { fn_.regions[b_.current()].stmts.push_back(id); }

  void statement(StmtId id) {
    if (const auto shared = schedule_.loops.find(id); shared != schedule_.loops.end())
      return share(id, shared->second);
    if (schedule_.memory.contains(id)) return makeShared(id);
    const Stmt& s = fn_.stmts[id];
    switch (s.kind) {
    case StmtKind::For:
    case StmtKind::While: return loop(id);
    case StmtKind::If:
    case StmtKind::Switch: return branches(id);
    default: return access(id);
    }
  }

  /// Before and after each iteration nothing is pending.
  void loop(StmtId id) {
    synchronise();
    const std::vector<RegionId> regions = fn_.stmts[id].regions;
    for (RegionId r : regions) region(r, true);
    append(id);
  }

  void branches(StmtId id) {
    const std::vector<RegionId> regions = fn_.stmts[id].regions;
    const Touch before = pending_;
    Touch after;
    for (RegionId r : regions) {
      pending_ = before;
      region(r, false);
      after = after | pending_;
    }
    pending_ = after;
    append(id);
  }

  /// One thread stores into memory that all have; each into memory of its own.
  void access(StmtId id) {
    const Touched touched = touchedBy(fn_.stmts[id]);
    touch({memoryOfThreads(touched.read), memoryOfThreads(touched.written)});
    if (!memoryOfThreads(touched.written)) return append(id);
    const RegionId yes = b_.begin();
    append(id);
    b_.end();
    const RegionId no = b_.begin();
    b_.end();
    b_.stmt(StmtKind::If, {isFirst_}, {}, {}, {yes, no});
  }

  // --- memory
  /// Where threads may meet; none where each has its own, or nobody writes.
  Memory memoryOfThreads(ValueId memory) {
    if (!memory.valid()) return 0;
    const StmtId frame = frameOf(fn_, memoryOf(fn_, memory));
    if (!frame.valid()) return writesCaptures_ ? captures : 0;
    const bool isShared = fn_.stmts[frame].kind == StmtKind::Shared || schedule_.memory.contains(frame);
    return isShared ? pieceOf(frame) : 0;
  }
  Memory pieceOf(StmtId frame) {
    constexpr size_t most = 63;
    const size_t number = 1 + std::min(pieces_.size(), most - 1);
    return pieces_.try_emplace(frame, Memory{1} << number).first->second;
  }

  /// A barrier comes before statements that touch what others may still use.
  void touch(const Touch& next) {
    if (pending_.comesBefore(next)) synchronise();
    pending_ = pending_ | next;
  }
  void synchronise() {
    if (pending_.reads || pending_.writes) b_.stmt(StmtKind::Barrier, {});
    pending_ = {};
  }

  /// The memory of a frame becomes that of the group; of an array its address stands for it.
  void makeShared(StmtId id) {
    Stmt& s = fn_.stmts[id];
    const uint64_t bytes = s.kind == StmtKind::Scratch ? s.as<uint64_t>() : s.as<AllocAttr>().bytes;
    const ValueId memory = s.results[0];
    s.kind = StmtKind::Shared;
    s.attr = bytes;
    fn_.values[memory].type = addressType;
    append(id);
  }

  // --- loops whose iterations the threads share
  void share(StmtId id, uint32_t width) {
    touch(touchedWithin(fn_.stmts[id].regions[0]));
    const std::vector<ReassociableStep> steps = *exactSteps(fn_, fn_.stmts[id]);
    const Iterations mine = iterationsOfThread(fn_.stmts[id], width);
    const std::vector<ValueId> operands = fn_.stmts[id].operands, results = fn_.stmts[id].results;
    const std::vector<ValueId> initial(operands.begin() + boundOperands, operands.end());
    std::vector<ValueId> begun{b_.integer(0), mine.count};
    for (ValueId v : neutralValues(b_, steps, initial)) begun.push_back(v);
    std::vector<ValueId> parts;
    for (ValueId v : results) parts.push_back(fn_.values.add({fn_.typeOf(v), id, RegionId()}));
    {
      Stmt& s = fn_.stmts[id];
      s.operands = std::move(begun);
      s.results = parts;
      auto& attr = s.as<ForAttr>();
      if (attr.minDistance > 0) attr = ForAttr{};
    }
    countIterations(fn_.stmts[id].regions[0], mine.first, width);
    append(id);
    if (parts.empty()) return;
    parts = overGroup(steps, std::move(parts));
    becomes(results, joinedValues(b_, steps, initial, parts, true));
  }

  struct Iterations {
    ValueId first, count;
  };
  /// The thread's iterations of a loop of which `width` threads take turns.
  Iterations iterationsOfThread(const Stmt& s, uint32_t width) {
    const ValueId begin = s.operands[0], end = s.operands[1], last = b_.integer(int64_t{width} - 1);
    const bool isStrip = s.as<ForAttr>().minDistance > 0;
    ValueId offset = thread_;
    if (isStrip && !isMultipleOf(fn_, begin, width))
      offset = b_.arith(OpKind::And, b_.arith(OpKind::Sub, thread_, begin), last);
    const uint64_t* known = asConstant(fn_, begin);
    const ValueId first = known && *known == 0 ? offset : b_.arith(OpKind::Add, begin, offset);
    const ValueId filled = b_.arith(OpKind::Add, b_.arith(OpKind::Sub, end, first), last);
    ValueId count = b_.arith(OpKind::Shr, filled, b_.integer(std::countr_zero(width)));
    if (width < schedule_.threads)
      count = b_.select(b_.compare(CmpKind::Lt, thread_, b_.integer(width)), count, b_.integer(0));
    return {first, count};
  }

  /// The index of the body is made of the number of the thread's iteration.
  void countIterations(RegionId body, ValueId first, uint32_t width) {
    const ValueId index = fn_.regions[body].params[0];
    const ValueId number = fn_.values.add({indexType, StmtId(), body});
    fn_.regions[body].params[0] = number;
    const RegionId made = b_.begin();
    const ValueId before = b_.arith(OpKind::Mul, number, b_.integer(width));
    becomes({index}, {b_.arith(OpKind::Add, first, before)});
    b_.end();
    splice(fn_, made, body, 0);
  }

  /// Values that others use are made by these statements from here on.
  void becomes(const std::vector<ValueId>& values, const std::vector<ValueId>& made) {
    for (size_t k = 0; k < values.size(); ++k) {
      const StmtId def = fn_.values[made[k]].def;
      fn_.stmts[def].results[0] = values[k];
      fn_.values[values[k]].def = def;
      fn_.values[values[k]].region = b_.current();
    }
  }

  /// What all threads come to, in each of them.
  std::vector<ValueId> overGroup(const std::vector<ReassociableStep>& steps, std::vector<ValueId> mine) {
    for (uint64_t distance = warpThreads / 2; distance > 0; distance /= 2) {
      std::vector<ValueId> others;
      for (ValueId v : mine) others.push_back(b_.value(StmtKind::Shuffle, {v}, fn_.typeOf(v), distance));
      mine = joinedValues(b_, steps, mine, others, false);
    }
    return schedule_.threads == warpThreads ? mine : overWarps(steps, mine);
  }

  /// The first thread of each warp stores what the warp came to, and each reads that of all.
  std::vector<ValueId> overWarps(const std::vector<ReassociableStep>& steps,
                                 const std::vector<ValueId>& mine) {
    const uint32_t warps = schedule_.threads / warpThreads;
    const ValueId memory = b_.value(StmtKind::Shared, {}, addressType, uint64_t{8} * warps * mine.size());
    auto place = [&](ValueId number, size_t k) {
      return std::pair(std::vector<Term>{{number, b_.integer(1)}},
                       Access{fn_.typeOf(mine[k]), 8, static_cast<int64_t>(8 * warps * k)});
    };
    const Memory piece = pieceOf(fn_.values[memory].def);
    touch({0, piece});
    const ValueId lane = b_.arith(OpKind::And, thread_, b_.integer(warpThreads - 1));
    const RegionId yes = b_.begin();
    const ValueId own = b_.arith(OpKind::Shr, thread_, b_.integer(std::countr_zero(warpThreads)));
    for (size_t k = 0; k < mine.size(); ++k) {
      const auto [terms, access] = place(own, k);
      b_.store(memory, terms, access, mine[k]);
    }
    b_.end();
    const RegionId no = b_.begin();
    b_.end();
    b_.stmt(StmtKind::If, {b_.compare(CmpKind::Eq, lane, b_.integer(0))}, {}, {}, {yes, no});
    touch({piece, 0});
    std::vector<ValueId> all;
    for (uint32_t w = 0; w < warps; ++w) {
      std::vector<ValueId> next;
      for (size_t k = 0; k < mine.size(); ++k) {
        const auto [terms, access] = place(b_.integer(w), k);
        next.push_back(b_.load(memory, terms, access));
      }
      all = w == 0 ? next : joinedValues(b_, steps, all, next, false);
    }
    return all;
  }

  Touch touchedWithin(RegionId r) {
    Touch out;
    for (StmtId id : fn_.regions[r].stmts) {
      const Touched touched = touchedBy(fn_.stmts[id]);
      out = out | Touch{memoryOfThreads(touched.read), memoryOfThreads(touched.written)};
      for (RegionId inner : fn_.stmts[id].regions) out = out | touchedWithin(inner);
    }
    return out;
  }

  Function& fn_;
  const GroupSchedule& schedule_;
  Builder b_;
  ValueId thread_, isFirst_;
  bool writesCaptures_ = false;
  Touch pending_; ///< since the last barrier
  std::unordered_map<StmtId, Memory> pieces_;
};

} // namespace

void distributeOverThreads(Module& module) {
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    Function& fn = module.functions[FunctionId(f)];
    if (fn.kind != FunctionKind::Device || fn.points.threads > 1) continue;
    const GroupSchedule schedule = chooseGroup(module, fn);
    if (schedule.threads == 1) continue;
    Distributor(fn, schedule).run(pointOf(fn));
  }
}

} // namespace melix::loops
