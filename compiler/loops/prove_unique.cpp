#include "loops/prove_unique.h"

#include "core/evaluate.h"
#include "loops/clone.h"
#include "loops/element_params.h"
#include "loops/ownership.h"

#include <algorithm>
#include <unordered_set>

namespace melix::loops {
namespace {

/// A loop: where what it carries stands among operands and parameters, and the region that is its turn.
struct Turns {
  explicit Turns(const Stmt& s)
      : operands(s.kind == StmtKind::For ? 2 : 0), params(s.kind == StmtKind::For ? 1 : 0),
        body(s.regions.back()) {}
  size_t operands, params;
  RegionId body;
};
bool isLoop(const Stmt& s) { return s.kind == StmtKind::For || s.kind == StmtKind::While; }

/// What a value is unique by: all of these being so.
using Sources = std::vector<ValueId>;

/// A carry of a loop that its first turn makes unique, whatever happens.
struct Updated {
  StmtId loop;
  size_t carry;
};

/// Reads a function: where blocks come from, and which somebody else may come to own.
class Reader {
public:
  Reader(const Module& module, const Function& fn, const ElementParams& elementsOnly)
      : module_(module), fn_(fn), elementsOnly_(elementsOnly) {
    for (size_t k = 0; k < fn.params().size(); ++k)
      if (fn.modes[k] == ModeKind::InOut) from(fn.params()[k], {});
    region(fn.body);
  }

  std::unordered_map<ValueId, Sources> sources;
  std::unordered_set<ValueId> shared;
  std::vector<StmtId> uniques; ///< those that make a block unique
  std::vector<Updated> updated;

private:
  void from(ValueId v, Sources by) {
    if (fn_.typeOf(v) == dataType) sources.emplace(v, std::move(by));
  }
  const std::vector<ValueId>& yields(RegionId r) const {
    return fn_.stmts[fn_.regions[r].stmts.back()].operands;
  }

  void region(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      for (RegionId inner : s.regions) {
        homes_[inner] = {id, r};
        region(inner);
      }
      for (size_t k = 0; k < s.operands.size(); ++k) {
        if (fn_.typeOf(s.operands[k]) != dataType) continue;
        if (mayBeKept(s, k)) shared.insert(s.operands[k]);
        noteUpdate(s, k, r);
      }
      define(id);
    }
  }

  /// Whether somebody else may own the operand too from here on.
  bool mayBeKept(const Stmt& s, size_t k) const {
    if (consumes(module_, s, k)) return false;
    switch (s.kind) {
    case StmtKind::PointerOf:
    case StmtKind::KeepAlive: return false;
    case StmtKind::Load:
    case StmtKind::Store:
    case StmtKind::AddressOf: return k > 0;
    case StmtKind::Call: return !elementsOnly_(s.as<FunctionId>(), k);
    case StmtKind::Runtime: return s.as<RuntimeCall>().kind != RuntimeKind::ListLength;
    default: return true;
    }
  }

  void define(StmtId id) {
    const Stmt& s = fn_.stmts[id];
    switch (s.kind) {
    case StmtKind::AllocArray: return from(s.results[0], {});
    case StmtKind::EnsureUnique: uniques.push_back(id); return from(s.results[0], {});
    case StmtKind::If:
    case StmtKind::Switch:
      for (size_t k = 0; k < s.results.size(); ++k) {
        Sources all;
        for (RegionId r : s.regions) all.push_back(yields(r)[k]);
        from(s.results[k], std::move(all));
      }
      return;
    case StmtKind::For:
    case StmtKind::While:
      for (size_t k = 0; k < s.results.size(); ++k) carried(id, k);
      return;
    default: return;
    }
  }
  void carried(StmtId id, size_t k) {
    const Stmt& s = fn_.stmts[id];
    const Turns turns(s);
    const ValueId first = s.operands[turns.operands + k], next = yields(turns.body)[k],
                  param = fn_.regions[turns.body].params[turns.params + k];
    const bool isMade = isUpdated(param, turns.body) && (s.kind == StmtKind::For || isPlain(s.regions[0]));
    if (isMade) updated.push_back({id, k});
    from(param, isMade ? Sources{next} : Sources{first, next});
    const bool turnsAtAll = isMade && s.kind == StmtKind::For && turnsOf(fn_, s).value_or(0) > 0;
    from(s.results[k], turnsAtAll ? Sources{next} : Sources{first, next});
    if (s.kind == StmtKind::While) from(fn_.regions[s.regions[0]].params[k], {first, next});
  }

  /// Whether a condition is only arithmetic and memory, and not much of it.
  bool isPlain(RegionId condition) const {
    constexpr size_t most = 16;
    const std::vector<StmtId>& stmts = fn_.regions[condition].stmts;
    return stmts.size() <= most && std::ranges::all_of(stmts, [&](StmtId id) {
             const Stmt& s = fn_.stmts[id];
             return s.kind == StmtKind::Const || s.kind == StmtKind::Scalar || s.kind == StmtKind::Yield ||
                    (s.kind == StmtKind::Load && !fn_.typeOf(s.results[0]).counted());
           });
  }

  // --- what is updated whatever happens

  void noteUpdate(const Stmt& s, size_t operand, RegionId home) {
    if (s.kind == StmtKind::EnsureUnique || (s.kind == StmtKind::For && updates(s, operand, home)))
      updatedBy(s.operands[operand], home);
  }
  /// Whatever happens in a region makes the value unique; a branch does what all its arms do.
  void updatedBy(ValueId v, RegionId home) {
    updatedIn_[home].insert(v);
    const auto at = homes_.find(home);
    if (at == homes_.end() || isLoop(fn_.stmts[at->second.stmt])) return;
    if (std::ranges::all_of(fn_.stmts[at->second.stmt].regions, [&](RegionId r) { return isUpdated(v, r); }))
      updatedBy(v, at->second.region);
  }
  bool isUpdated(ValueId v, RegionId in) const {
    const auto found = updatedIn_.find(in);
    return found != updatedIn_.end() && found->second.contains(v);
  }

