#include "transforms/simplify/folder.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/flow.h"
#include "core/ir/walk.h"
#include "transforms/simplify/canonical_branches.h"

#include <algorithm>
#include <array>

namespace melix::transforms {

bool Folder::takeRegion(const Op& op, RegionId r, Passed& out) {
  const OpId end = open(r, out);
  for (size_t k = 0; k < op.results.size(); ++k) replace(op, k, f_.ops[end].operands[k]);
  for (size_t k = 0; k < op.resultDims.size(); ++k) replaceDim(op.resultDims[k], f_.ops[end].dims[k]);
  return true;
}

bool Folder::chooseArm(const Op& op, Passed& out) {
  std::optional<uint64_t> c = constantOf(op.operands[0]);
  return c && takeArm(op, op.regions[*c ? 0 : 1], out);
}

bool Folder::takeArm(const Op& op, RegionId taken, Passed& out) {
  for (RegionId r : op.regions)
    if (r != taken) noteGone(f_, id_, r, GoneKind::NeverRuns);
  return takeRegion(op, taken, out);
}

void Folder::connect(OpId id, Passed& out) {
  const std::optional<Connective> found = connectiveOf(m_, f_, f_.ops[id]);
  if (!found) return;
  const ValueId other = f_.ops[open(f_.ops[id].regions[found->condition], out)].operands[0];
  const ValueId first = f_.ops[id].operands[0];
  uses_.leave(id); // with what stood in its regions
  Op& op = f_.ops[id];
  op.kind = found->kind;
  op.operands = {first, other};
  op.regions.clear();
  uses_.enter(id, out.region);
  changed_ = true;
}

void Folder::canonicalChoice(OpId id, Passed& out) {
  if (f_.ops[id].kind == OpKind::If) joinNested(id, out);
  if (becomesExtremum(id, out)) return;
  if (!belongsLast(f_, f_.ops[id]) || !negation_.isConjunction(f_.ops[id].operands[0])) return;
  make(id, out, [&](Builder& b) {
    const ValueId other = negation_.emit(b, f_.ops[id].operands[0]);
    uses_.change(id, [&](Op& own) {
      own.operands[0] = other;
      if (own.kind == OpKind::If)
        std::swap(own.regions[0], own.regions[1]);
      else
        std::swap(own.operands[1], own.operands[2]);
    });
  });
}

bool Folder::becomesExtremum(OpId id, Passed& out) {
  const std::optional<Extremum> found = extremumOf(m_, f_, f_.ops[id], ranges_);
  if (!found) return false;
  Op& op = f_.ops[id];
  uses_.change(id, [&](Op& own) { // the sides as operands follow what their ops become
    own.operands.push_back(found->a);
    own.operands.push_back(found->b);
  });
  for (RegionId arm : Regions(op.regions)) open(arm, out);
  Operands sides = {op.operands.end()[-2], op.operands.end()[-1]};
  uses_.leave(id);
  op.kind = found->kind;
  op.operands = std::move(sides);
  op.regions.clear();
  uses_.enter(id, out.region);
  return changed_ = true;
}

void Folder::joinNested(OpId id, Passed& out) {
  const std::optional<OpId> inner = nestedBranch(m_, f_, f_.ops[id]);
  if (!inner) return;
  const RegionId arm = f_.ops[id].regions[0], taken = f_.ops[*inner].regions[0];
  std::vector<OpId>& ops = f_.regions[arm].ops;
  std::vector<OpId> before(ops.begin(), ops.end() - 2);
  ops.erase(ops.begin(), ops.end() - 2);
  for (OpId each : before) uses_.move(each, out.region);
  splice(before, out);
  const ValueId first = f_.ops[id].operands[0], second = f_.ops[*inner].operands[0];
  uses_.leave(id);
  make(id, out, [&](Builder& b) {
    Op& op = f_.ops[id];
    op.operands[0] = b.binary(OpKind::And, first, second);
    op.regions[0] = taken;
    f_.regions[taken].parent = id;
    uses_.enter(id, out.region);
  });
}

bool Folder::chooseCase(const Op& op, Passed& out) {
  const auto& attr = op.as<MatchAttr>();
  const bool isSame = std::ranges::all_of(attr.regionOf, [&](uint32_t r) { return r == attr.regionOf[0]; });
  const Op* made = defOf(op.operands[0], OpKind::Variant);
  std::optional<uint64_t> number = constantOf(op.operands[0]);
  if (made) number = made->index();
  if (!number && isSame && f_.regions[op.regions[attr.regionOf[0]]].params.empty()) number = 0;
  if (!number) return false;
  const RegionId r = op.regions[attr.of(*number)];
  const std::vector<ValueId>& params = f_.regions[r].params;
  for (size_t k = 0; k < params.size(); ++k) uses_.replace(params[k], made->operands[k]);
  return takeArm(op, r, out);
}

bool Folder::testRegion(OpId id, Passed& out) {
  const std::optional<RegionTest> test = regionTestOf(m_, f_, f_.ops[id]);
  if (!test) return false;
  const Regions regions = f_.ops[id].regions;
  std::vector<uint32_t> others = f_.ops[id].as<MatchAttr>().regionOf;
  std::ranges::sort(others);
  others.erase(std::ranges::unique(others).begin(), others.end());
  std::erase(others, test->region);
  if (others.size() > 1 && !f_.ops[id].resultDims.empty()) return false;
  for (uint32_t r = 0; r < regions.size(); ++r) {
    if (r == test->region || std::ranges::binary_search(others, r)) continue;
    noteGone(f_, id_, regions[r], GoneKind::NeverRuns);
    for (OpId each : f_.regions[regions[r]].ops) uses_.leave(each);
  }
  const RegionId no = others.size() == 1 ? regions[others[0]] : matchOfOthers(id, others);
  make(id, out, [&](Builder& b) {
    const ValueId matched = f_.ops[id].operands[0];
    ValueId condition;
    for (uint64_t number : test->numbers) {
      const ValueId is = b.compare(test->how, matched, b.constant(f_.typeOf(matched), number));
      condition = condition.valid() ? b.binary(OpKind::Or, condition, is) : is;
    }
    uses_.change(id, [&](Op& own) {
      own.kind = OpKind::If;
      own.operands = {condition};
      own.regions = {regions[test->region], no};
      own.attr = {};
    });
  });
  return true;
}

RegionId Folder::matchOfOthers(OpId id, std::span<const uint32_t> others) {
  const RegionId made = f_.regions.add(Region{});
  f_.regions[made].parent = id;
  const Op& op = f_.ops[id];
  Op inner = Builder::simple(OpKind::Match, op.operands, MatchAttr{});
  for (uint32_t r : op.as<MatchAttr>().regionOf) {
    auto at = std::ranges::find(others, r);
    if (at == others.end()) at = std::ranges::find(others, op.as<MatchAttr>().regionOf.back());
    inner.as<MatchAttr>().regionOf.push_back(static_cast<uint32_t>(at - others.begin()));
  }
  for (uint32_t r : others) inner.regions.push_back(op.regions[r]);
  std::vector<TypeId> types;
  for (ValueId v : op.results) types.push_back(f_.typeOf(v));
  Builder b(m_, id_, made, op.loc);
  const OpId match = b.append(std::move(inner), types);
  for (RegionId r : f_.ops[match].regions) f_.regions[r].parent = match;
  b.yield(Operands(f_.ops[match].results.begin(), f_.ops[match].results.end()));
  for (OpId each : f_.regions[made].ops) uses_.enter(each, made);
  return made;
}

bool Folder::onePoint(const Op& op, Passed& out) {
  if (!op.dims.empty()) return false;
  for (const NestResult& r : nestResults(op))
    if (r.kind != NestResultKind::Collect) return false;
  for (ValueId v : op.operands)
    if (types_.kind(f_.typeOf(v)) != TypeKind::Acc) return false;
  const std::vector<ValueId>& accs = f_.regions[op.regions[0]].params;
  for (size_t k = 0; k < accs.size(); ++k) uses_.replace(accs[k], op.operands[k]);
  return takeRegion(op, op.regions[0], out);
}

bool Folder::foldLoop(OpId id, Passed& out) {
  const Op& op = f_.ops[id];
  const LoopView loop(f_, op);
  const std::optional<uint64_t> count = constantOf(loop.count());
  if (!count || loop.stacks() > 0 || !loop.bodyDims().empty()) return false;
  const auto tripCount = static_cast<int64_t>(*count);
  if (tripCount > 1) return false;
  if (tripCount < 1) {
    for (uint32_t k = 0; k < loop.carries(); ++k) replace(op, k, loop.carryOperands()[k]);
    noteGone(f_, id_, loop.body(), GoneKind::NeverRuns);
    return true;
  }
  make(id, out, [&](Builder& b) { uses_.replace(loop.index(), b.integer(0)); });
  for (uint32_t k = 0; k < loop.carries(); ++k) uses_.replace(loop.carryParams()[k], loop.carryOperands()[k]);
  return takeRegion(op, loop.body(), out);
}

void Folder::sameInBothArms(const Op& op) {
  for (size_t k = 0; k < op.results.size(); ++k) {
    const std::optional<ValueId> v = sameInBothArms(op, k);
    if (!v || !uses_.used(op.results[k]) || f_.typeOf(*v) != f_.typeOf(op.results[k])) continue;
    replace(op, k, *v);
    changed_ = true;
  }
}

/// The value that both arms yield. An arm that yields `undef` agrees with any value from outside.
std::optional<ValueId> Folder::sameInBothArms(const Op& op, size_t result) const {
  const std::array<ValueId, 2> arms = {terminator(f_, op.regions[0]).operands[result],
                                       terminator(f_, op.regions[1]).operands[result]};
  if (arms[0] == arms[1]) return arms[0];
  for (size_t k : {0, 1})
    if (defOf(arms[1 - k], OpKind::Undef) && uses_.homeOf(arms[k]) != op.regions[k]) return arms[k];
  return std::nullopt;
}

std::optional<RegionId> Folder::armOfZeroFactor(const Op& op) const {
  const Op* cmp = defOf(op.operands[0], OpKind::Cmp);
  if (!cmp || !isConstant(cmp->operands[1], 0)) return std::nullopt;
  const auto how = static_cast<ops::CmpKind>(cmp->index());
  if (how != ops::CmpKind::Eq && how != ops::CmpKind::Ne) return std::nullopt;
  const size_t product = how == ops::CmpKind::Eq ? 1 : 0;
  const ValueId x = cmp->operands[0];
  auto isProduct = [&](OpId id) {
    const OpKind kind = f_.ops[id].kind;
    return kind == OpKind::Const || kind == OpKind::DimValue || kind == OpKind::Mul || kind == OpKind::Yield;
  };
  auto isFactor = [&](ValueId v) {
    const Op* mul = defOf(v, OpKind::Mul);
    return v == x || (mul && std::ranges::find(mul->operands, x) != mul->operands.end());
  };
  const Op &zero = terminator(f_, op.regions[1 - product]), &other = terminator(f_, op.regions[product]);
  const bool is = op.resultDims.empty() && !op.results.empty() &&
                  std::ranges::all_of(zero.operands, [&](ValueId v) { return isConstant(v, 0); }) &&
                  std::ranges::all_of(other.operands, isFactor) &&
                  std::ranges::all_of(f_.regions[op.regions[0]].ops, isProduct) &&
                  std::ranges::all_of(f_.regions[op.regions[1]].ops, isProduct);
  return is ? std::optional(op.regions[product]) : std::nullopt;
}

void Folder::unchangedCarries(const Op& op) {
  const LoopView loop(f_, op);
  for (uint32_t k = 0; k < loop.carries(); ++k) {
    const ValueId before = loop.carryOperands()[k], yielded = loop.carryYields()[k];
    const ValueId param = loop.carryParams()[k], result = loop.carryResults()[k];
    const bool same = f_.typeOf(param) == f_.typeOf(before) && f_.typeOf(result) == f_.typeOf(before) &&
                      types_.kind(f_.typeOf(before)) != TypeKind::Acc;
    if (!same || (yielded != param && yielded != before)) continue;
    auto by = [&](ValueId v) {
      changed_ |= uses_.used(v);
      uses_.replace(v, before);
    };
    by(result);
    by(param);
    if (!loop.isCounted()) by(loop.carryParams(loop.condition())[k]);
  }
}

} // namespace melix::transforms
