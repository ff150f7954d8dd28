#include "loops/point_tile.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

bool dependsOnOperands(const Stmt& s) {
  return s.kind == StmtKind::Const || s.kind == StmtKind::Scalar || s.kind == StmtKind::AddressOf ||
         s.kind == StmtKind::PointerOf || s.kind == StmtKind::Load;
}

bool isPlain(const Module& module, const Function& fn, const Stmt& s) {
  const bool plain = dependsOnOperands(s) || s.kind == StmtKind::If || s.kind == StmtKind::For ||
                     s.kind == StmtKind::Yield ||
                     (s.kind == StmtKind::Call && module.functions[s.as<FunctionId>()].inlined);
  auto isCounted = [&](ValueId v) { return fn.typeOf(v).counted(); };
  return plain && std::ranges::none_of(s.results, isCounted) &&
         std::ranges::all_of(s.regions, [&](RegionId r) {
           return std::ranges::all_of(fn.regions[r].stmts,
                                      [&](StmtId id) { return isPlain(module, fn, fn.stmts[id]); });
         });
}

bool isChain(const Module& module, const Function& fn, const Stmt& s) {
  auto isFloat = [&](ValueId v) {
    const ValueType type = fn.typeOf(v);
    return type.cls == ClassKind::Scalar && types::isFloatKind(type.scalar);
  };
  return s.kind == StmtKind::For && s.as<ForAttr>().mark != MarkKind::Parallel &&
         std::ranges::any_of(s.results, isFloat) && isPlain(module, fn, s);
}

PointTile::PointTile(const Module& module, Builder& b, const Stmt& loop, ValueId first, ValueId count,
                     int64_t most)
    : module_(module), b_(b), fn_(b.fn), point_(fn_.regions[loop.regions[0]].params[0]), first_(first),
      count_(count), most_(most), isWide_(b.asConstant(count) != nullptr) {
  const Region& body = fn_.regions[loop.regions[0]];
  carried_.assign(body.params.begin() + 1, body.params.end());
  note(loop.regions[0]);
  countUses(body.stmts, uses_);
}

void PointTile::note(RegionId region) {
  made_.insert(fn_.regions[region].params.begin(), fn_.regions[region].params.end());
  for (StmtId id : fn_.regions[region].stmts) {
    made_.insert(fn_.stmts[id].results.begin(), fn_.stmts[id].results.end());
    for (RegionId r : fn_.stmts[id].regions) note(r);
  }
}

void PointTile::countUses(std::span<const StmtId> stmts, Counts& uses) const {
  for (StmtId id : stmts) {
    for (ValueId v : fn_.stmts[id].operands) ++uses[v];
    for (RegionId r : fn_.stmts[id].regions) countUses(fn_.regions[r].stmts, uses);
  }
}

// --- statements
// ----------------------------------------------------------------------------------------------------------

/// What is the same at all points is done once; the rest between two chains in a sweep of its own. After the
/// last one `moves` are made. A tile has points, so that what is done once would be done at one of them.
void PointTile::splitAtChains(std::span<const StmtId> stmts, std::vector<Move> moves) {
  std::vector<StmtId> open;
  for (StmtId id : stmts) {
    const Stmt& s = fn_.stmts[id];
    const bool sameEnds = s.kind == StmtKind::For && isSame(s.operands[0]) && isSame(s.operands[1]);
    if (isSame(s)) {
      copy(id, same_);
    } else if (sameEnds && isChain(module_, fn_, s)) {
      chain(s, open);
      open.clear();
    } else {
      open.push_back(id);
    }
  }
  sweep(open, std::move(moves));
}

/// A chain, with the statements in front of it: what it carries lies in memory of the frame.
void PointTile::chain(const Stmt& s, std::span<const StmtId> before) {
  const std::vector<ValueId>& params = fn_.regions[s.regions[0]].params;
  const std::span<const StmtId> stmts = fn_.regions[s.regions[0]].stmts;
  const std::vector<ValueId>& next = fn_.stmts[stmts.back()].operands;
  std::vector<Move> begin, turn;
  for (size_t k = 0; k < s.results.size(); ++k) {
    const ValueId at = room(s.results[k]);
    kept_[params[k + 1]] = at;
    begin.push_back({s.operands[k + 2], at});
    if (next[k] != params[k + 1]) turn.push_back({next[k], at});
  }
  sweep(before, std::move(begin));
  for (size_t k = 0; k < s.results.size(); ++k) kept_[s.results[k]] = kept_.at(params[k + 1]);
  b_.loc = s.loc;
  b_.carryLoop(in(same_, s.operands[0]), in(same_, s.operands[1]), {},
               [&](ValueId i, const std::vector<ValueId>& none) {
                 same_[params[0]] = i;
                 splitAtChains(stmts.first(stmts.size() - 1), std::move(turn));
                 return none;
               });
}