  /// Whether a loop updates what it carries as that operand, and is known to turn when it is first reached in
  /// a turn of the loop around it.
  bool updates(const Stmt& s, size_t operand, RegionId home) const {
    const Turns turns(s);
    if (operand < turns.operands) return false;
    if (!isUpdated(fn_.regions[turns.body].params[turns.params + operand - turns.operands], turns.body))
      return false;
    const std::optional<int64_t> first = atFirst(s.operands[0], home, 0),
                                 end = atFirst(s.operands[1], home, 0);
    return first && end && *first < *end;
  }
  /// What a number is in the first turn of the loop around a region, if that is known.
  std::optional<int64_t> atFirst(ValueId v, RegionId home, int depth) const {
    constexpr int deepest = 4;
    if (const uint64_t* known = asConstant(fn_, v)) return static_cast<int64_t>(*known);
    const StmtId def = fn_.values[v].def;
    if (!def)
      return isIndex(v, home) ? atFirst(fn_.stmts[homes_.at(home).stmt].operands[0], {}, depth)
                              : std::nullopt;
    const Stmt& s = fn_.stmts[def];
    if (depth == deepest || s.kind != StmtKind::Scalar || s.operands.size() != 2) return std::nullopt;
    const auto& op = s.as<ScalarAttr>();
    const core::ScalarFunction function = core::scalarFunction(op.op, op.from, op.index);
    const std::optional<int64_t> a = atFirst(s.operands[0], home, depth + 1),
                                 b = atFirst(s.operands[1], home, depth + 1);
    if (op.from != TypeKind::I64 || !function || !a || !b) return std::nullopt;
    return static_cast<int64_t>(function(static_cast<uint64_t>(*a), static_cast<uint64_t>(*b), 0));
  }
  bool isIndex(ValueId v, RegionId home) const {
    const auto at = homes_.find(home);
    return at != homes_.end() && fn_.stmts[at->second.stmt].kind == StmtKind::For &&
           fn_.regions[home].params[0] == v;
  }

  /// Where a region stands.
  struct Home {
    StmtId stmt;
    RegionId region;
  };

  const Module& module_;
  const Function& fn_;
  const ElementParams& elementsOnly_;
  std::unordered_map<RegionId, Home> homes_;
  std::unordered_map<RegionId, std::unordered_set<ValueId>> updatedIn_;
};

class Prover {
public:
  Prover(const Module& module, Function& fn, const ElementParams& elementsOnly)
      : fn_(fn), reader_(module, fn, elementsOnly) {}

  void run() {
    if (reader_.uniques.empty()) return;
    solve();
    for (const Updated& u : reader_.updated) makeUnique(u);
    for (StmtId id : reader_.uniques)
      if (const Stmt& s = fn_.stmts[id]; isUnique(s.operands[0])) became_[s.results[0]] = s.operands[0];
    if (!became_.empty()) rewrite(fn_.body);
  }

private:
  bool isUnique(ValueId v) const { return reader_.sources.contains(v); }

  /// Takes away what is not unique, and all that was by it.
  void solve() {
    std::unordered_map<ValueId, std::vector<ValueId>> users;
    std::vector<ValueId> open(reader_.shared.begin(), reader_.shared.end());
    for (const auto& [v, by] : reader_.sources)
      for (ValueId source : by) {
        users[source].push_back(v);
        if (!isUnique(source)) open.push_back(source);
      }
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      reader_.sources.erase(v);
      if (auto found = users.find(v); found != users.end())
        for (ValueId user : found->second)
          if (isUnique(user)) open.push_back(user);
    }
  }

  /// In front of a loop, if its first turn would do so.
  void makeUnique(const Updated& u) {
    const Stmt loop = fn_.stmts[u.loop];
    const Turns turns(loop);
    const ValueId first = loop.operands[turns.operands + u.carry];
    if (isUnique(first) || !isUnique(fn_.regions[turns.body].params[turns.params + u.carry])) return;
    Builder b(fn_);
    b.loc = loop.loc;
    const RegionId front = b.begin();
    const ValueId made = uniqueIf(b, turnsAtAll(b, loop), first);
    fn_.stmts[u.loop].operands[turns.operands + u.carry] = made;
    std::vector<StmtId>& list = fronts_[u.loop];
    list.insert(list.end(), fn_.regions[front].stmts.begin(), fn_.regions[front].stmts.end());
  }
  /// Whether a loop turns; none if that is known.
  ValueId turnsAtAll(Builder& b, const Stmt& loop) const {
    if (loop.kind == StmtKind::For)
      return turnsOf(fn_, loop).value_or(0) > 0
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
  ValueId standsFor(ValueId v) {
    auto found = became_.find(v);
    if (found == became_.end()) return v;
    return found->second = standsFor(found->second);
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
    for (ValueId& v : fn_.stmts[id].operands) v = standsFor(v);
    for (ValueId v : fn_.stmts[id].results) fn_.values[v].region = region;
    for (RegionId inner : fn_.stmts[id].regions) rewrite(inner);
    out.push_back(id);
  }

  Function& fn_;
  Reader reader_;
  std::unordered_map<ValueId, ValueId> became_;
  std::unordered_map<StmtId, std::vector<StmtId>> fronts_; ///< what comes in front of loops
};

} // namespace

void proveUnique(Module& module) {
  const ElementParams elementsOnly(module);
  for (Function& fn : module.functions) Prover(module, fn, elementsOnly).run();
}

} // namespace melix::loops
