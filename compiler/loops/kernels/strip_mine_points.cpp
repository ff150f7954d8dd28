#include "loops/kernels/strip_mine_points.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/launch_expressions.h"
#include "loops/analysis/perfect_nest.h"
#include "loops/ir/clone.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

class Blocker {
public:
  Blocker(const Module& module, Function& fn) : module_(module), fn_(fn) {}

  void region(RegionId r) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::For && isOverChunk(fn_, s)) {
        if (isPointsLoop(s) && s.as<ForAttr>().unrollJam < 2) inside(id);
        continue;
      }
      const std::vector<RegionId> inner = s.regions;
      for (RegionId each : inner) region(each);
    }
  }

private:
  /// The loop over points in rows or lanes, if between that and the chunk's own is none of unknown length,
  /// whose iterations are enough by themselves.
  void inside(StmtId loop) {
    for (StmtId at = loop; at.valid();) {
      const RegionId home = fn_.stmts[at].regions[0];
      at = onlyLoop(fn_, home,
                    [this](const Stmt& s) { return s.regions.empty() && isPlain(module_, fn_, s); });
      if (!at.valid() || !isMovable(fn_.stmts[at])) return;
      if (sizeOf(fn_.stmts[at]) > 1) return block(at, home);
      if (!constantTripCount(fn_, fn_.stmts[at])) return;
    }
  }
  static bool isMovable(const Stmt& s) {
    const auto& attr = s.as<ForAttr>();
    return attr.dependence == Dependence::Independent && attr.minDistance == 0 && !attr.polls &&
           s.results.empty();
  }
  /// So many iterations make a block worth a launch: where there is no loop in an iteration they are short.
  int64_t sizeOf(const Stmt& s) const {
    constexpr int64_t together = 8, shortTripCount = 8192;
    const auto& attr = s.as<ForAttr>();
    if (attr.unrollJam > 1) return attr.unrollJam * together;
    if (attr.vectorWidth == 0) return 1;
    const bool hasLoop = std::ranges::any_of(fn_.regions[s.regions[0]].stmts,
                                             [this](StmtId id) { return !fn_.stmts[id].regions.empty(); });
    return hasLoop ? int64_t(attr.vectorWidth) * attr.interleave * together : shortTripCount;
  }

  void block(StmtId loop, RegionId home) {
    const Stmt s = fn_.stmts[loop]; // statements are made on the way
    const int64_t size = sizeOf(s);
    const uint64_t* first = asConstant(fn_, s.operands[0]);
    const std::optional<uint64_t> tripCount = constantTripCount(fn_, s);
    const ValueId end = s.operands[1];
    if (!first || *first != 0 || !LaunchValues::isUniform(fn_, end) ||
        (tripCount && *tripCount < 2 * static_cast<uint64_t>(size)))
      return;
    const bool areFull = tripCount && *tripCount % static_cast<uint64_t>(size) == 0;
    Builder b(fn_);
    b.loc = s.loc;
    const RegionId made = b.begin();
    const ValueId each = b.integer(size);
    const ValueId blocks =
        tripCount ? b.integer((static_cast<int64_t>(*tripCount) + size - 1) / size)
                  : b.scalar(OpKind::IDiv, {b.arith(OpKind::Add, end, b.integer(size - 1)), each},
                             TypeKind::I64, TypeKind::I64);
    ForAttr attr;
    attr.dependence = Dependence::Independent;
    b.carryLoop(
        b.integer(0), blocks, {},
        [&](ValueId at, const std::vector<ValueId>& none) {
          const ValueId begin = b.arith(OpKind::Mul, at, each), full = b.arith(OpKind::Add, begin, each);
          fn_.stmts[loop].operands = {begin, areFull ? full : b.arith(OpKind::Min, end, full)};
          fn_.regions[b.current()].stmts.push_back(loop);
          return none;
        },
        attr);
    b.end();
    replaceStmt(fn_, made, home, loop);
  }

  const Module& module_;
  Function& fn_;
};

} // namespace

void stripMinePoints(const Module& module, Function& function) {
  if (function.kind != FunctionKind::Orchestration) Blocker(module, function).region(function.body);
}

} // namespace melix::loops
