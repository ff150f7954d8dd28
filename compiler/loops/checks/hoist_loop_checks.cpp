#include "loops/checks/hoist_loop_checks.h"

#include "loops/checks/check_extremes.h"

#include <algorithm>
#include <numeric>

namespace melix::loops {

using ops::CmpKind;

namespace {

constexpr uint64_t fewIterations = 8; ///< of a loop whose checks stay where they are

/// Writes tests of the checks of a loop where the builder stands.
class CheckWriter {
public:
  CheckWriter(Builder& b, const CheckSlice& slice, StmtId loop)
      : b_(b), fn_(b.fn), slice_(slice), loop_(loop) {}

  /// Whether these hold, by a pass over the points.
  ValueId pass(std::span<const size_t> checks) {
    copies_.clear();
    return sweep(loop_, checks);
  }
  /// The checks alone, in their order.
  void run(std::span<const size_t> checks) {
    copies_.clear();
    loopOfChecks(loop_, slice_.sliceOf(checks, true));
  }

private:
  ValueId in(ValueId v) const {
    const auto found = copies_.find(v);
    return found == copies_.end() ? v : found->second;
  }
  std::vector<ValueId> in(const std::vector<ValueId>& vs) const {
    std::vector<ValueId> out;
    for (ValueId v : vs) out.push_back(in(v));
    return out;
  }
  std::vector<StmtId> bodyOf(RegionId r) const {
    const std::vector<StmtId>& stmts = fn_.regions[r].stmts;
    return {stmts.begin(), stmts.end() - 1};
  }
  const std::vector<ValueId>& yieldsOf(RegionId r) const {
    return fn_.stmts[fn_.regions[r].stmts.back()].operands;
  }
  std::vector<size_t> numbersOf(const Slice& slice, StmtId around) const;

  ValueId holdsIn(RegionId region, const Slice& slice);
  ValueId sweep(StmtId loop, std::span<const size_t> checks);
  template <class Body>
  StmtId branch(StmtId id, const Slice& slice, const std::vector<ValueType>& more, const Body& body);
  ValueId branchHolds(StmtId id, const Slice& slice) {
    const StmtId made = branch(id, slice, {scalarType(TypeKind::Bool)},
                               [&](RegionId r) { return std::vector<ValueId>{holdsIn(r, slice)}; });
    return b_.results(made).back();
  }
  void checksIn(RegionId region, const Slice& slice);
  void loopOfChecks(StmtId loop, const Slice& slice);
  void branchOfChecks(StmtId id, const Slice& slice) {
    branch(id, slice, {}, [&](RegionId r) {
      checksIn(r, slice);
      return std::vector<ValueId>();
    });
  }
  void copy(StmtId id, const Slice& slice);
  void note(const Stmt& s, StmtId made);

