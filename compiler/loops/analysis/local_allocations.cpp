#include "loops/analysis/local_allocations.h"

#include <algorithm>

namespace melix::loops {

LocalBlocks::LocalBlocks(const Module& module, Function& fn) : module_(module), fn_(fn) {
  for (StmtId id : fn.regions[fn.body].stmts) enter(id, fn.body);
}

namespace {

/// The entry of an id in a table that grows with the function.
template <class Value, class Tag>
Value& entry(std::vector<Value>& table, Id<Tag> id) {
  if (id.index >= table.size()) table.resize(id.index + 1);
  return table[id.index];
}

} // namespace

std::vector<LocalBlocks::Use>& LocalBlocks::usesOf(ValueId v) { return entry(uses_, v); }

void LocalBlocks::enter(StmtId id, RegionId region) {
  entry(homes_, id) = region;
  const Stmt& s = fn_.stmts[id];
  for (ValueId v : s.results) fn_.values[v].region = region;
  for (size_t k = 0; k < s.operands.size(); ++k) usesOf(s.operands[k]).push_back({id, k});
  for (RegionId inner : s.regions) {
    entry(parents_, inner) = id;
    for (StmtId within : fn_.regions[inner].stmts) enter(within, inner);
  }
}

void LocalBlocks::leave(std::span<const StmtId> ids) {
  const std::unordered_set<StmtId> gone(ids.begin(), ids.end());
  std::unordered_set<RegionId> homes;
  for (StmtId id : ids) {
    homes.insert(homeOf(id));
    homes_[id.index] = RegionId();
    for (ValueId v : fn_.stmts[id].operands)
      std::erase_if(usesOf(v), [&](const Use& use) { return use.stmt == id; });
  }
  for (RegionId home : homes)
    std::erase_if(fn_.regions[home].stmts, [&](StmtId id) { return gone.contains(id); });
}

void LocalBlocks::splice(RegionId from, RegionId to, size_t place) {
  const std::vector<StmtId> made = std::move(fn_.regions[from].stmts);
  std::vector<StmtId>& list = fn_.regions[to].stmts;
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), made.begin(), made.end());
  for (StmtId id : made) enter(id, to);
}

bool LocalBlocks::isWithin(RegionId region, RegionId outer) const {
  while (region != outer) {
    const StmtId parent = parentOf(region);
    if (!parent.valid()) return false;
    region = homeOf(parent);
  }
  return true;
}

// --- who uses a block
// -----------------------------------------------------------------------------------------------

struct LocalBlocks::Following {
  OnlyElements onlyElements;
  RegionId home;
  Block block;
  std::vector<ValueId> open;
  std::vector<ValueId> needed; ///< of the block too, or it is not one

  void join(ValueId v) {
    if (block.values.insert(v).second) open.push_back(v);
  }
};

std::optional<LocalBlocks::Block> LocalBlocks::follow(StmtId alloc, OnlyElements onlyElements) const {
  const Stmt& s = fn_.stmts[alloc];
  if (s.kind != StmtKind::AllocArray || !module_.core.types.isScalar(s.as<AllocAttr>().type))
    return std::nullopt;
  Following at{onlyElements, homeOf(alloc), {}, {}, {}};
  if (!followAll(s.results[0], at) || at.block.drops.empty()) return std::nullopt;
  return std::move(at.block);
}

std::optional<LocalBlocks::Block> LocalBlocks::followParam(ValueId param, OnlyElements onlyElements) const {
  Following at{onlyElements, fn_.body, {}, {}, {}};
  if (!followAll(param, at) || !at.block.result) return std::nullopt;
  return std::move(at.block);
}

/// Whether all that the value becomes is one block.
bool LocalBlocks::followAll(ValueId begun, Following& at) const {
  at.join(begun);
  while (!at.open.empty()) {
    const ValueId v = at.open.back();
    at.open.pop_back();
    if (v.index >= uses_.size()) continue;
    for (const Use& use : uses_[v.index])
      if (!followUse(use, at)) return false;
  }
  return std::ranges::all_of(at.needed, [&](ValueId v) { return at.block.values.contains(v); });
}

/// Whether a statement is inside a `grid` loop that begins inside `outside`.
bool LocalBlocks::isLaunched(StmtId id, RegionId outside) const {
  if (fn_.device == Device::Host) return false;
  for (RegionId r = homeOf(id); r != outside;) {
    const StmtId parent = parentOf(r);
    if (!parent.valid()) return false;
    const Stmt& s = fn_.stmts[parent];
    if (s.kind == StmtKind::For && s.as<ForAttr>().grid) return true;
    r = homeOf(parent);
  }
  return false;
}

