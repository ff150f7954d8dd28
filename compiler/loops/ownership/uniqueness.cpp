#include "loops/ownership/uniqueness.h"

#include "core/analysis/evaluate.h"
#include "loops/ir/build.h"
#include "loops/ownership/ownership.h"

#include <algorithm>

namespace melix::loops {

UniqueBlocks::UniqueBlocks(const Module& module, const Function& fn, UpdatesKind updates)
    : module_(module), fn_(fn), updatesKind_(updates) {
  for (size_t k = 0; k < std::min(fn.params().size(), fn.modes.size()); ++k)
    if (fn.modes[k] == ModeKind::InOut) from(fn.params()[k], {});
  region(fn.body);
  solve();
}

void UniqueBlocks::from(ValueId v, Sources by) {
  if (fn_.typeOf(v) == dataType) sources_.emplace(v, std::move(by));
}

void UniqueBlocks::region(RegionId r) {
  for (StmtId id : fn_.regions[r].stmts) {
    const Stmt& s = fn_.stmts[id];
    for (RegionId inner : s.regions) {
      homes_[inner] = {id, r};
      region(inner);
    }
    for (size_t k = 0; k < s.operands.size(); ++k) {
      if (fn_.typeOf(s.operands[k]) != dataType) continue;
      if (mayBeKept(s, k)) shared_.insert(s.operands[k]);
      noteUpdate(s, k, r);
    }
    define(id);
  }
}

/// Whether somebody else may own the operand too from here on.
bool UniqueBlocks::mayBeKept(const Stmt& s, size_t k) const {
  if (consumes(module_, s, k)) return false;
  switch (s.kind) {
  case StmtKind::PointerOf:
  case StmtKind::AllocArray: // where another one might lie
  case StmtKind::KeepAlive:
  case StmtKind::Acquire:
  case StmtKind::AcquireUpdate:
  case StmtKind::Undefine:
  case StmtKind::Clear:
  case StmtKind::DeviceCopy:
  case StmtKind::Fetch:
  case StmtKind::Put: return false;
  case StmtKind::Load:
  case StmtKind::Store:
  case StmtKind::AddressOf: return k > 0;
  case StmtKind::Call: return !usesOnlyElements(module_.functions[s.as<FunctionId>()].modeOf(k));
  case StmtKind::Runtime: return s.as<RuntimeCall>().kind != RuntimeKind::ListLength;
  default: return true;
  }
}

void UniqueBlocks::define(StmtId id) {
  const Stmt& s = fn_.stmts[id];
  switch (s.kind) {
  case StmtKind::AllocArray: return from(s.results[0], {});
  case StmtKind::EnsureUnique: uniques_.push_back(id); return from(s.results[0], {});
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

void UniqueBlocks::carried(StmtId id, size_t k) {
  const Stmt& s = fn_.stmts[id];
  const LoopParts iterations(s);
  const ValueId first = s.operands[iterations.operands + k], next = yields(iterations.body)[k],
                param = fn_.regions[iterations.body].params[iterations.params + k];
  const bool isMade = updatesKind_ == UpdatesKind::Made && isUpdated(param, iterations.body) &&
                      (s.kind == StmtKind::For || isPlain(s.regions[0]));
  if (isMade) updated_.push_back({id, k});
  from(param, isMade ? Sources{next} : Sources{first, next});
  const bool iteratesAtLeastOnce =
      isMade && s.kind == StmtKind::For && constantTripCount(fn_, s).value_or(0) > 0;
  from(s.results[k], iteratesAtLeastOnce ? Sources{next} : Sources{first, next});
  if (s.kind == StmtKind::While) from(fn_.regions[s.regions[0]].params[k], {first, next});
}

/// Whether a condition is only arithmetic and memory, and not much of it.
bool UniqueBlocks::isPlain(RegionId condition) const {
  constexpr size_t most = 16;
  const std::vector<StmtId>& stmts = fn_.regions[condition].stmts;
  return stmts.size() <= most && std::ranges::all_of(stmts, [&](StmtId id) {
           const Stmt& s = fn_.stmts[id];
           return s.kind == StmtKind::Const || s.kind == StmtKind::Scalar || s.kind == StmtKind::Yield ||
                  (s.kind == StmtKind::Load && !fn_.typeOf(s.results[0]).counted());
         });
}

// --- what is updated whatever happens

void UniqueBlocks::noteUpdate(const Stmt& s, size_t operand, RegionId home) {
  if (s.kind == StmtKind::EnsureUnique || (s.kind == StmtKind::For && updates(s, operand, home)))
    updatedBy(s.operands[operand], home);
}
/// Whatever happens in a region makes the value unique; a branch does what all its arms do.
void UniqueBlocks::updatedBy(ValueId v, RegionId home) {
  updatedIn_[home].insert(v);
  const auto at = homes_.find(home);
  if (at == homes_.end() || isLoop(fn_.stmts[at->second.stmt])) return;
  if (std::ranges::all_of(fn_.stmts[at->second.stmt].regions, [&](RegionId r) { return isUpdated(v, r); }))
    updatedBy(v, at->second.region);
}
bool UniqueBlocks::isUpdated(ValueId v, RegionId in) const {
  const auto found = updatedIn_.find(in);
  return found != updatedIn_.end() && found->second.contains(v);
}

/// Whether a loop updates what it carries as that operand, and is known to iterate when it is first reached
/// in an iteration of the loop around it.
bool UniqueBlocks::updates(const Stmt& s, size_t operand, RegionId home) const {
  const LoopParts iterations(s);
  if (operand < iterations.operands) return false;
  if (!isUpdated(fn_.regions[iterations.body].params[iterations.params + operand - iterations.operands],
                 iterations.body))
    return false;
  const std::optional<int64_t> first = atFirst(s.operands[0], home, 0), end = atFirst(s.operands[1], home, 0);
  return first && end && *first < *end;
}
/// What a number is in the first iteration of the loop around a region, if that is known.
std::optional<int64_t> UniqueBlocks::atFirst(ValueId v, RegionId home, int depth) const {
  constexpr int deepest = 4;
  if (const uint64_t* known = asConstant(fn_, v)) return static_cast<int64_t>(*known);
  const StmtId def = fn_.values[v].def;
  if (!def)
    return isIndex(v, home) ? atFirst(fn_.stmts[homes_.at(home).stmt].operands[0], {}, depth) : std::nullopt;
  const Stmt& s = fn_.stmts[def];
  if (depth == deepest || s.kind != StmtKind::Scalar || s.operands.size() != 2) return std::nullopt;
  const auto& op = s.as<ScalarAttr>();
  const core::ScalarFunction function = core::scalarFunction(op.op, op.from, op.index);
  const std::optional<int64_t> a = atFirst(s.operands[0], home, depth + 1),
                               b = atFirst(s.operands[1], home, depth + 1);
  if (op.from != TypeKind::I64 || !function || !a || !b) return std::nullopt;
  return static_cast<int64_t>(function(static_cast<uint64_t>(*a), static_cast<uint64_t>(*b), 0));
}
bool UniqueBlocks::isIndex(ValueId v, RegionId home) const {
  const auto at = homes_.find(home);
  return at != homes_.end() && fn_.stmts[at->second.stmt].kind == StmtKind::For &&
         fn_.regions[home].params[0] == v;
}

/// Takes away what is not unique, and all that was by it.
void UniqueBlocks::solve() {
  std::unordered_map<ValueId, std::vector<ValueId>> users;
  std::vector<ValueId> open(shared_.begin(), shared_.end());
  for (const auto& [v, by] : sources_)
    for (ValueId source : by) {
      users[source].push_back(v);
      if (!isUnique(source)) open.push_back(source);
    }
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    sources_.erase(v);
    if (auto found = users.find(v); found != users.end())
      for (ValueId user : found->second)
        if (isUnique(user)) open.push_back(user);
  }
}

} // namespace melix::loops
