#include "loops/ownership/reuse_operand_memory.h"

#include "loops/ir/build.h"
#include "loops/ownership/uniqueness.h"

#include <algorithm>

namespace melix::loops {
namespace {

class Placer {
public:
  Placer(const Module& module, Function& fn) : module_(module), fn_(fn) { enter(fn.body); }

  void run() {
    if (allocs_.empty()) return;
    const UniqueBlocks unique(module_, fn_, UniqueBlocks::UpdatesKind::Asked);
    for (StmtId alloc : allocs_) place(alloc, unique);
    for (StmtId alloc : allocs_)
      std::erase_if(fn_.stmts[alloc].operands, [&](ValueId v) { return fn_.typeOf(v).counted(); });
    if (!gone_.empty()) leave(fn_.body);
  }

private:
  struct Use {
    StmtId stmt;
    size_t operand;
  };
  /// Where a statement stands, and its number in the order of the text and that of the last one in it.
  struct Site {
    RegionId home;
    size_t first, last;
  };

  void enter(RegionId region) {
    for (StmtId id : fn_.regions[region].stmts) {
      const Stmt& s = fn_.stmts[id];
      for (size_t k = 0; k < s.operands.size(); ++k)
        if (fn_.typeOf(s.operands[k]) == dataType) uses_[s.operands[k]].push_back({id, k});
      if (s.kind == StmtKind::AllocArray && !s.operands.empty() && fn_.typeOf(s.operands.back()).counted())
        allocs_.push_back(id);
      sites_[id] = {region, count_++, 0};
      for (RegionId inner : s.regions) {
        parents_[inner] = id;
        enter(inner);
      }
      sites_[id].last = count_;
    }
  }

  void place(StmtId alloc, const UniqueBlocks& unique) {
    const Stmt& s = fn_.stmts[alloc];
    const std::optional<StmtId> store = onlyStore(alloc);
    if (!store || s.as<AllocAttr>().zeroed) return;
    const std::optional<StmtId> loop = loopAround(*store, sites_.at(alloc).home);
    if (!loop || hasChecks(fn_.stmts[*loop].regions[0])) return;
    for (ValueId x : s.operands) {
      if (fn_.typeOf(x) != dataType || !unique.isUnique(x) || !unique.isUnique(sourceOf(x))) continue;
      const std::optional<StmtId> drop = dropAfter(sourceOf(x), *loop, alloc);
      if (!drop || !isElementWise(sourceOf(x), *loop, *store)) continue;
      return take(sourceOf(x), alloc, *drop);
    }
  }

  /// The statement that stores the elements of a new array; what else uses it stands after the loop of that.
  std::optional<StmtId> onlyStore(StmtId alloc) const {
    const auto uses = uses_.find(fn_.stmts[alloc].results[0]);
    if (uses == uses_.end()) return std::nullopt;
    std::optional<StmtId> store;
    for (const Use& use : uses->second) {
      if (fn_.stmts[use.stmt].kind != StmtKind::Store || use.operand != 0) continue;
      if (store) return std::nullopt;
      store = use.stmt;
    }
    if (!store) return std::nullopt;
    const std::optional<StmtId> loop = loopAround(*store, sites_.at(alloc).home);
    const bool isFirst = loop && std::ranges::all_of(uses->second, [&](const Use& use) {
                           return use.stmt == *store || sites_.at(use.stmt).first >= sites_.at(*loop).last;
                         });
    return isFirst ? store : std::nullopt;
  }

  /// The statement of a region around a store, if all from there to the store are loops and branches and the
  /// index of each loop distinguishes elements.
  std::optional<StmtId> loopAround(StmtId store, RegionId region) const {
    StmtId at = store;
    const Stmt& s = fn_.stmts[store];
    while (sites_.at(at).home != region) {
      const auto parent = parents_.find(sites_.at(at).home);
      if (parent == parents_.end()) return std::nullopt;
      at = parent->second;
      const Stmt& around = fn_.stmts[at];
      if (around.kind == StmtKind::While) return std::nullopt;
      if (around.kind == StmtKind::For && !isIndexed(s, fn_.regions[around.regions[0]].params[0]))
        return std::nullopt;
    }
    return fn_.stmts[at].kind == StmtKind::For ? std::optional(at) : std::nullopt;
  }
  static bool isIndexed(const Stmt& store, ValueId index) {
    for (size_t k = 1; k + 2 < store.operands.size(); k += 2)
      if (store.operands[k] == index) return true;
    return false;
  }

