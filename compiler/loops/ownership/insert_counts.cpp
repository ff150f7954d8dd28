// Precise reference counting. Each counted value belongs to the region where it is defined; a branch inherits
// what is not needed after it, so that each path drops what it does not use; a loop body only borrows from
// outside. What is read from a block that a region borrows, that region borrows too, unless the block is
// changed where it is: it stays as it is until the region ends, since the count that somebody else holds
// keeps everybody from making it theirs.
#include "loops/ownership/ownership.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {
namespace {

using Set = std::set<ValueId>;

class Counter {
public:
  Counter(const Module& module, Function& fn) : module_(module), fn_(fn) {
    Set borrowed;
    for (size_t p = 0; p < fn.params().size(); ++p)
      if (isReadOnly(fn.modes[p])) borrowed.insert(fn.params()[p]);
    for (const Stmt& s : fn.stmts)
      if (changes(s) && !(isAddress(s) && borrowed.count(s.operands[0]))) changed_.insert(s.operands[0]);
  }

  void run() {
    Set owned;
    for (size_t p = 0; p < fn_.params().size(); ++p)
      if (fn_.modes[p] == ModeKind::Own && fn_.typeOf(fn_.params()[p]).counted())
        owned.insert(fn_.params()[p]);
    region(fn_.body, owned);
  }

private:
  /// Constants are immortal: nobody counts them.
  bool counts(ValueId v) const {
    if (!fn_.typeOf(v).counted()) return false;
    StmtId def = fn_.values[v].def;
    return !def || (fn_.stmts[def].kind != StmtKind::Const && fn_.stmts[def].kind != StmtKind::Text);
  }

  /// Counted values used in a region, at any depth.
  const Set& usedIn(RegionId r) {
    if (auto found = used_.find(r.index); found != used_.end()) return found->second;
    Set set;
    for (StmtId s : fn_.regions[r].stmts) addUses(s, set);
    return used_.emplace(r.index, std::move(set)).first->second;
  }
  void addUses(StmtId s, Set& set) {
    for (ValueId v : fn_.stmts[s].operands)
      if (counts(v)) set.insert(v);
    for (RegionId r : fn_.stmts[s].regions) {
      const Set& inner = usedIn(r);
      set.insert(inner.begin(), inner.end());
    }
  }

  bool isBorrowed(ValueId block, const Set& owned) const {
    return counts(block) && !owned.count(block) && !changed_.count(block);
  }

  /// Whether the statement writes to the block that it is given first, or somebody may by what it gives.
  bool changes(const Stmt& s) const {
    switch (s.kind) {
    case StmtKind::Store: return true;
    case StmtKind::AddressOf: // a node only changes while it is made, which begins with a store
    case StmtKind::PointerOf: return fn_.typeOf(s.operands[0]).cls != ClassKind::Word;
    case StmtKind::Load: return s.as<Access>().transfersOwnership;
    default: return false;
    }
  }

  static bool isAddress(const Stmt& s) {
    return s.kind == StmtKind::PointerOf || s.kind == StmtKind::AddressOf;
  }

  void emit(StmtKind kind, ValueId v, std::vector<StmtId>& out) {
    StmtId id = fn_.stmts.add({kind, loc_, {v}, {}, {}, {}});
    out.push_back(id);
  }

  /// `owned`: values that this region must consume; others that it uses are borrowed.
  void region(RegionId r, Set owned) {
    for (ValueId p : fn_.regions[r].params)
      if (r != fn_.body && fn_.typeOf(p).counted() && !borrowedParams_.count(r.index)) owned.insert(p);
    const std::vector<StmtId>& stmts = fn_.regions[r].stmts;
    std::vector<StmtId> out;

    // Where each value is used last, by position.
    std::unordered_map<ValueId, size_t> last;
    for (size_t i = 0; i < stmts.size(); ++i) {
      Set uses;
      addUses(stmts[i], uses);
      for (ValueId v : uses) last[v] = i;
    }
    if (!stmts.empty()) loc_ = fn_.stmts[stmts[0]].loc;
    for (ValueId v : Set(owned))
      if (!last.count(v)) {
        emit(StmtKind::Drop, v, out);
        owned.erase(v);
      }
    for (size_t i = 0; i < stmts.size(); ++i) {
      loc_ = fn_.stmts[stmts[i]].loc;
      statement(stmts[i], i, last, owned, out);
    }
    fn_.regions[r].stmts = std::move(out);
  }

  void statement(StmtId id, size_t position, const std::unordered_map<ValueId, size_t>& last, Set& owned,
                 std::vector<StmtId>& out) {
    const Stmt& stmt = fn_.stmts[id];
    std::unordered_map<ValueId, int> taken;
    Set lent;
    for (size_t k = 0; k < stmt.operands.size(); ++k) {
      ValueId v = stmt.operands[k];
      if (!counts(v)) continue;
      if (consumes(module_, stmt, k))
        ++taken[v];
      else
        lent.insert(v);
    }
    auto endsHere = [&](ValueId v) { return owned.count(v) && last.at(v) == position; };
    const bool reads = stmt.kind == StmtKind::Load && !stmt.as<Access>().transfersOwnership;
    const bool borrows = reads && isBorrowed(stmt.operands[0], owned);
    bool isBranch = stmt.kind == StmtKind::If || stmt.kind == StmtKind::Switch;

    // What is given away although somebody still needs it is given a count of its own.
    for (auto [v, count] : taken) {
      bool inside = false;
      for (RegionId r : stmt.regions) inside = inside || usedIn(r).count(v);
      bool gone = endsHere(v) && !lent.count(v) && !inside;
      for (int k = gone ? 1 : 0; k < count; ++k) emit(StmtKind::Retain, v, out);
      if (gone) owned.erase(v);
    }

    // Branches inherit; loop bodies borrow.
    Set inherited;
    if (isBranch)
      for (RegionId r : stmt.regions)
        for (ValueId v : usedIn(r))
          if (endsHere(v)) inherited.insert(v);
    for (ValueId v : inherited) owned.erase(v);
    if (stmt.kind == StmtKind::While) borrowedParams_.insert(stmt.regions[0].index);
    for (RegionId r : stmt.regions) region(r, inherited);
    loc_ = stmt.loc;

    out.push_back(id);
    // Before the memory it was read from may go.
    for (ValueId v : stmt.results)
      if (counts(v) && reads && !borrows) emit(StmtKind::Retain, v, out);
    Set uses;
    for (ValueId v : lent) uses.insert(v);
    for (auto [v, count] : taken) uses.insert(v);
    for (RegionId r : stmt.regions)
      for (ValueId v : usedIn(r)) uses.insert(v);
    for (ValueId v : uses)
      if (endsHere(v)) {
        emit(StmtKind::Drop, v, out);
        owned.erase(v);
      }
    for (ValueId v : stmt.results) {
      if (!counts(v) || borrows) continue;
      owned.insert(v);
      if (!last.count(v)) {
        emit(StmtKind::Drop, v, out);
        owned.erase(v);
      }
    }
  }

  const Module& module_;
  Function& fn_;
  LocId loc_;
  std::unordered_map<uint32_t, Set> used_;
  std::unordered_set<ValueId> changed_; ///< blocks
  std::set<uint32_t> borrowedParams_; ///< regions whose parameters stay with the loop: conditions of `while`
};

} // namespace

void insertCounts(const Module& module, Function& function) { Counter(module, function).run(); }

} // namespace melix::loops