  Builder& b_;
  Function& fn_;
  const CheckSlice& slice_;
  StmtId loop_;
  std::unordered_map<ValueId, ValueId> copies_;
};

// --- conditions

/// The checks of a slice within a loop.
std::vector<size_t> CheckWriter::numbersOf(const Slice& slice, StmtId around) const {
  std::vector<size_t> out;
  for (size_t k = 0; k < slice_.checks().size(); ++k) {
    const CheckSlice::Check& c = slice_.checks()[k];
    if (slice.checks.contains(c.stmt) && std::ranges::find(c.around, around) != c.around.end())
      out.push_back(k);
  }
  return out;
}

/// Whether all checks of the slice within a region hold.
ValueId CheckWriter::holdsIn(RegionId region, const Slice& slice) {
  ValueId all;
  auto require = [&](ValueId holds) { all = all ? b_.both(all, holds) : holds; };
  for (StmtId id : bodyOf(region)) {
    const StmtKind kind = fn_.stmts[id].kind;
    b_.loc = fn_.stmts[id].loc;
    if (slice.checks.contains(id))
      require(in(fn_.stmts[id].operands[0]));
    else if (slice.around.contains(id) && kind == StmtKind::For)
      require(sweep(id, numbersOf(slice, id)));
    else if (slice.around.contains(id))
      require(branchHolds(id, slice));
    else if (slice.needed.contains(id))
      copy(id, slice);
  }
  return all ? all : b_.boolean(true);
}

/// Whether these checks hold at all points of a loop: what is the same at all is looked at once.
ValueId CheckWriter::sweep(StmtId loop, std::span<const size_t> checks) {
  const RegionId body = fn_.stmts[loop].regions[0];
  const ValueId index = fn_.regions[body].params[0];
  const ValueId first = in(fn_.stmts[loop].operands[0]), end = in(fn_.stmts[loop].operands[1]);
  std::vector<size_t> same, varying;
  for (size_t k : checks) (slice_.checks()[k].indices.contains(index) ? varying : same).push_back(k);
  ValueId holds = b_.boolean(true);
  if (!same.empty()) {
    const RegionId some = b_.begin();
    b_.end({holdsIn(body, slice_.sliceOf(same, false))});
    const RegionId none = b_.begin();
    b_.end({holds});
    const ValueId runs = b_.compare(CmpKind::Lt, first, end);
    holds = b_.results(b_.stmt(StmtKind::If, {runs}, {scalarType(TypeKind::Bool)}, {}, {some, none}))[0];
  }
  if (varying.empty()) return holds;
  ForAttr points;
  points.dependence = Dependence::Independent;
  const Slice slice = slice_.sliceOf(varying, false);
  return b_.carryLoop(
      first, end, {holds},
      [&](ValueId i, const std::vector<ValueId>& before) {
        copies_[index] = i;
        return std::vector<ValueId>{b_.both(before[0], holdsIn(body, slice))};
      },
      points)[0];
}

/// A branch that gives the values which the slice needs, and after them what `body` gives of a region.
template <class Body>
StmtId CheckWriter::branch(StmtId id, const Slice& slice, const std::vector<ValueType>& more,
                           const Body& body) {
  const Stmt s = fn_.stmts[id];
  const bool isNeeded = slice.needed.contains(id);
  std::vector<RegionId> regions;
  for (RegionId r : s.regions) {
    regions.push_back(b_.begin());
    const std::vector<ValueId> further = body(r);
    std::vector<ValueId> yields = isNeeded ? in(yieldsOf(r)) : std::vector<ValueId>();
    yields.insert(yields.end(), further.begin(), further.end());
    b_.end(std::move(yields));
  }
  std::vector<ValueType> types;
  if (isNeeded)
    for (ValueId v : s.results) types.push_back(fn_.typeOf(v));
  types.insert(types.end(), more.begin(), more.end());
  b_.loc = s.loc;
  const StmtId made = b_.stmt(s.kind, {in(s.operands[0])}, types, s.attr, std::move(regions));
  if (isNeeded) note(s, made);
  return made;
}

// --- checks

void CheckWriter::checksIn(RegionId region, const Slice& slice) {
  for (StmtId id : bodyOf(region)) {
    const Stmt s = fn_.stmts[id];
    b_.loc = s.loc;
    if (slice.checks.contains(id))
      b_.stmt(StmtKind::Check, in(s.operands), {}, s.attr);
    else if (slice.around.contains(id) && s.kind == StmtKind::For)
      loopOfChecks(id, slice);
    else if (slice.around.contains(id))
      branchOfChecks(id, slice);
    else if (slice.needed.contains(id))
      copy(id, slice);
  }
}

void CheckWriter::loopOfChecks(StmtId loop, const Slice& slice) {
  const Stmt s = fn_.stmts[loop];
  b_.carryLoop(in(s.operands[0]), in(s.operands[1]), {}, [&](ValueId i, const std::vector<ValueId>& none) {
    copies_[fn_.regions[s.regions[0]].params[0]] = i;
    checksIn(s.regions[0], slice);
    return none;
  });
}

/// A statement without checks inside.
void CheckWriter::copy(StmtId id, const Slice& slice) {
  const Stmt s = fn_.stmts[id];
  if (!s.regions.empty()) return branchOfChecks(id, slice);
  std::vector<ValueType> types;
  for (ValueId v : s.results) types.push_back(fn_.typeOf(v));
  note(s, b_.stmt(s.kind, in(s.operands), types, s.attr));
}

void CheckWriter::note(const Stmt& s, StmtId made) {
  for (size_t k = 0; k < s.results.size(); ++k) {
    const ValueId v = b_.results(made)[k];
    copies_[s.results[k]] = v;
    fn_.values[v].hint = fn_.values[s.results[k]].hint;
  }
}

// --- loops

class ChecksBefore {
public:
  ChecksBefore(const Module& module, Function& fn) : module_(module), fn_(fn) {}

  void run(RegionId region) {
    if (!hasChecks(region)) return;
    std::vector<StmtId> out;
    const std::vector<StmtId> stmts = fn_.regions[region].stmts;
    for (StmtId id : stmts) {
      const std::vector<StmtId> tests = testsBefore(id, region);
      out.insert(out.end(), tests.begin(), tests.end());
      out.push_back(id);
      if (!tests.empty()) continue;
      const std::vector<RegionId> regions = fn_.stmts[id].regions;
      for (RegionId inner : regions) run(inner);
    }
    fn_.regions[region].stmts = std::move(out);
  }

private:
  bool hasChecks(RegionId region);
  bool isSwept(const Stmt& s) const;
  std::vector<StmtId> testsBefore(StmtId loop, RegionId home);
  ValueId testAll(Builder& b, const CheckSlice& slice, CheckExtremes& extremes, CheckWriter& writer,
                  std::span<const size_t> first);
  void removeChecks(RegionId region);

