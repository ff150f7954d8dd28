#include "loops/lanes/reverse_loops.h"

#include "loops/analysis/stride_analysis.h"
#include "loops/ir/clone.h"

namespace melix::loops {

using core::OpKind;

namespace {

/// How many accesses go to neighbours, those backwards against those forwards.
class Directions {
public:
  Directions(const Function& fn, const Stmt& loop)
      : fn_(fn), variance_(fn, loop), strides_(fn, variance_, fn.regions[loop.regions[0]].params[0]) {
    isInnermost_ = region(loop.regions[0]);
  }

  bool goBack() const { return isInnermost_ && back_ > forth_; }

private:
  bool region(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (isLoop(s)) return false;
      if (s.kind == StmtKind::Load || s.kind == StmtKind::Store) access(s);
      for (RegionId inner : s.regions)
        if (!region(inner)) return false;
    }
    return true;
  }
  void access(const Stmt& s) {
    const std::optional<int64_t> stride = strides_.strideInBytes(s);
    const auto bytes = static_cast<int64_t>(s.as<Access>().elemBytes);
    if (!stride) return;
    back_ += *stride == -bytes;
    forth_ += *stride == bytes;
  }

  const Function& fn_;
  const Variance variance_;
  LaneStrides strides_;
  bool isInnermost_;
  unsigned back_ = 0, forth_ = 0;
};

bool canReverse(const Stmt& s) {
  return s.kind == StmtKind::For && s.as<ForAttr>().dependence == Dependence::Independent &&
         s.results.empty() && s.as<ForAttr>().minDistance == 0;
}

class LoopReverser {
public:
  explicit LoopReverser(Function& fn) : fn_(fn), b_(fn) {}

  void region(RegionId r) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      const std::vector<RegionId> inner = fn_.stmts[id].regions;
      for (RegionId each : inner) region(each);
      if (canReverse(fn_.stmts[id]) && Directions(fn_, fn_.stmts[id]).goBack()) reverse(id, r);
    }
  }

private:
  void reverse(StmtId loop, RegionId home) {
    const std::vector<ValueId> ends = fn_.stmts[loop].operands;
    const RegionId body = fn_.stmts[loop].regions[0];
    b_.loc = fn_.stmts[loop].loc;
    const RegionId before = b_.begin();
    const ValueId sum = b_.arith(OpKind::Add, ends[0], ends[1]);
    const ValueId both = b_.arith(OpKind::Sub, sum, b_.integer(1));
    b_.end();
    const RegionId inside = b_.begin();
    const ValueId iteration = fn_.regions[body].params[0];
    const ValueId other = b_.arith(OpKind::Sub, both, iteration);
    b_.end();
    replaceUses(fn_, body, iteration, other);
    splice(fn_, inside, body, 0);
    splice(fn_, before, home, placeOf(fn_, home, loop));
  }

  Function& fn_;
  Builder b_;
};

} // namespace

void reverseLoops(Function& function) { LoopReverser(function).region(function.body); }

} // namespace melix::loops
