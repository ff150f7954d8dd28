#include "loops/groups/group_schedule.h"

#include "loops/analysis/vectorizability.h"
#include "loops/groups/memory_roots.h"
#include "loops/ir/build.h"
#include "melix/abi.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace melix::loops {
namespace {

using core::OpKind;

constexpr uint32_t block = MELIX_BLOCK_THREADS;
constexpr uint64_t mostPrivate = 16 << 10; ///< bytes of its own that a thread of a group may have
constexpr uint64_t shortLoop = 32;         ///< a loop of no more is little work
constexpr uint64_t manyForWarp = 2048;     ///< a loop of more is shared by a block

class GroupChooser {
public:
  GroupChooser(const Module& module, const Function& kernel) : module_(module), fn_(kernel) {}

  GroupSchedule run() {
    const RegionId point = pointOf(fn_);
    if (!point.valid()) return {};
    region(point);
    if (!canGroup_ || !isWorkShared_ || isSerial_ || alongPoints_ > alongLoops_) return {};
    const bool isWide = widest_ > manyForWarp;
    const auto [shared, own] = bytesOfFrames();
    if (own > mostPrivate) return {};
    for (uint32_t threads : {isWide ? block : warpThreads, block}) {
      if (shared > sharedOfBlock / (block / threads)) continue;
      out_.threads = threads;
      for (auto& [loop, width] : out_.loops) width = std::min(width, threads);
      return std::move(out_);
    }
    return {};
  }

private:
  // --- what all threads run
  void region(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) statement(id);
  }

  void statement(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    if (s.kind == StmtKind::For && canShare(s)) return share(id);
    if (!isKnown(s)) canGroup_ = false;
    addFrame(id);
    const bool wasShared = std::exchange(isWorkShared_, false);
    for (RegionId r : s.regions) region(r);
    const bool isManyTimes = isLoop(s) && !(s.kind == StmtKind::For && isShort(s));
    if (isManyTimes && !isWorkShared_) isSerial_ = true;
    isWorkShared_ |= wasShared;
  }

  void share(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    const auto strip = s.as<ForAttr>().minDistance;
    out_.loops[id] = strip > 0 ? std::gcd(strip, block) : block;
    isWorkShared_ |= !isShort(s);
    carried_ += s.results.size();
    const std::optional<uint64_t> known = constantTripCount(fn_, s);
    if (known && (strip == 0 || strip >= block)) widest_ = std::max(widest_, *known);
    within_ = regionsWithin(fn_, s.regions[0]);
    sharedMemory(s.regions[0]);
  }

  bool isShort(const Stmt& loop) const {
    const auto known = constantTripCount(fn_, loop);
    return known && *known <= shortLoop;
  }

  /// Whether a group can run it, shared or not: it is known what memory it touches.
  bool isKnown(const Stmt& s) const {
    const Touched touched = touchedBy(s);
    for (ValueId v : {touched.read, touched.written})
      if (v.valid() && !memoryOf(fn_, v).valid()) return false;
    switch (s.kind) {
    case StmtKind::BlackBox: return false;
    case StmtKind::FrameArray: return !s.as<AllocAttr>().zeroed;
    case StmtKind::Call:
      return std::ranges::all_of(s.operands, [this](ValueId v) { return isNumberValue(v); });
    default: return true;
    }
  }

  bool isNumberValue(ValueId v) const { return fn_.typeOf(v).cls == ClassKind::Scalar; }

  // --- what the threads share
  bool canShare(const Stmt& loop) const {
    if (loop.as<ForAttr>().dependence != Dependence::Independent) return false;
    const auto steps = exactSteps(fn_, loop);
    if (!steps || std::ranges::any_of(*steps, &ReassociableStep::running)) return false;
    const std::unordered_set<RegionId> within = regionsWithin(fn_, loop.regions[0]);
    return canShare({loop, within, Variance(fn_, loop)}, loop.regions[0]);
  }

  /// A loop that is perhaps shared.
  struct Candidate {
    const Stmt& loop;
    const std::unordered_set<RegionId>& within;
    const Variance variance;
  };

  bool canShare(const Candidate& candidate, RegionId r) const {
    return std::ranges::all_of(fn_.regions[r].stmts, [&](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      return s.kind != StmtKind::Check && isKnown(s) && isDisjoint(candidate, s) &&
             std::ranges::all_of(s.regions, [&](RegionId inner) { return canShare(candidate, inner); });
    });
  }