  const Module& module_;
  Function& fn_;
  std::unordered_map<RegionId, bool> hasChecks_;
};

/// Whether there are any inside.
bool ChecksBefore::hasChecks(RegionId region) {
  if (const auto known = hasChecks_.find(region); known != hasChecks_.end()) return known->second;
  bool any = false;
  for (StmtId id : fn_.regions[region].stmts) {
    any = any || fn_.stmts[id].kind == StmtKind::Check;
    for (RegionId r : fn_.stmts[id].regions) any = hasChecks(r) || any;
  }
  return hasChecks_[region] = any;
}

/// A loop of many points; those that programs write look for cancellation.
bool ChecksBefore::isSwept(const Stmt& s) const {
  if (s.kind != StmtKind::For || s.as<ForAttr>().polls || s.as<ForAttr>().dependence == Dependence::None)
    return false;
  return constantTripCount(fn_, s).value_or(fewIterations + 1) > fewIterations;
}

/// Whether all checks hold: those of each pass are tested where those of the passes before do.
ValueId ChecksBefore::testAll(Builder& b, const CheckSlice& slice, CheckExtremes& extremes,
                              CheckWriter& writer, std::span<const size_t> first) {
  ValueId ok;
  auto require = [&](ValueId holds) { ok = ok ? b.both(ok, holds) : holds; };
  for (size_t k : first) require(extremes.test(slice.checks()[k]));
  if (extremes.isExact()) require(extremes.isExact());
  for (unsigned pass = 1;; ++pass) {
    std::vector<size_t> now;
    for (size_t k = 0; k < slice.checks().size(); ++k)
      if (slice.checks()[k].pass == pass) now.push_back(k);
    if (now.empty()) return ok;
    if (!ok) {
      ok = writer.pass(now);
      continue;
    }
    const RegionId yes = b.begin();
    b.end({writer.pass(now)});
    const RegionId no = b.begin();
    b.end({b.boolean(false)});
    ok = b.results(b.stmt(StmtKind::If, {ok}, {scalarType(TypeKind::Bool)}, {}, {yes, no}))[0];
  }
}

/// What comes before a loop, which then has no checks; nothing if they stay.
std::vector<StmtId> ChecksBefore::testsBefore(StmtId loop, RegionId home) {
  if (!isSwept(fn_.stmts[loop]) || !hasChecks(fn_.stmts[loop].regions[0])) return {};
  CheckSlice slice(module_, fn_, loop);
  if (!slice.isComputable()) return {};
  Builder b(fn_);
  b.loc = fn_.stmts[loop].loc;
  CheckExtremes extremes(b, slice);
  std::vector<size_t> all(slice.checks().size()), first;
  std::iota(all.begin(), all.end(), size_t(0));
  for (size_t k : all)
    if (extremes.isTestable(slice.checks()[k])) first.push_back(k);
  const bool onlyExtremes = fn_.kind == FunctionKind::Orchestration;
  if (onlyExtremes && first.size() < all.size()) return {};
  if (!slice.findPasses(first) || !slice.isCheap()) return {};
  CheckWriter writer(b, slice, loop);
  const RegionId front = b.begin();
  const ValueId ok = testAll(b, slice, extremes, writer, first);
  const RegionId fine = b.begin();
  b.end();
  const RegionId failed = b.begin();
  writer.run(all);
  b.end();
  b.stmt(StmtKind::If, {ok}, {}, {}, {fine, failed});
  b.end();
  removeChecks(fn_.stmts[loop].regions[0]);
  std::vector<StmtId> out = fn_.regions[front].stmts;
  out.pop_back(); // the yield
  for (StmtId s : out)
    for (ValueId v : fn_.stmts[s].results) fn_.values[v].region = home;
  return out;
}

void ChecksBefore::removeChecks(RegionId region) {
  std::erase_if(fn_.regions[region].stmts, [&](StmtId id) { return fn_.stmts[id].kind == StmtKind::Check; });
  for (StmtId id : fn_.regions[region].stmts) {
    const std::vector<RegionId> regions = fn_.stmts[id].regions;
    for (RegionId r : regions) removeChecks(r);
  }
}

} // namespace

void hoistLoopChecks(const Module& module, Function& function) {
  ChecksBefore(module, function).run(function.body);
}

} // namespace melix::loops
