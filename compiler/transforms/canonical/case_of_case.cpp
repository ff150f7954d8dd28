#include "transforms/canonical/case_of_case.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/walks/for_each_function.h"
#include "types/leaves.h"

#include <algorithm>
#include <unordered_map>

namespace melix::transforms {

using namespace core;

namespace {

constexpr uint32_t maxCopied = 16; ///< ops of an arm

class BranchDistributor {
public:
  BranchDistributor(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), uses_(m, id) {}

  bool run() {
    std::vector<OpId> matches;
    forEachOp(f_, [&](OpId id) {
      if (f_.ops[id].kind == OpKind::Match) matches.push_back(id);
    });
    for (OpId id : matches)
      if (uses_.regionOf(id).valid()) resolve(id); // not in an arm that went
    if (!after_.empty()) applyInsertions(f_.body);
    return changed_;
  }

private:
  /// A region of a branch gives this number, or a variant of this case.
  struct Made {
    uint64_t number;
    OpId variant;
  };

  void resolve(OpId match) {
    const ValueId chosen = f_.ops[match].operands[0];
    const OpId from = f_.values[chosen].def;
    if (!from.valid() || (f_.ops[from].kind != OpKind::If && f_.ops[from].kind != OpKind::Match)) return;
    if (takesDims(match) || takesDims(from)) return;
    const std::vector<Made> made = madeBy(from, f_.values[chosen].index);
    if (made.empty()) return;
    if (made[0].variant.valid() && (!f_.ops[from].resultDims.empty() || !onlyMatched(chosen))) return;
    auto isFirst = [&](const Made& one) { return one.number == made[0].number; };
    if (std::ranges::all_of(made, isFirst)) return makeAfter(from, chosen, made);
    if (mayCopy(match, made)) choose(match, from, made);
  }

  bool takesDims(OpId op) const {
    const Regions& all = f_.ops[op].regions;
    return std::any_of(all.begin(), all.end(), [&](RegionId r) { return !f_.regions[r].dimParams.empty(); });
  }
  /// The number or variant that each region gives as result `k`; nothing if one of these is not known.
  std::vector<Made> madeBy(OpId from, uint32_t k) const {
    std::vector<Made> made;
    for (RegionId r : f_.ops[from].regions) {
      const OpId def = f_.values[terminator(f_, r).operands[k]].def;
      if (!def.valid()) return {};
      const Op& op = f_.ops[def];
      if (op.kind == OpKind::Variant)
        made.push_back({op.index(), def});
      else if (op.kind == OpKind::Const)
        made.push_back({op.as<Constant>().bits, {}});
      else
        return {};
    }
    return made;
  }
  bool onlyMatched(ValueId v) const {
    bool only = true;
    uses_.forEach(v, [&](Use use) { only = only && f_.ops[use.op].kind == OpKind::Match; });
    return only;
  }

  // --- payloads leave their branches

  /// The payload of the variant made in region `r` of `from`, where it can be used after that.
  std::vector<ValueId> payload(OpId from, RegionId r, OpId made) {
    std::vector<ValueId> out;
    for (ValueId v : f_.ops[made].operands) out.push_back(uses_.homeOf(v) == r ? leaving(from, r, v) : v);
    return out;
  }
  /// A value of one region as a further result.
  ValueId leaving(OpId from, RegionId r, ValueId v) {
    auto [known, isNew] = leaving_.try_emplace(v);
    if (isNew) {
      std::vector<ValueId> yielded;
      for (RegionId each : f_.ops[from].regions) yielded.push_back(each == r ? v : undef(each, f_.typeOf(v)));
      known->second = addLeaves(from, yielded);
    }
    return known->second;
  }
  /// The same for values that the regions yield. A record leaves by its leaves, and is put together after the
  /// branch.
  ValueId addLeaves(OpId from, const std::vector<ValueId>& yielded) {
    const TypeId type = f_.typeOf(yielded[0]);
    if (!canMake(m_, type) || !types::isFlattened(m_.types, type)) return addResult(from, yielded);
    Operands parts;
    for (uint32_t k = 0, n = types::partsOf(m_.types, type); k < n; ++k) {
      std::vector<ValueId> each;
      for (size_t i = 0; i < yielded.size(); ++i)
        each.push_back(part(f_.ops[from].regions[i], yielded[i], k));
      parts.push_back(addLeaves(from, each));
    }
    const RegionId scratch = f_.regions.add(Region{});
    const ValueId v = Builder(m_, id_, scratch, f_.ops[from].loc).make(type, std::move(parts));
    uses_.enter(f_.values[v].def, uses_.regionOf(from));
    after_[from].push_back(f_.values[v].def);
    return v;
  }
  ValueId part(RegionId r, ValueId record, uint32_t k) {
    const OpId def = f_.values[record].def;
    if (def.valid() && f_.ops[def].kind == OpKind::Make) return f_.ops[def].operands[k];
    if (def.valid() && f_.ops[def].kind == OpKind::Undef)
      return undef(r, types::partOf(m_.types, f_.typeOf(record), k));
    return beforeEnd(r, [&](Builder& b) { return b.field(record, k); });
  }
  template <class MakeValue>
  ValueId beforeEnd(RegionId r, MakeValue makeValue) {
    std::vector<OpId>& ops = f_.regions[r].ops;
    const OpId end = ops.back();
    ops.pop_back();
    Builder b(m_, id_, r, f_.ops[end].loc);
    const ValueId v = makeValue(b);
    uses_.enter(f_.values[v].def, r);
    ops.push_back(end);
    return v;
  }
  ValueId undef(RegionId r, TypeId type) {
    return beforeEnd(r, [&](Builder& b) { return b.undef(type); });
  }
  /// By region what it yields for it.
  ValueId addResult(OpId op, const std::vector<ValueId>& yielded) {
    Op& own = f_.ops[op];
    for (size_t k = 0; k < yielded.size(); ++k)
      uses_.change(terminatorId(f_, own.regions[k]), [&](Op& end) { end.operands.push_back(yielded[k]); });
    const auto index = static_cast<uint32_t>(own.results.size());
    const ValueId result = f_.values.add(Value{f_.typeOf(yielded[0]), op, {}, index, {}});
    own.results.push_back(result);
    return result;
  }