/// One loop over the points.
void PointTile::sweep(std::span<const StmtId> stmts, std::vector<Move> moves) {
  const std::vector<Move> later = neededLater(stmts, moves);
  moves.insert(moves.end(), later.begin(), later.end());
  if (moves.empty()) return; // nothing else is seen
  auto reads = [&](StmtId id) { return fn_.stmts[id].kind == StmtKind::Load; };
  ForAttr points;
  if (isWide_ && std::ranges::any_of(stmts, reads)) points.mark = MarkKind::Points; // others are not worth it
  b_.carryLoop(
      b_.integer(0), count_, {},
      [&](ValueId u, const std::vector<ValueId>& none) {
        Copies copies{{point_, b_.arith(OpKind::Add, first_, u)}};
        loadFor(stmts, u, copies);
        for (StmtId id : stmts) copy(id, copies);
        for (const Move& m : moves) load(m.value, u, copies);
        for (const Move& m : moves)
          b_.store(m.to, {{u, b_.integer(1)}}, accessOf(m.value), in(copies, m.value));
        return none;
      },
      points);
}

/// Room for what statements give and others use, those that `moves` stand for left aside.
std::vector<PointTile::Move> PointTile::neededLater(std::span<const StmtId> stmts,
                                                    const std::vector<Move>& moves) {
  Counts here;
  countUses(stmts, here);
  for (const Move& m : moves) ++here[m.value];
  std::vector<Move> out;
  for (StmtId id : stmts)
    for (ValueId v : fn_.stmts[id].results)
      if (uses_[v] > here[v]) out.push_back({v, kept_[v] = room(v)});
  return out;
}

std::vector<ValueId> PointTile::sweepRest(std::span<const StmtId> stmts, std::vector<ValueId> carried) {
  ForAttr points;
  if (isWide_) points.mark = MarkKind::Points;
  return b_.carryLoop(
      b_.integer(0), count_, std::move(carried),
      [&](ValueId u, const std::vector<ValueId>& values) {
        Copies copies{{point_, b_.arith(OpKind::Add, first_, u)}};
        for (size_t k = 0; k < values.size(); ++k) copies[carried_[k]] = values[k];
        loadFor(stmts, u, copies);
        for (StmtId id : stmts.first(stmts.size() - 1)) copy(id, copies);
        return in(copies, fn_.stmts[stmts.back()].operands);
      },
      points);
}

// --- copies
// ----------------------------------------------------------------------------------------------------------

ValueId PointTile::in(const Copies& copies, ValueId v) const {
  if (auto found = copies.find(v); found != copies.end()) return found->second;
  auto found = same_.find(v);
  return found == same_.end() ? v : found->second;
}

std::vector<ValueId> PointTile::in(const Copies& copies, const std::vector<ValueId>& vs) const {
  std::vector<ValueId> out;
  for (ValueId v : vs) out.push_back(in(copies, v));
  return out;
}

/// The value of point number `u`, if it lies in memory.
void PointTile::load(ValueId v, ValueId u, Copies& copies) {
  auto found = kept_.find(v);
  if (found == kept_.end() || copies.contains(v)) return;
  copies[v] = b_.load(found->second, {{u, b_.integer(1)}}, accessOf(v));
}

void PointTile::loadFor(std::span<const StmtId> stmts, ValueId u, Copies& copies) {
  Counts used;
  countUses(stmts, used);
  std::vector<ValueId> values;
  for (const auto& [v, count] : used) values.push_back(v);
  std::ranges::sort(values);
  for (ValueId v : values) load(v, u, copies);
}

void PointTile::copy(StmtId id, Copies& copies) {
  const Stmt& s = fn_.stmts[id];
  std::vector<RegionId> regions;
  for (RegionId r : s.regions) regions.push_back(copyRegion(r, copies));
  std::vector<ValueType> types;
  for (ValueId v : s.results) types.push_back(fn_.typeOf(v));
  b_.loc = s.loc;
  const StmtId made = b_.stmt(s.kind, in(copies, s.operands), types, s.attr, std::move(regions));
  for (size_t k = 0; k < s.results.size(); ++k) {
    copies[s.results[k]] = b_.results(made)[k];
    fn_.values[b_.results(made)[k]].hint = fn_.values[s.results[k]].hint;
  }
}

RegionId PointTile::copyRegion(RegionId region, Copies& copies) {
  const std::vector<ValueId>& params = fn_.regions[region].params;
  const std::vector<StmtId>& stmts = fn_.regions[region].stmts;
  std::vector<ValueType> types;
  for (ValueId v : params) types.push_back(fn_.typeOf(v));
  const RegionId made = b_.begin(types);
  for (size_t k = 0; k < params.size(); ++k) copies[params[k]] = b_.params(made)[k];
  for (size_t k = 0; k + 1 < stmts.size(); ++k) copy(stmts[k], copies);
  return b_.end(in(copies, fn_.stmts[stmts.back()].operands));
}

Access PointTile::accessOf(ValueId v) const {
  const ValueType type = fn_.typeOf(v);
  return {type, (types::scalarBits(type.scalar) + 7) / 8};
}

ValueId PointTile::room(ValueId v) {
  return b_.scratch(uint64_t(accessOf(v).elemBytes) * static_cast<uint64_t>(most_));
}

} // namespace melix::loops