bool LocalBlocks::followUse(const Use& use, Following& at) const {
  const Stmt& s = fn_.stmts[use.stmt];
  if (isLaunched(use.stmt, at.home)) return false; // a device reads no frames
  switch (s.kind) {
  case StmtKind::PointerOf:
  case StmtKind::AllocArray: // where another one might lie
  case StmtKind::KeepAlive: return true;
  case StmtKind::Load:
  case StmtKind::Store:
  case StmtKind::AddressOf: return use.operand == 0;
  case StmtKind::Call: return at.onlyElements(s.as<FunctionId>(), use.operand);
  case StmtKind::Launch: // its operands stand where the parameters do
    return use.operand >= boundOperands && at.onlyElements(s.as<FunctionId>(), use.operand);
  case StmtKind::Drop: at.block.drops.push_back(use.stmt); return true;
  case StmtKind::EnsureUnique:
    at.block.uniques.push_back(use.stmt);
    at.join(s.results[0]);
    return true;
  case StmtKind::For:
  case StmtKind::Yield: return followCarry(use, at);
  default: return false;
  }
}

bool LocalBlocks::followCarry(const Use& use, Following& at) const {
  const Stmt& s = fn_.stmts[use.stmt];
  if (s.kind == StmtKind::Yield && homeOf(use.stmt) == fn_.body) {
    const bool first = !at.block.result;
    at.block.result = use.operand;
    return first && at.home == fn_.body;
  }
  if (s.kind == StmtKind::Yield) { // `needed` sees that nothing else goes around
    const StmtId parent = parentOf(homeOf(use.stmt));
    if (homeOf(use.stmt) == at.home || !parent.valid()) return false;
    const Stmt& loop = fn_.stmts[parent];
    return loop.kind == StmtKind::For && at.block.values.contains(loop.operands[boundOperands + use.operand]);
  }
  if (use.operand < boundOperands) return false;
  const size_t k = use.operand - boundOperands;
  const Region& inner = fn_.regions[s.regions[0]];
  at.block.carries.emplace_back(use.stmt, k);
  at.join(inner.params[1 + k]);
  at.join(s.results[k]);
  at.needed.push_back(fn_.stmts[inner.stmts.back()].operands[k]);
  return true;
}

// --- a block that is not counted
// ------------------------------------------------------------------------------------

void LocalBlocks::release(const Block& block, ValueId by) {
  std::vector<StmtId> gone = block.uniques;
  gone.insert(gone.end(), block.drops.begin(), block.drops.end());
  leave(gone);
  std::vector<std::pair<StmtId, size_t>> carries = block.carries;
  std::ranges::sort(carries, std::greater());
  for (auto [loop, k] : carries) removeCarry(loop, k);
  for (ValueId v : block.values) replace(v, by);
}

ValueId LocalBlocks::addCarry(StmtId loop, ValueId begun) {
  Stmt& s = fn_.stmts[loop];
  const ValueType type = fn_.typeOf(begun);
  usesOf(begun).push_back({loop, s.operands.size()});
  s.operands.push_back(begun);
  s.results.push_back(fn_.values.add({type, loop, homeOf(loop)}));
  const ValueId param = fn_.values.add({type, StmtId(), s.regions[0]});
  fn_.regions[s.regions[0]].params.push_back(param);
  return param;
}

void LocalBlocks::yieldCarries(StmtId loop, const std::vector<ValueId>& next) {
  const StmtId end = fn_.regions[fn_.stmts[loop].regions[0]].stmts.back();
  std::vector<ValueId>& operands = fn_.stmts[end].operands;
  for (ValueId v : next) {
    usesOf(v).push_back({end, operands.size()});
    operands.push_back(v);
  }
}

void LocalBlocks::removeCarry(StmtId loop, size_t k) {
  Stmt& s = fn_.stmts[loop];
  Region& inner = fn_.regions[s.regions[0]];
  const StmtId end = inner.stmts.back();
  auto erase = [](std::vector<ValueId>& list, size_t at) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  };
  recount(loop, s.operands[boundOperands + k]);
  recount(end, fn_.stmts[end].operands[k]);
  erase(s.operands, boundOperands + k);
  erase(s.results, k);
  erase(inner.params, 1 + k);
  erase(fn_.stmts[end].operands, k);
  for (StmtId id : {loop, end})
    for (ValueId v : fn_.stmts[id].operands) recount(id, v);
}

/// The uses of a value by the statement are those that stand there.
void LocalBlocks::recount(StmtId stmt, ValueId v) {
  std::vector<Use>& uses = usesOf(v);
  std::erase_if(uses, [&](const Use& use) { return use.stmt == stmt; });
  const std::vector<ValueId>& operands = fn_.stmts[stmt].operands;
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k] == v) uses.push_back({stmt, k});
}

void LocalBlocks::replace(ValueId v, ValueId by) {
  if (v == by) return;
  const std::vector<Use> uses = std::exchange(usesOf(v), {});
  for (const Use& use : uses) {
    std::vector<ValueId>& operands = fn_.stmts[use.stmt].operands;
    if (use.operand >= operands.size() || operands[use.operand] != v) continue;
    operands[use.operand] = by;
    usesOf(by).push_back(use);
  }
}

} // namespace melix::loops