  // --- one case

  /// All regions make the same case, or number: it is made of what they yield, after them.
  void makeAfter(OpId from, ValueId chosen, const std::vector<Made>& made) {
    const OpId first = made[0].variant;
    Operands parts;
    for (size_t j = 0; first.valid() && j < f_.ops[first].operands.size(); ++j) {
      std::vector<ValueId> yielded;
      for (const Made& one : made) yielded.push_back(f_.ops[one.variant].operands[j]);
      parts.push_back(addLeaves(from, yielded));
    }
    Builder b(m_, id_, f_.regions.add(Region{}), f_.ops[first.valid() ? first : from].loc);
    const TypeId type = f_.typeOf(chosen);
    const ValueId same = first.valid() ? b.variant(type, f_.ops[first].index(), std::move(parts))
                                       : b.constant(type, made[0].number);
    uses_.enter(f_.values[same].def, uses_.regionOf(from));
    after_[from].push_back(f_.values[same].def);
    uses_.replace(chosen, same);
    changed_ = true;
  }
  void applyInsertions(RegionId r) {
    std::vector<OpId> out;
    for (OpId id : f_.regions[r].ops) {
      for (RegionId inner : f_.ops[id].regions) applyInsertions(inner);
      out.push_back(id);
      if (auto it = after_.find(id); it != after_.end())
        out.insert(out.end(), it->second.begin(), it->second.end());
    }
    f_.regions[r].ops = std::move(out);
  }

  // --- several cases

  /// The regions of a branch by the number of its operand.
  std::vector<uint32_t> regionsOf(OpId branch) const {
    const Op& op = f_.ops[branch];
    return op.kind == OpKind::Match ? op.as<MatchAttr>().regionOf : std::vector<uint32_t>{1, 0};
  }
  RegionId armOf(OpId match, const Made& one) const {
    const Op& op = f_.ops[match];
    return op.regions[op.as<MatchAttr>().of(one.number)];
  }
  /// Whether several regions may have this arm: it takes nothing of them.
  bool isShared(RegionId arm) const { return f_.regions[arm].params.empty(); }
  /// Other arms that several regions choose are copied, and are short.
  bool mayCopy(OpId match, const std::vector<Made>& made) const {
    std::vector<RegionId> seen;
    return std::ranges::all_of(made, [&](const Made& one) {
      const RegionId arm = armOf(match, one);
      const bool isFirst = std::ranges::find(seen, arm) == seen.end();
      seen.push_back(arm);
      uint32_t ops = 0;
      if (!isFirst && !isShared(arm)) forEachOp(f_, arm, [&](OpId) { ++ops; });
      return ops <= maxCopied;
    });
  }
  /// The match branches as `from` did.
  void choose(OpId match, OpId from, const std::vector<Made>& made) {
    const Regions regions = f_.ops[from].regions, before = f_.ops[match].regions;
    Builder b(m_, id_, uses_.regionOf(match), f_.ops[match].loc);
    Regions arms;
    std::vector<uint32_t> armOfRegion; // of `from`
    // Copies first: what they are made of changes with its parameters.
    for (const Made& one : made) {
      RegionId arm = armOf(match, one);
      const bool isNew = std::ranges::find(arms, arm) == arms.end();
      if (!isNew && !isShared(arm)) arm = copy(match, arm, b);
      const auto at = std::ranges::find(arms, arm);
      armOfRegion.push_back(static_cast<uint32_t>(at - arms.begin()));
      if (at == arms.end()) arms.push_back(arm);
    }
    for (size_t k = 0; k < made.size(); ++k) {
      const std::vector<ValueId> params = std::exchange(f_.regions[arms[armOfRegion[k]]].params, {});
      if (params.empty()) continue;
      const std::vector<ValueId> parts = payload(from, regions[k], made[k].variant);
      for (size_t j = 0; j < params.size(); ++j) uses_.replace(params[j], parts[j]);
    }
    for (RegionId r : before) {
      if (std::ranges::find(arms, r) != arms.end()) continue;
      noteGone(f_, id_, r, GoneKind::NeverRuns);
      for (OpId op : f_.regions[r].ops) uses_.leave(op);
    }
    MatchAttr attr;
    for (uint32_t r : regionsOf(from)) attr.regionOf.push_back(armOfRegion[r]);
    uses_.change(match, [&](Op& op) {
      op.operands = {f_.ops[from].operands[0]};
      op.regions = arms;
      op.attr = std::move(attr);
    });
    changed_ = true;
  }
  RegionId copy(OpId match, RegionId arm, Builder& b) {
    const RegionId made = Cloner(m_, id_, id_).region(arm, b);
    f_.regions[made].parent = match;
    for (OpId op : f_.regions[made].ops) uses_.enter(op, made);
    return made;
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
  std::unordered_map<ValueId, ValueId> leaving_; ///< by value of a branch: the result that it is
  std::unordered_map<OpId, std::vector<OpId>> after_;
  bool changed_ = false;
};

} // namespace

bool caseOfCase(Module& m) {
  return changeBodies(m, [&](FunctionId f) { return BranchDistributor(m, f).run(); });
}

} // namespace melix::transforms
