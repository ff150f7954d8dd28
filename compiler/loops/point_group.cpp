#include "loops/point_group.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr size_t mostStatements = 24; ///< of a term; longer ones keep the processor busy by themselves
constexpr size_t mostCopied = 4;      ///< of what follows the chains; more of them stay a loop

bool isPure(StmtKind kind) {
  return kind == StmtKind::Const || kind == StmtKind::Scalar || kind == StmtKind::AddressOf ||
         kind == StmtKind::PointerOf;
}

bool isFloat(ValueType type) { return type.cls == ClassKind::Scalar && types::isFloatKind(type.scalar); }

bool isPlain(const Function& fn, RegionId region, size_t& statements) {
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind == StmtKind::Const || s.kind == StmtKind::Yield) continue;
    const bool plain =
        isPure(s.kind) || s.kind == StmtKind::Load || s.kind == StmtKind::If || s.kind == StmtKind::For;
    if (!plain || ++statements > mostStatements) return false;
    if (std::ranges::any_of(s.results, [&](ValueId v) { return fn.typeOf(v).counted(); })) return false;
    if (!std::ranges::all_of(s.regions, [&](RegionId r) { return isPlain(fn, r, statements); })) return false;
  }
  return true;
}

} // namespace

bool isChain(const Function& fn, const Stmt& s) {
  if (s.kind != StmtKind::For || s.as<ForAttr>().mark == MarkKind::Parallel) return false;
  size_t statements = 0;
  return std::ranges::any_of(s.results, [&](ValueId v) { return isFloat(fn.typeOf(v)); }) &&
         isPlain(fn, s.regions[0], statements);
}

RegionId PointGroup::copyRegion(Copy& copy, RegionId region) {
  const RegionId made = b_.begin(typesOf(fn_.regions[region].params));
  for (size_t k = 0; k < fn_.regions[region].params.size(); ++k)
    copy[fn_.regions[region].params[k]] = b_.params(made)[k];
  const std::vector<StmtId>& stmts = fn_.regions[region].stmts;
  for (size_t k = 0; k + 1 < stmts.size(); ++k) copyFor(copy, stmts[k]);
  return b_.end(operandsIn(copy, fn_.stmts[stmts.back()]));
}

void PointGroup::copyFor(Copy& copy, StmtId id) {
  const Stmt& s = fn_.stmts[id];
  std::vector<RegionId> regions;
  for (RegionId r : s.regions) regions.push_back(copyRegion(copy, r));
  b_.loc = s.loc;
  const StmtId made = b_.stmt(s.kind, operandsIn(copy, s), typesOf(s.results), s.attr, std::move(regions));
  for (size_t k = 0; k < s.results.size(); ++k) {
    copy[s.results[k]] = b_.results(made)[k];
    fn_.values[b_.results(made)[k]].hint = fn_.values[s.results[k]].hint;
  }
}

void PointGroup::copyPoint(Copy& copy, StmtId id) {
  const Stmt& s = fn_.stmts[id];
  const bool again =
      &copy != &copies_[0] && isPure(s.kind) && operandsIn(copy, s) == operandsIn(copies_[0], s);
  if (!again) return copyFor(copy, id);
  for (ValueId v : s.results) copy[v] = copies_[0][v];
}

void PointGroup::copyForAll(StmtId id) {
  const Stmt& s = fn_.stmts[id];
  if (s.kind == StmtKind::For) return chainsAtOnce(id);
  const bool once =
      s.regions.empty() && std::ranges::all_of(s.operands, [&](ValueId v) { return isSame(v); });
  if (!once) {
    if (const auto bytes = s.kind == StmtKind::Load ? distance(s) : std::nullopt)
      return loadEvenly(id, *bytes);
    for (Copy& copy : copies_) copyFor(copy, id);
    return;
  }
  copyFor(copies_[0], id); // nothing is written in a chain, so that a load gives the same too
  for (ValueId v : s.results) same(v, copies_[0][v]);
}

/// How many bytes an access of a point lies behind that of the point in front of it, if it is always as many.
std::optional<int64_t> PointGroup::distance(const Stmt& s) const {
  int64_t bytes = 0;
  const auto& access = s.as<Access>();
  for (size_t k = 0; k < s.operands.size(); ++k) {
    const ValueId v = s.operands[k];
    const bool isIndex = k % 2 == 1 && v == point_;
    if (!isIndex && !isSame(v)) return std::nullopt;
    if (!isIndex) continue;
    const uint64_t* stride = b_.asConstant(s.operands[k + 1]);
    if (!stride) return std::nullopt;
    bytes += static_cast<int64_t>(*stride) * access.elemBytes;
  }
  return bytes;
}

/// Reads that lie evenly, from one address.
void PointGroup::loadEvenly(StmtId id, int64_t distance) {
  const Stmt& s = fn_.stmts[id];
  b_.loc = s.loc;
  Access access = s.as<Access>();
  const ValueId address = b_.value(StmtKind::AddressOf, operandsIn(copies_[0], s), addressType,
                                   Access{addressType, access.elemBytes, access.offset});
  access.offset = 0;
  for (Copy& copy : copies_) {
    copy[s.results[0]] = b_.load(address, {}, access);
    access.offset += distance;
  }
}