  /// Whether threads that have different iterations reach different places, if one of them stores there.
  /// Arrays of an iteration that lie in scratch are one for all.
  bool isDisjoint(const Candidate& candidate, const Stmt& s) const {
    const Touched touched = touchedBy(s);
    const ValueId memory = touched.written.valid() ? touched.written : touched.read;
    if (!memory.valid()) return true;
    const StmtId frame = frameOf(fn_, memoryOf(fn_, memory));
    const bool isOwn =
        frame.valid() && candidate.within.contains(fn_.values[fn_.stmts[frame].results[0]].region);
    if (isOwn) return true;
    const bool isAccess = s.kind == StmtKind::Load || s.kind == StmtKind::Store;
    if (touched.written.valid()) {
      const auto place = std::span(s.operands).first(s.operands.size() - 1);
      if (!isAccess || candidate.variance.allUniform(place)) return false;
    }
    const uint32_t strip = candidate.loop.as<ForAttr>().minDistance;
    if (strip == 0 || !frame.valid()) return true;
    const size_t operands = s.kind == StmtKind::Store ? 4 : 3; // of one term
    return isAccess && s.operands.size() == operands && isPlaceInStrip(candidate.loop, s.operands[1], strip);
  }
  bool isPlaceInStrip(const Stmt& loop, ValueId index, uint32_t strip) const {
    const ValueId iteration = fn_.regions[loop.regions[0]].params[0];
    if (index == iteration) return true;
    const Stmt* s = scalarOf(fn_, index);
    if (!s || s->as<ScalarAttr>().op != OpKind::And || s->operands[0] != iteration) return false;
    const uint64_t* mask = asConstant(fn_, s->operands[1]);
    return mask && std::has_single_bit(*mask + 1) && (*mask + 1) % strip == 0;
  }

  /// Frame memory into which a shared loop stores, and along which index neighbours of captured arrays lie.
  void sharedMemory(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      const Touched touched = touchedBy(s);
      if (touched.written.valid()) {
        const StmtId frame = frameOf(fn_, memoryOf(fn_, touched.written));
        if (frame.valid() && !isWithin(fn_.stmts[frame].results[0])) out_.memory.insert(frame);
      }
      if (s.kind == StmtKind::Load || s.kind == StmtKind::Store) countNeighbours(s);
      addFrame(id);
      for (RegionId inner : s.regions) sharedMemory(inner);
    }
  }

  void countNeighbours(const Stmt& access) {
    if (frameOf(fn_, memoryOf(fn_, access.operands[0])).valid()) return;
    const size_t terms = access.operands.size() - (access.kind == StmtKind::Store);
    for (size_t k = 1; k < terms; k += 2) {
      const uint64_t* stride = asConstant(fn_, access.operands[k + 1]);
      if (!stride || *stride != 1) continue;
      isWithin(access.operands[k]) ? ++alongLoops_ : ++alongPoints_;
    }
  }

  /// Whether a value is made in the shared loop that is read, or is its index.
  bool isWithin(ValueId v) const { return within_.contains(fn_.values[v].region); }

  // --- memory
  uint64_t bytesOfFrame(const Stmt& s) const {
    return s.kind == StmtKind::Scratch ? s.as<uint64_t>() : s.as<AllocAttr>().bytes;
  }
  void addFrame(StmtId id) {
    const StmtKind kind = fn_.stmts[id].kind;
    if (kind == StmtKind::Scratch || kind == StmtKind::FrameArray) frames_.push_back(id);
  }
  /// Of memory that the group has once, with that for totals of a block, and of a thread's own.
  std::pair<uint64_t, uint64_t> bytesOfFrames() const {
    uint64_t shared = 8 * block / warpThreads * carried_, own = 0;
    for (StmtId id : frames_)
      (out_.memory.contains(id) ? shared : own) += inShared(bytesOfFrame(fn_.stmts[id]));
    return {shared, own};
  }

  const Module& module_;
  const Function& fn_;
  GroupSchedule out_;
  std::unordered_set<RegionId> within_; ///< the shared loop that is read
  bool canGroup_ = true;
  bool isWorkShared_ = false; ///< in the region that is read: a shared loop of some iterations
  bool isSerial_ = false;     ///< some loop of many iterations shares nothing
  std::vector<StmtId> frames_;
  uint64_t widest_ = 0, carried_ = 0;       ///< the most iterations of a shared loop, values of all of them
  size_t alongLoops_ = 0, alongPoints_ = 0; ///< accesses whose neighbours are those of a shared loop, or not
};

} // namespace

RegionId pointOf(const Function& kernel) {
  for (StmtId id : kernel.regions[kernel.body].stmts) {
    const Stmt& s = kernel.stmts[id];
    if (s.kind == StmtKind::For && isOverChunk(kernel, s)) return s.regions[0];
  }
  return {};
}

GroupSchedule chooseGroup(const Module& module, const Function& kernel) {
  return GroupChooser(module, kernel).run();
}

} // namespace melix::loops
