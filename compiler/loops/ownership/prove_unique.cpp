#include "loops/ownership/prove_unique.h"

#include "loops/ir/clone.h"
#include "loops/ownership/uniqueness.h"

#include <algorithm>

namespace melix::loops {
namespace {

class Prover {
public:
  Prover(const Module& module, Function& fn)
      : module_(module), fn_(fn), blocks_(module, fn, UniqueBlocks::UpdatesKind::Made) {}

  void run() {
    if (blocks_.uniques().empty()) return;
    for (const UniqueBlocks::Updated& u : blocks_.updated()) makeUnique(u);
    notePassed(fn_.body);
    for (StmtId id : blocks_.uniques())
      if (const Stmt& s = fn_.stmts[id]; blocks_.isUnique(s.operands[0]) && isSeenUnique(s))
        became_[s.results[0]] = s.operands[0];
    if (!became_.empty() || !fronts_.empty()) rewrite(fn_.body);
  }

private:
  /// What calls update.
  void notePassed(RegionId region) {
    for (StmtId id : fn_.regions[region].stmts) {
      const Stmt& s = fn_.stmts[id];
      for (RegionId inner : s.regions) notePassed(inner);
      if (s.kind != StmtKind::Call) continue;
      const std::vector<ModeKind>& modes = module_.functions[s.as<FunctionId>()].modes;
      for (size_t k = 0; k < s.operands.size(); ++k)
        if (modes[k] == ModeKind::InOut) passed_.insert(s.operands[k]);
    }
  }
  /// What is passed to be updated is seen to be unique where it is made: beside a call, asking costs little.
  bool isSeenUnique(const Stmt& unique) {
    if (!passed_.contains(unique.results[0])) return true;
    const ValueId v = sourceOf(unique.operands[0]);
    const StmtId def = fn_.values[v].def;
    return def.valid() ? fn_.stmts[def].regions.empty()
                       : std::ranges::find(fn_.params(), v) != fn_.params().end();
  }

  /// Before a loop, if its first iteration would do so.
  void makeUnique(const UniqueBlocks::Updated& u) {
    const Stmt loop = fn_.stmts[u.loop];
    const LoopParts iterations(loop);
    const ValueId first = loop.operands[iterations.operands + u.carry];
    if (blocks_.isUnique(first) ||
        !blocks_.isUnique(fn_.regions[iterations.body].params[iterations.params + u.carry]))
      return;
    Builder b(fn_);
    b.loc = loop.loc;
    const RegionId front = b.begin();
    const ValueId made = uniqueIf(b, iteratesAtLeastOnce(b, loop), first);
    fn_.stmts[u.loop].operands[iterations.operands + u.carry] = made;
    std::vector<StmtId>& list = fronts_[u.loop];
    list.insert(list.end(), fn_.regions[front].stmts.begin(), fn_.regions[front].stmts.end());
  }
  /// Whether a loop iterates; none if that is known.
  ValueId iteratesAtLeastOnce(Builder& b, const Stmt& loop) const {
    if (loop.kind == StmtKind::For)
      return constantTripCount(fn_, loop).value_or(0) > 0
                 ? ValueId()
                 : b.compare(ops::CmpKind::Lt, loop.operands[0], loop.operands[1]);
    const Region condition = fn_.regions[loop.regions[0]];
    Copies copies;
    for (size_t k = 0; k < condition.params.size(); ++k) copies.set(condition.params[k], loop.operands[k]);
    for (size_t k = 0; k + 1 < condition.stmts.size(); ++k) clone(b, condition.stmts[k], copies);
    return copies.of(fn_.stmts[condition.stmts.back()].operands[0]);
  }
  ValueId uniqueIf(Builder& b, ValueId condition, ValueId v) const {
    if (!condition) return b.value(StmtKind::EnsureUnique, {v}, dataType);
    const RegionId yes = b.begin();
    b.end({b.value(StmtKind::EnsureUnique, {v}, dataType)});
    const RegionId no = b.begin();
    b.end({v});
    return b.results(b.stmt(StmtKind::If, {condition}, {dataType}, {}, {yes, no}))[0];
  }

  /// What stands for a value now.
  ValueId sourceOf(ValueId v) {
    auto found = became_.find(v);
    if (found == became_.end()) return v;
    return found->second = sourceOf(found->second);
  }
  void rewrite(RegionId region) {
    std::vector<StmtId> out;
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      if (auto front = fronts_.find(id); front != fronts_.end())
        for (StmtId made : front->second) place(made, region, out);
      if (const Stmt& s = fn_.stmts[id]; s.kind != StmtKind::EnsureUnique || !became_.contains(s.results[0]))
        place(id, region, out);
    }
    fn_.regions[region].stmts = std::move(out);
  }
  void place(StmtId id, RegionId region, std::vector<StmtId>& out) {
    for (ValueId& v : fn_.stmts[id].operands) v = sourceOf(v);
    for (ValueId v : fn_.stmts[id].results) fn_.values[v].region = region;
    for (RegionId inner : fn_.stmts[id].regions) rewrite(inner);
    out.push_back(id);
  }

  const Module& module_;
  Function& fn_;
  std::unordered_set<ValueId> passed_;
  const UniqueBlocks blocks_;
  std::unordered_map<ValueId, ValueId> became_;
  std::unordered_map<StmtId, std::vector<StmtId>> fronts_; ///< what comes before loops
};

} // namespace

void proveUnique(Module& module) {
  for (Function& fn : module.functions) Prover(module, fn).run();
}

} // namespace melix::loops