/// One loop that carries what all the points carry, as long as its ends are the same at all of them.
void PointGroup::chainsAtOnce(StmtId id) {
  const Stmt& s = fn_.stmts[id];
  if (!isSame(s.operands[0]) || !isSame(s.operands[1])) {
    for (Copy& copy : copies_) copyFor(copy, id);
    return;
  }
  std::vector<ValueId> carried;
  for (const Copy& copy : copies_) {
    const std::vector<ValueId> operands = operandsIn(copy, s);
    carried.insert(carried.end(), operands.begin() + 2, operands.end());
  }
  const std::vector<ValueId> params = fn_.regions[s.regions[0]].params;
  const std::vector<StmtId> stmts = fn_.regions[s.regions[0]].stmts;
  const size_t each = s.results.size();
  const ValueId first = in(copies_[0], s.operands[0]), end = in(copies_[0], s.operands[1]);
  b_.loc = s.loc;
  std::vector<ValueId> results = b_.carryLoop(
      first, end, std::move(carried),
      [&](ValueId i, const std::vector<ValueId>& values) {
        same(params[0], i);
        for (size_t c = 0; c < copies_.size(); ++c)
          for (size_t k = 0; k < each; ++k) copies_[c][params[k + 1]] = values[c * each + k];
        for (size_t k = 0; k + 1 < stmts.size(); ++k) copyForAll(stmts[k]);
        std::vector<ValueId> next;
        for (const Copy& copy : copies_) {
          const std::vector<ValueId> one = operandsIn(copy, fn_.stmts[stmts.back()]);
          next.insert(next.end(), one.begin(), one.end());
        }
        return next;
      },
      s.as<ForAttr>());
  for (size_t c = 0; c < copies_.size(); ++c)
    for (size_t k = 0; k < each; ++k) copies_[c][s.results[k]] = results[c * each + k];
}

std::vector<ValueId> PointGroup::run(const Stmt& loop, ValueId first, std::vector<ValueId> carried) {
  const std::vector<ValueId> params = fn_.regions[loop.regions[0]].params;
  const std::vector<StmtId> stmts = fn_.regions[loop.regions[0]].stmts;
  point_ = params[0];
  for (size_t c = 0; c < copies_.size(); ++c) copies_[c][point_] = pointAt(first, c);
  auto begin = stmts.begin();
  for (auto at = begin; at + 1 != stmts.end(); ++at) {
    if (!isChain(fn_, fn_.stmts[*at])) continue;
    for (Copy& copy : copies_)
      for (auto s = begin; s != at; ++s) copyPoint(copy, *s);
    chainsAtOnce(*at);
    begin = at + 1;
  }
  const std::span rest(begin, stmts.end());
  if (countStatements(rest) > mostCopied) return restInLoop(rest, first, params, std::move(carried));
  for (Copy& copy : copies_) {
    for (size_t k = 0; k < carried.size(); ++k) copy[params[k + 1]] = carried[k];
    for (StmtId s : rest.first(rest.size() - 1)) copyPoint(copy, s);
    carried = operandsIn(copy, fn_.stmts[rest.back()]);
  }
  return carried;
}

ValueId PointGroup::pointAt(ValueId first, size_t c) {
  return c == 0 ? first : b_.arith(OpKind::Add, first, b_.integer(static_cast<int64_t>(c)));
}

size_t PointGroup::countStatements(std::span<const StmtId> stmts) const {
  size_t count = 0;
  for (StmtId id : stmts) {
    count += fn_.stmts[id].kind != StmtKind::Const;
    for (RegionId r : fn_.stmts[id].regions) count += countStatements(fn_.regions[r].stmts);
  }
  return count;
}

/// What these statements use of the points' values that differ: through memory of the frame.
void PointGroup::usedOf(std::span<const StmtId> stmts, std::vector<ValueId>& out) const {
  for (StmtId id : stmts) {
    for (ValueId v : fn_.stmts[id].operands)
      if (v != point_ && copies_[0].contains(v) && !isSame(v) && std::ranges::find(out, v) == out.end())
        out.push_back(v);
    for (RegionId r : fn_.stmts[id].regions) usedOf(fn_.regions[r].stmts, out);
  }
}

/// What follows the chains, point by point.
std::vector<ValueId> PointGroup::restInLoop(std::span<const StmtId> rest, ValueId first,
                                            const std::vector<ValueId>& params,
                                            std::vector<ValueId> carried) {
  std::vector<ValueId> used, kept;
  usedOf(rest, used);
  const ValueId one = b_.integer(1);
  auto access = [&](ValueId v) {
    const ValueType type = fn_.typeOf(v);
    return Access{type, (types::scalarBits(type.scalar) + 7) / 8};
  };
  for (ValueId v : used) {
    kept.push_back(b_.scratch(uint64_t(access(v).elemBytes) * copies_.size()));
    for (size_t c = 0; c < copies_.size(); ++c)
      b_.store(kept.back(), {{b_.integer(static_cast<int64_t>(c)), one}}, access(v), in(copies_[c], v));
  }
  ForAttr attr;
  attr.mark = MarkKind::Points;
  return b_.carryLoop(
      b_.integer(0), b_.integer(static_cast<int64_t>(copies_.size())), std::move(carried),
      [&](ValueId c, const std::vector<ValueId>& values) {
        Copy& copy = copies_[0];
        copy[point_] = b_.arith(OpKind::Add, first, c);
        for (size_t k = 0; k < used.size(); ++k)
          copy[used[k]] = b_.load(kept[k], {{c, one}}, access(used[k]));
        for (size_t k = 0; k < values.size(); ++k) copy[params[k + 1]] = values[k];
        for (StmtId s : rest.first(rest.size() - 1)) copyFor(copy, s);
        return operandsIn(copy, fn_.stmts[rest.back()]);
      },
      attr);
}

} // namespace melix::loops
