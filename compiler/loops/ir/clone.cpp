#include "loops/ir/clone.h"

#include <algorithm>

namespace melix::loops {

ValueId Copies::of(ValueId v) const {
  auto found = map_.find(v);
  if (found != map_.end()) return found->second;
  return around_ ? around_->of(v) : v;
}

std::vector<ValueId> Copies::of(const std::vector<ValueId>& vs) const {
  std::vector<ValueId> out;
  for (ValueId v : vs) out.push_back(of(v));
  return out;
}

namespace {

std::vector<ValueType> typesOf(const Function& fn, const std::vector<ValueId>& vs) {
  std::vector<ValueType> types;
  for (ValueId v : vs) types.push_back(fn.typeOf(v));
  return types;
}

void name(Function& fn, const std::vector<ValueId>& copies, const std::vector<ValueId>& originals,
          Copies& all) {
  for (size_t k = 0; k < originals.size(); ++k) {
    all.set(originals[k], copies[k]);
    fn.values[copies[k]].hint = fn.values[originals[k]].hint;
  }
}

RegionId cloneRegion(Builder& b, RegionId region, Copies& copies) {
  const Region original = b.fn.regions[region]; // regions are made on the way
  const RegionId made = b.begin(typesOf(b.fn, original.params));
  name(b.fn, b.params(made), original.params, copies);
  for (size_t k = 0; k + 1 < original.stmts.size(); ++k) clone(b, original.stmts[k], copies);
  return b.end(copies.of(b.fn.stmts[original.stmts.back()].operands));
}

} // namespace

void clone(Builder& b, StmtId id, Copies& copies) {
  const Stmt s = b.fn.stmts[id];
  std::vector<RegionId> regions;
  for (RegionId r : s.regions) regions.push_back(cloneRegion(b, r, copies));
  b.loc = s.loc;
  const StmtId made =
      b.stmt(s.kind, copies.of(s.operands), typesOf(b.fn, s.results), s.attr, std::move(regions));
  name(b.fn, std::vector(b.results(made)), s.results, copies);
}

FixedNumbers::FixedNumbers(const Function& fn, RegionId region)
    : FixedNumbers(fn, [&fn, inside = regionsWithin(fn, region)](ValueId v) {
        return inside.contains(fn.values[v].region);
      }) {}

bool FixedNumbers::holds(ValueId v) const {
  if (!isInside_(v)) return true;
  const StmtId def = fn_.values[v].def;
  if (!def.valid()) return false;
  const Stmt& s = fn_.stmts[def];
  if (s.kind != StmtKind::Const && s.kind != StmtKind::Scalar) return false;
  return std::ranges::all_of(s.operands, [this](ValueId operand) { return holds(operand); });
}

ValueId FixedNumbers::write(Builder& b, ValueId v, Copies& copies) const {
  if (!isInside_(v) || copies.of(v) != v) return copies.of(v);
  const StmtId def = fn_.values[v].def;
  const std::vector<ValueId> operands = fn_.stmts[def].operands;
  for (ValueId operand : operands) write(b, operand, copies);
  clone(b, def, copies);
  return copies.of(v);
}

void splice(Function& fn, RegionId made, RegionId to, size_t place) {
  std::vector<StmtId> stmts = fn.regions[made].stmts;
  stmts.pop_back(); // the yield
  for (StmtId id : stmts)
    for (ValueId v : fn.stmts[id].results) fn.values[v].region = to;
  std::vector<StmtId>& all = fn.regions[to].stmts;
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(place), stmts.begin(), stmts.end());
}

void replaceStmt(Function& fn, RegionId made, RegionId home, StmtId s) {
  const size_t place = placeOf(fn, home, s);
  std::erase(fn.regions[home].stmts, s);
  splice(fn, made, home, place);
}

void replaceUses(Function& fn, RegionId region, ValueId v, ValueId by) {
  for (StmtId id : fn.regions[region].stmts) {
    std::ranges::replace(fn.stmts[id].operands, v, by);
    for (RegionId r : fn.stmts[id].regions) replaceUses(fn, r, v, by);
  }
}

} // namespace melix::loops
