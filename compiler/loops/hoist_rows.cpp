#include "loops/hoist_rows.h"

#include "loops/local_blocks.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr size_t mostCopied = 32; ///< statements that compute a size

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
  static bool isSweep(const Stmt& s) { return s.kind == StmtKind::For && !s.as<ForAttr>().polls; }

  void hoistFrom(StmtId loop) {
    const RegionId body = fn_.stmts[loop].regions[0];
    const std::vector<StmtId> stmts = fn_.regions[body].stmts;
    auto isKernel = [&](FunctionId callee, size_t) {
      return module_.functions[callee].kind == FunctionKind::Kernel;
    };
    for (StmtId id : stmts) {
      std::vector<StmtId> sizes;
      if (fn_.stmts[id].kind != StmtKind::AllocArray || !isKnownBefore(fn_.stmts[id].operands, body, sizes))
        continue;
      if (const auto block = blocks_.follow(id, isKernel)) hoist(id, loop, *block, sizes);
    }
  }

  /// The statements of the body that compute these values, in their order, if they need nothing else of it.
  bool isKnownBefore(const std::vector<ValueId>& values, RegionId body, std::vector<StmtId>& made) const {
    std::vector<ValueId> open = values;
    std::unordered_set<StmtId> wanted;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      const StmtId def = fn_.values[v].def;
      if (!blocks_.isWithin(fn_.values[v].region, body)) continue;
      if (!def.valid() || blocks_.homeOf(def) != body || !mayRunBefore(fn_.stmts[def])) return false;
      if (!wanted.insert(def).second) continue;
      if (wanted.size() > mostCopied) return false;
      open.insert(open.end(), fn_.stmts[def].operands.begin(), fn_.stmts[def].operands.end());
    }
    for (StmtId id : fn_.regions[body].stmts)
      if (wanted.contains(id)) made.push_back(id);
    return true;
  }
  static bool mayRunBefore(const Stmt& s) {
    if (s.kind == StmtKind::Const) return true;
    if (s.kind != StmtKind::Scalar) return false;
    const OpKind op = s.as<ScalarAttr>().op;
    return op != OpKind::IDiv && op != OpKind::IRem;
  }

  void hoist(StmtId alloc, StmtId loop, const LocalBlocks::Block& block, const std::vector<StmtId>& sizes) {
    const RegionId around = blocks_.homeOf(loop), body = fn_.stmts[loop].regions[0];
    Builder b(fn_);
    b.loc = fn_.stmts[alloc].loc;
    const RegionId front = b.begin();
    const ValueId made = allocate(alloc, loop, sizes, b);
    blocks_.splice(front, around, placeOf(loop));
    clear(alloc, body, made);
    blocks_.release(block, made);
    const RegionId behind = b.begin();
    b.stmt(StmtKind::Drop, {made});
    blocks_.splice(behind, around, placeOf(loop) + 1);
  }
  size_t placeOf(StmtId id) const {
    const std::vector<StmtId>& list = fn_.regions[blocks_.homeOf(id)].stmts;
    return static_cast<size_t>(std::ranges::find(list, id) - list.begin());
  }
  /// The block, or null if the loop does nothing.
  ValueId allocate(StmtId alloc, StmtId loop, const std::vector<StmtId>& sizes, Builder& b) {
    const ValueId begin = fn_.stmts[loop].operands[0], end = fn_.stmts[loop].operands[1];
    const ValueId runs = b.compare(ops::CmpKind::Lt, begin, end);
    const RegionId then = b.begin();
    std::unordered_map<ValueId, ValueId> copies;
    for (StmtId id : sizes) copy(id, copies, b);
    AllocAttr attr = fn_.stmts[alloc].as<AllocAttr>();
    attr.zeroed = false;
    std::vector<ValueId> dims = fn_.stmts[alloc].operands;
    for (ValueId& d : dims)
      if (auto it = copies.find(d); it != copies.end()) d = it->second;
    b.end({b.value(StmtKind::AllocArray, std::move(dims), dataType, attr)});
    const RegionId otherwise = b.begin();
    b.end({b.zero(dataType)});
    return b.results(b.stmt(StmtKind::If, {runs}, {dataType}, {}, {then, otherwise}))[0];
  }
  void copy(StmtId id, std::unordered_map<ValueId, ValueId>& copies, Builder& b) {
    const Stmt s = fn_.stmts[id];
    std::vector<ValueId> operands = s.operands;
    for (ValueId& v : operands)
      if (auto it = copies.find(v); it != copies.end()) v = it->second;
    copies[s.results[0]] = b.value(s.kind, std::move(operands), fn_.typeOf(s.results[0]), s.attr);
  }
  /// The statement that made the block goes; where it made one of zeros, they are written.
  void clear(StmtId alloc, RegionId body, ValueId block) {
    const Stmt s = fn_.stmts[alloc];
    const size_t place = placeOf(alloc);
    blocks_.leave(alloc);
    if (!s.as<AllocAttr>().zeroed) return;
    Builder b(fn_);
    b.loc = s.loc;
    const RegionId zeroing = b.begin();
    ValueId bytes = b.integer(static_cast<int64_t>(s.as<AllocAttr>().bytes));
    for (ValueId d : s.operands) bytes = b.arith(OpKind::Mul, bytes, d);
    b.stmt(StmtKind::ZeroBytes, {b.pointerOf(block), bytes});
    blocks_.splice(zeroing, body, place);
  }

  const Module& module_;
  Function& fn_;
  LocalBlocks blocks_;
};

} // namespace

void hoistRows(const Module& module, Function& function) {
  if (function.kind == FunctionKind::Kernel) return;
  RowHoister(module, function).run(function.body);
}

} // namespace melix::loops
