#include "loops/ownership/hoist_allocations.h"

#include "loops/analysis/local_allocations.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr size_t mostLooked = 32; ///< statements that compute a size

class RowHoister {
public:
  RowHoister(const Module& module, Function& fn) : module_(module), fn_(fn), blocks_(module, fn) {}

  void run(RegionId region) {
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) run(inner);
      if (isSweep(fn_.stmts[id])) hoistFrom(id);
    }
  }

private:
  /// Loops that programs write may hold blocks of any size, one after the other.
  static bool isSweep(const Stmt& s) {
    return s.kind == StmtKind::For && !s.as<ForAttr>().polls &&
           s.as<ForAttr>().dependence != Dependence::None;
  }

  void hoistFrom(StmtId loop) {
    const RegionId body = fn_.stmts[loop].regions[0];
    const std::vector<StmtId> stmts = fn_.regions[body].stmts;
    auto isKernel = [&](FunctionId callee, size_t) {
      return module_.functions[callee].kind == FunctionKind::Kernel;
    };
    for (StmtId id : stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind != StmtKind::AllocArray || !isTheSame(s.operands, body)) continue;
      if (const auto block = blocks_.follow(id, isKernel)) hoist(id, loop, *block);
    }
  }

  /// Whether these values are the same at every point: computed from nothing of the body but constants.
  bool isTheSame(const std::vector<ValueId>& values, RegionId body) const {
    std::vector<ValueId> open = values;
    std::unordered_set<StmtId> seen;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      const StmtId def = fn_.values[v].def;
      if (!blocks_.isWithin(fn_.values[v].region, body)) continue;
      if (!def.valid() || !isPure(fn_.stmts[def])) return false;
      if (!seen.insert(def).second) continue;
      if (seen.size() > mostLooked) return false;
      open.insert(open.end(), fn_.stmts[def].operands.begin(), fn_.stmts[def].operands.end());
    }
    return true;
  }
  static bool isPure(const Stmt& s) { return s.kind == StmtKind::Const || s.kind == StmtKind::Scalar; }

  /// The loop carries the block, and whether it was made.
  void hoist(StmtId alloc, StmtId loop, const LocalBlocks::Block& block) {
    const RegionId around = blocks_.homeOf(loop), body = fn_.stmts[loop].regions[0];
    Builder b(fn_);
    b.loc = fn_.stmts[alloc].loc;
    const RegionId front = b.begin();
    const ValueId none = b.zero(dataType), no = b.boolean(false);
    blocks_.splice(front, around, placeOf(fn_, around, loop));
    const ValueId held = blocks_.addCarry(loop, none), isMade = blocks_.addCarry(loop, no);

    const RegionId point = b.begin();
    const ValueId made = make(alloc, held, isMade, b);
    const ValueId yes = b.boolean(true);
    const size_t place = placeOf(fn_, body, alloc);
    blocks_.leave(std::span(&alloc, 1));
    blocks_.splice(point, body, place);
    blocks_.release(block, made);
    blocks_.yieldCarries(loop, {made, yes});

    const RegionId after = b.begin();
    const std::vector<ValueId>& results = fn_.stmts[loop].results;
    b.stmt(StmtKind::Drop, {results[results.size() - 2]});
    blocks_.splice(after, around, placeOf(fn_, around, loop) + 1);
  }
  /// The block where the point needs it; zeros are written if it is to hold them.
  ValueId make(StmtId alloc, ValueId held, ValueId isMade, Builder& b) {
    const std::vector<ValueId> dims = fn_.stmts[alloc].operands;
    AllocAttr attr = fn_.stmts[alloc].as<AllocAttr>();
    const bool zeroed = std::exchange(attr.zeroed, false);
    const RegionId yes = b.begin();
    b.end({held});
    const RegionId no = b.begin();
    b.stmt(StmtKind::Drop, {held});
    b.end({b.value(StmtKind::AllocArray, dims, dataType, attr)});
    const ValueId made = b.results(b.stmt(StmtKind::If, {isMade}, {dataType}, {}, {yes, no}))[0];
    if (!zeroed) return made;
    ValueId bytes = b.integer(static_cast<int64_t>(attr.bytes));
    for (ValueId d : dims) bytes = b.arith(OpKind::Mul, bytes, d);
    b.stmt(StmtKind::ZeroBytes, {b.pointerOf(made), bytes});
    return made;
  }

  const Module& module_;
  Function& fn_;
  LocalBlocks blocks_;
};

} // namespace

void hoistAllocations(const Module& module, Function& function) {
  if (function.kind == FunctionKind::Kernel) return;
  RowHoister(module, function).run(function.body);
}

} // namespace melix::loops