  bool hasChecks(RegionId region) const {
    return std::ranges::any_of(fn_.regions[region].stmts, [&](StmtId id) {
      const Stmt& s = fn_.stmts[id];
      return s.kind == StmtKind::Check ||
             std::ranges::any_of(s.regions, [&](RegionId r) { return hasChecks(r); });
    });
  }

  /// Where the block of an operand is given back: after the loop, before which are all other uses.
  std::optional<StmtId> dropAfter(ValueId x, StmtId loop, StmtId alloc) const {
    const Site& around = sites_.at(loop);
    std::optional<StmtId> drop;
    for (const Use& use : uses_.at(x))
      if (fn_.stmts[use.stmt].kind == StmtKind::Drop && sites_.at(use.stmt).home == around.home)
        drop = use.stmt;
    if (!drop || gone_.contains(*drop) || sites_.at(*drop).first < around.last) return std::nullopt;
    for (const Use& use : uses_.at(x)) {
      const size_t at = sites_.at(use.stmt).first;
      if (use.stmt != alloc && use.stmt != *drop && at >= around.last && at < sites_.at(*drop).first &&
          fn_.stmts[use.stmt].kind != StmtKind::AllocArray)
        return std::nullopt;
    }
    return drop;
  }

  /// Whether the loop reads of an array only what it then stores at the same place, and that each time it
  /// stores, so that the array is not the smaller one.
  bool isElementWise(ValueId x, StmtId loop, StmtId store) const {
    const Site &around = sites_.at(loop), &stored = sites_.at(store);
    const Stmt& to = fn_.stmts[store];
    bool any = false;
    for (const Use& use : uses_.at(x)) {
      const Site& at = sites_.at(use.stmt);
      if (at.first < around.first || at.first >= around.last) continue;
      const Stmt& s = fn_.stmts[use.stmt];
      if (s.kind != StmtKind::Load || at.first > stored.first) return false;
      if (s.as<Access>() != to.as<Access>() || s.operands.size() + 1 != to.operands.size()) return false;
      for (size_t k = 1; k < s.operands.size(); ++k)
        if (!isSame(s.operands[k], to.operands[k])) return false;
      any |= isWithin(stored.home, at.home);
    }
    return any;
  }
  bool isWithin(RegionId region, RegionId outer) const {
    while (region != outer) {
      const auto parent = parents_.find(region);
      if (parent == parents_.end()) return false;
      region = sites_.at(parent->second).home;
    }
    return true;
  }
  bool isSame(ValueId a, ValueId b) const {
    const uint64_t *x = asConstant(fn_, a), *y = asConstant(fn_, b);
    return a == b || (x && y && *x == *y);
  }

  /// The result is the operand from now on.
  void take(ValueId x, StmtId alloc, StmtId drop) {
    const ValueId y = fn_.stmts[alloc].results[0];
    became_[y] = x;
    gone_.insert(alloc);
    gone_.insert(drop);
    std::vector<Use>& uses = uses_.at(x);
    std::erase_if(uses, [&](const Use& use) { return use.stmt == drop; });
    for (const Use& use : uses_.at(y)) {
      fn_.stmts[use.stmt].operands[use.operand] = x;
      uses.push_back(use);
    }
  }
  ValueId sourceOf(ValueId v) const {
    for (auto found = became_.find(v); found != became_.end(); found = became_.find(v)) v = found->second;
    return v;
  }

  void leave(RegionId region) {
    std::erase_if(fn_.regions[region].stmts, [&](StmtId id) { return gone_.contains(id); });
    for (StmtId id : fn_.regions[region].stmts)
      for (RegionId inner : fn_.stmts[id].regions) leave(inner);
  }

  const Module& module_;
  Function& fn_;
  std::unordered_map<ValueId, std::vector<Use>> uses_;
  std::unordered_map<StmtId, Site> sites_;
  std::unordered_map<RegionId, StmtId> parents_;
  size_t count_ = 0;
  std::vector<StmtId> allocs_; ///< of arrays that might lie elsewhere
  std::unordered_map<ValueId, ValueId> became_;
  std::unordered_set<StmtId> gone_;
};

} // namespace

void reuseOperandMemory(Module& module) {
  for (Function& fn : module.functions) Placer(module, fn).run();
}

} // namespace melix::loops
