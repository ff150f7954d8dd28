#include "loops/hoist_rows.h"

#include "loops/build.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr size_t boundOperands = 2; ///< of a `for`, in front of what it carries
constexpr size_t mostCopied = 32;   ///< statements that compute a size

class RowHoister {
public:
  RowHoister(const Module& module, Function& fn) : module_(module), fn_(fn) { find(fn.body); }

  void run(RegionId region) {
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) run(inner);
      if (isSweep(fn_.stmts[id])) hoistFrom(id, region);
    }
  }

private:
  struct Use {
    StmtId stmt;
    size_t operand;
  };
  /// All values that are one block, and where it is given back.
  struct Block {
    std::unordered_set<ValueId> values;
    std::vector<StmtId> uniques; ///< that make it unique
    std::vector<std::pair<StmtId, size_t>> carries;
    StmtId drop;
  };

  void find(RegionId region) {
    for (StmtId id : fn_.regions[region].stmts) {
      homes_[id] = region;
      const Stmt& s = fn_.stmts[id];
      for (size_t k = 0; k < s.operands.size(); ++k) uses_[s.operands[k]].push_back({id, k});
      for (RegionId inner : s.regions) {
        parents_[inner] = id;
        find(inner);
      }
    }
  }

  /// Loops that programs write may hold blocks of any size, one after the other.
  static bool isSweep(const Stmt& s) { return s.kind == StmtKind::For && !s.as<ForAttr>().polls; }

  void hoistFrom(StmtId loop, RegionId around) {
    const RegionId body = fn_.stmts[loop].regions[0];
    const std::vector<StmtId> stmts = fn_.regions[body].stmts;
    for (StmtId id : stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind != StmtKind::AllocArray || !module_.core.types.isScalar(s.as<AllocAttr>().type)) continue;
      std::vector<StmtId> sizes;
      if (!isKnownBefore(s.operands, body, sizes)) continue;
      if (std::optional<Block> block = follow(s.results[0], body)) hoist(id, loop, around, *block, sizes);
    }
  }

  // --- whether

  /// The statements of the body that compute these values, in their order, if they need nothing else of it.
  bool isKnownBefore(const std::vector<ValueId>& values, RegionId body, std::vector<StmtId>& made) const {
    std::vector<ValueId> open = values;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      const StmtId def = fn_.values[v].def;
      if (!isWithin(fn_.values[v].region, body)) continue;
      if (!def.valid() || homes_.at(def) != body || !mayRunBefore(fn_.stmts[def])) return false;
      made.push_back(def);
      if (made.size() > mostCopied) return false;
      open.insert(open.end(), fn_.stmts[def].operands.begin(), fn_.stmts[def].operands.end());
    }
    const std::unordered_set<StmtId> wanted(made.begin(), made.end());
    made.clear();
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
  bool isWithin(RegionId region, RegionId body) const {
    while (region != body) {
      auto parent = parents_.find(region);
      if (parent == parents_.end()) return false;
      region = homes_.at(parent->second);
    }
    return true;
  }

  std::optional<Block> follow(ValueId alloc, RegionId body) const {
    Block block;
    std::vector<ValueId> open{alloc}, needed;
    block.values.insert(alloc);
    auto join = [&](ValueId v) {
      if (block.values.insert(v).second) open.push_back(v);
    };
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      auto uses = uses_.find(v);
      if (uses == uses_.end()) continue;
      for (const Use& use : uses->second)
        if (!followUse(use, body, block, join, needed)) return std::nullopt;
    }
    const bool closed = std::ranges::all_of(needed, [&](ValueId v) { return block.values.contains(v); });
    return closed && block.drop.valid() ? std::optional(std::move(block)) : std::nullopt;
  }
  template <class Join>
  bool followUse(const Use& use, RegionId body, Block& block, Join join, std::vector<ValueId>& needed) const {
    const Stmt& s = fn_.stmts[use.stmt];
    switch (s.kind) {
    case StmtKind::PointerOf:
    case StmtKind::KeepAlive: return true;
    case StmtKind::Load:
    case StmtKind::Store:
    case StmtKind::AddressOf: return use.operand == 0;
    case StmtKind::Launch: return module_.functions[s.as<FunctionId>()].kind == FunctionKind::Kernel;
    case StmtKind::Drop:
      if (block.drop.valid() || homes_.at(use.stmt) != body) return false;
      block.drop = use.stmt;
      return true;
    case StmtKind::EnsureUnique:
      block.uniques.push_back(use.stmt);
      join(s.results[0]);
      return true;
    case StmtKind::For: {
      if (use.operand < boundOperands) return false;
      const size_t k = use.operand - boundOperands;
      const Region& inner = fn_.regions[s.regions[0]];
      block.carries.emplace_back(use.stmt, k);
      join(inner.params[1 + k]);
      join(s.results[k]);
      needed.push_back(fn_.stmts[inner.stmts.back()].operands[k]);
      return true;
    }
    case StmtKind::Yield: { // of a loop that carries it; `needed` sees that nothing else goes around
      auto parent = parents_.find(homes_.at(use.stmt));
      if (homes_.at(use.stmt) == body || parent == parents_.end()) return false;
      const Stmt& loop = fn_.stmts[parent->second];
      return loop.kind == StmtKind::For && block.values.contains(loop.operands[boundOperands + use.operand]);
    }
    default: return false;
    }
  }

  // --- how

  void hoist(StmtId alloc, StmtId loop, RegionId around, Block& block, const std::vector<StmtId>& sizes) {
    const RegionId body = fn_.stmts[loop].regions[0];
    Builder b(fn_);
    b.loc = fn_.stmts[alloc].loc;
    const RegionId front = b.begin();
    const ValueId made = allocate(alloc, loop, sizes, b);
    Region& outside = fn_.regions[around];
    const auto at = std::ranges::find(outside.stmts, loop);
    const auto behind = outside.stmts.insert(at + 1, block.drop);
    const std::vector<StmtId>& before = fn_.regions[front].stmts;
    outside.stmts.insert(behind - 1, before.begin(), before.end());
    for (StmtId id : before) enter(id, around);
    std::erase(fn_.regions[body].stmts, block.drop);
    homes_[block.drop] = around;
    clear(alloc, body, made);
    for (StmtId id : block.uniques) std::erase(fn_.regions[homes_.at(id)].stmts, id);
    std::ranges::sort(block.carries, std::greater());
    for (auto [carrying, k] : block.carries) removeCarry(carrying, k);
    for (ValueId v : block.values) replace(v, made);
  }
  /// Behind the last statement of the region at hand: the block, or null if the loop does nothing.
  ValueId allocate(StmtId alloc, StmtId loop, const std::vector<StmtId>& sizes, Builder& b) {
    const std::vector<ValueId> bounds(fn_.stmts[loop].operands.begin(),
                                      fn_.stmts[loop].operands.begin() + boundOperands);
    const ValueId runs = b.compare(ops::CmpKind::Lt, bounds[0], bounds[1]);
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
    std::vector<StmtId>& stmts = fn_.regions[body].stmts;
    const auto at = stmts.erase(std::ranges::find(stmts, alloc));
    if (!s.as<AllocAttr>().zeroed) return;
    const auto place = at - stmts.begin();
    Builder b(fn_);
    b.loc = s.loc;
    const RegionId zeroing = b.begin();
    ValueId bytes = b.integer(static_cast<int64_t>(s.as<AllocAttr>().bytes));
    for (ValueId d : s.operands) bytes = b.arith(OpKind::Mul, bytes, d);
    b.stmt(StmtKind::ZeroBytes, {b.pointerOf(block), bytes});
    const std::vector<StmtId> made = fn_.regions[zeroing].stmts;
    std::vector<StmtId>& list = fn_.regions[body].stmts;
    list.insert(list.begin() + place, made.begin(), made.end());
    for (StmtId id : made) enter(id, body);
  }
  void removeCarry(StmtId loop, size_t k) {
    Stmt& s = fn_.stmts[loop];
    Region& inner = fn_.regions[s.regions[0]];
    const StmtId end = inner.stmts.back();
    auto erase = [](std::vector<ValueId>& list, size_t at) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    };
    erase(s.operands, boundOperands + k);
    erase(s.results, k);
    erase(inner.params, 1 + k);
    erase(fn_.stmts[end].operands, k);
    for (StmtId id : {loop, end})
      for (ValueId v : fn_.stmts[id].operands) renumber(v, id);
  }
  /// The uses of a value by the statement are those that stand there.
  void renumber(ValueId v, StmtId stmt) {
    std::vector<Use>& uses = uses_[v];
    std::erase_if(uses, [&](const Use& use) { return use.stmt == stmt; });
    const std::vector<ValueId>& operands = fn_.stmts[stmt].operands;
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k] == v) uses.push_back({stmt, k});
  }
  void replace(ValueId v, ValueId by) {
    if (v == by) return;
    const std::vector<Use> uses = std::exchange(uses_[v], {});
    for (const Use& use : uses) {
      std::vector<ValueId>& operands = fn_.stmts[use.stmt].operands;
      if (use.operand >= operands.size() || operands[use.operand] != v) continue;
      operands[use.operand] = by;
      uses_[by].push_back(use);
    }
  }
  void enter(StmtId id, RegionId region) {
    homes_[id] = region;
    const Stmt& s = fn_.stmts[id];
    for (ValueId v : s.results) fn_.values[v].region = region;
    for (size_t k = 0; k < s.operands.size(); ++k) uses_[s.operands[k]].push_back({id, k});
    for (RegionId inner : s.regions) {
      parents_[inner] = id;
      for (StmtId within : fn_.regions[inner].stmts) enter(within, inner);
    }
  }

  const Module& module_;
  Function& fn_;
  std::unordered_map<ValueId, std::vector<Use>> uses_;
  std::unordered_map<StmtId, RegionId> homes_;   ///< where a statement stands
  std::unordered_map<RegionId, StmtId> parents_; ///< the statement of a region
};

} // namespace

void hoistRows(const Module& module, Function& function) {
  if (function.kind == FunctionKind::Kernel) return;
  RowHoister(module, function).run(function.body);
}

} // namespace melix::loops
