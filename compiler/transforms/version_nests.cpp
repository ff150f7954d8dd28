#include "transforms/version_nests.h"

#include "core/clone.h"
#include "core/nest.h"
#include "core/ranges.h"
#include "core/sizes.h"
#include "core/walk.h"
#include "transforms/each_body.h"
#include "transforms/inside_out.h"
#include "transforms/sum_at_points.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

namespace melix::transforms {

using namespace core;
using ops::CmpKind;

namespace {

constexpr int deepest = 8;     ///< ops that make an index
constexpr size_t most = 16;    ///< that a nest needs
constexpr size_t longest = 64; ///< ops of a region that go together

/// Operand `operand` of an op in a nest, made of some axes of the nest: to be an index of an axis, or
/// positive where it divides.
struct Need {
  OpId op;
  uint32_t operand;
  std::optional<DimId> extent;
  OpId nest;
  std::set<uint32_t> axes;
  std::vector<ValueId> from; ///< what it is made of in front of the nest
  bool isSum = true;         ///< of axes and of what does not change
};
/// What others are divided by comes before these.
using Needs = std::vector<Need>;

/// What stands in a nest and what its indices are made of.
class Candidate {
public:
  Candidate(Module& m, FunctionId f, OpId nest, const Effects& effects, Ranges& ranges)
      : m_(m), f_(f), nest_(nest), effects_(effects), ranges_(ranges) {
    forEachOp(fn(), body(), [&](OpId id) {
      inside_.insert(id);
      sizes_.insert(fn().ops[id].resultDims.begin(), fn().ops[id].resultDims.end());
      for (RegionId r : fn().ops[id].regions)
        sizes_.insert(fn().regions[r].dimParams.begin(), fn().regions[r].dimParams.end());
    });
  }

  /// None if there is nothing to ask, or asking would not help.
  std::optional<Needs> needs() {
    if (!fn().ops[nest_].resultDims.empty()) return std::nullopt; // a size is told once
    Needs out;
    const Ranges::Mark mark = ranges_.enter(body());
    const bool helps = isSum(nest_) && look(body(), false, out);
    ranges_.leave(mark);
    return helps && std::ranges::any_of(out, [](const Need& need) { return need.extent.has_value(); })
               ? std::optional(std::move(out))
               : std::nullopt;
  }

private:
  const Function& fn() const { return m_.functions[f_]; }
  RegionId body() const { return fn().ops[nest_].regions[0]; }

  /// Whether the nest, or one in it, adds numbers.
  bool isSum(OpId nest) const {
    auto adds = [this](OpId id) {
      const Op& op = fn().ops[id];
      return op.kind == OpKind::Nest && std::ranges::any_of(nestResults(op), [](const NestResult& r) {
               return r.kind == NestResultKind::Reduce && r.monoid == MonoidKind::Sum;
             });
    };
    return adds(nest) || std::ranges::any_of(inside_, adds);
  }

  /// Whether all that a branch keeps from running anyway are reads that may be out of range.
  bool look(RegionId region, bool isInBranch, Needs& out) {
    for (OpId id : fn().regions[region].ops) {
      const Op& op = fn().ops[id];
      if (isInBranch && !lookAt(id, out)) return false;
      const bool branches = op.kind == OpKind::If;
      if (!branches && op.kind != OpKind::Nest) continue;
      if (branches) noteAsked(op.operands[0], deepest);
      for (RegionId inner : Regions(op.regions))
        if (!look(inner, isInBranch || branches, out)) return false;
    }
    return true;
  }
  bool lookAt(OpId id, Needs& out) {
    const Op& op = fn().ops[id];
    if (op.kind == OpKind::Check) return lookAtCheck(id, out);
    if (op.kind == OpKind::Nest || op.kind == OpKind::If) return true;
    if (op.kind == OpKind::Get && op.operands.size() > 1) return lookAtRead(id, out);
    return op.regions.empty() && !effects_.ofOp(fn(), id).any();
  }
  bool lookAtCheck(OpId id, Needs& out) {
    const Op check = fn().ops[id];
    if (ranges_.isProved(check)) return true;
    switch (check.as<CheckAttr>().kind) {
    case CheckKind::Index: return add({id, 0, check.dims[0], nest_, {}, {}, true}, out);
    case CheckKind::Divisor: return add({id, 0, {}, nest_, {}, {}, true}, out);
    case CheckKind::DivideOverflow: return add({id, 1, {}, nest_, {}, {}, true}, out);
    default: return false;
    }
  }
  bool lookAtRead(OpId id, Needs& out) {
    const Op get = fn().ops[id];
    if (!isOutside(get.operands[0])) return true;
    const Path path = get.as<Path>();
    const types::Type array = m_.types[fn().typeOf(get.operands[0])];
    std::set<uint32_t> axes;
    for (size_t k = 1; k < get.operands.size(); ++k) addAxes(get.operands[k], axes, deepest);
    const bool isOfAll = axes.size() >= fn().ops[nest_].dims.size(); // a gather, of which no tile is made
    if (array.kind != TypeKind::Array || path.size() > array.dims.size()) return false;
    uint32_t operand = 1;
    for (size_t k = 0; k < path.size(); ++k) {
      if (path[k].kind == StepKind::All) continue;
      if (path[k].kind != StepKind::Index) return false;
      const ValueId index = get.operands[operand];
      if (!ranges_.isIndex(index, array.dims[k]) &&
          (isOfAll || !add({id, operand, array.dims[k], nest_, {}, {}, true}, out)))
        return false;
      ++operand;
    }
    return true;
  }
  void noteAsked(ValueId v, int depth) {
    const OpId def = fn().values[v].def;
    if (depth == 0 || !inside_.contains(def) || !fn().ops[def].regions.empty()) return;
    asked_.insert(def);
    for (ValueId each : fn().ops[def].operands) noteAsked(each, depth - 1);
  }

  /// The axes of the nest that a number is made of.
  void addAxes(ValueId v, std::set<uint32_t>& axes, int depth) const {
    const Value& value = fn().values[v];
    if (!value.def.valid() && value.region == body() && value.index < fn().ops[nest_].dims.size())
      axes.insert(value.index);
    if (depth == 0 || !inside_.contains(value.def)) return;
    for (ValueId each : fn().ops[value.def].operands) addAxes(each, axes, depth - 1);
  }
  bool areInFront(const std::vector<DimSym>& sizes) const {
    return std::ranges::none_of(sizes, [this](DimSym s) { return sizes_.contains(s); });
  }
  bool isInFront(std::optional<DimId> extent) const {
    std::vector<DimSym> sizes;
    if (extent) m_.types.dims.collectSymbols(*extent, sizes);
    return areInFront(sizes);
  }

  /// Numbers that some of the axes alone tell.
  bool add(Need need, Needs& out) {
    const ValueId v = fn().ops[need.op].operands[need.operand];
    if (fn().typeOf(v) != m_.types.int64() || !isInFront(need.extent) || !find(v, need, deepest, out) ||
        (need.extent && need.isSum && !need.axes.empty()) ||
        need.axes.size() >= fn().ops[nest_].dims.size() || out.size() == most)
      return false;
    out.push_back(std::move(need));
    return true;
  }

  /// Whether a value stands in front of the nest.
  bool isOutside(ValueId v) const {
    const Value& value = fn().values[v];
    if (value.def.valid()) return !inside_.contains(value.def);
    return value.region != body() && !inside_.contains(fn().regions[value.region].parent);
  }
  /// What a number is made of, without an effect and for all points of these axes.
  bool find(ValueId v, Need& need, int depth, Needs& out) {
    if (isOutside(v)) return need.from.push_back(v), true;
    const Value& value = fn().values[v];
    if (!value.def.valid()) {
      if (value.region != body() || value.index >= fn().ops[nest_].dims.size()) return false;
      need.axes.insert(value.index);
      return true;
    }
    const Op op = fn().ops[value.def];
    need.isSum = need.isSum && (op.kind == OpKind::Add || op.kind == OpKind::Sub || op.kind == OpKind::Const);
    if (depth == 0 || asked_.contains(value.def) || !op.regions.empty() || op.kind == OpKind::Call ||
        effects_.ofOp(fn(), value.def).any() || !m_.types.isScalar(fn().typeOf(v)) ||
        !areInFront(sizesOf(m_, fn(), op)))
      return false;
    if (op.kind == OpKind::Get && !(isOutside(op.operands[0]) && readsInRange(m_, fn(), ranges_, op)))
      return false;
    const bool divides = op.kind == OpKind::IDiv || op.kind == OpKind::IRem;
    if (divides && !ranges_.isAtLeast(op.operands[1], 1) &&
        !add({value.def, 1, {}, nest_, {}, {}, true}, out))
      return false;
    return std::ranges::all_of(op.operands, [&](ValueId each) { return find(each, need, depth - 1, out); });
  }

  Module& m_;
  const FunctionId f_;
  const OpId nest_;
  const Effects& effects_;
  Ranges& ranges_;
  std::unordered_set<OpId> inside_, asked_; ///< the latter make conditions of branches
  std::unordered_set<DimSym> sizes_;        ///< that are told inside
};

class Versioner {
public:
  Versioner(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), ranges_(m, m.functions[f]) {}

  bool changed = false;

  /// The list of a region stays whole until its end, for what is known of ranges.
  void run(RegionId region) {
    const Ranges::Mark mark = ranges_.enter(region);
    std::vector<std::optional<Needs>> needs;
    const std::vector<OpId> ops = fn().regions[region].ops;
    for (OpId id : ops) {
      needs.emplace_back();
      if (fn().ops[id].kind == OpKind::Nest)
        needs.back() = Candidate(m_, f_, id, effects_, ranges_).needs();
      else
        for (RegionId inner : Regions(fn().ops[id].regions)) run(inner);
      ranges_.define(fn().ops[id]);
    }
    ranges_.leave(mark);
    if (std::ranges::any_of(needs, [](const auto& each) { return each.has_value(); })) rewrite(region, needs);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  void rewrite(RegionId region, const std::vector<std::optional<Needs>>& needs) {
    const std::vector<OpId> ops = std::move(fn().regions[region].ops);
    fn().regions[region].ops.clear();
    for (size_t k = 0; k < ops.size();) {
      if (!needs[k]) {
        fn().regions[region].ops.push_back(ops[k++]);
        continue;
      }
      const size_t end = endOf(ops, needs, k);
      const std::span together = std::span(ops).subspan(k, end - k);
      Needs all;
      for (size_t i = k; i < end; ++i)
        if (needs[i]) all.insert(all.end(), needs[i]->begin(), needs[i]->end());
      version(region, together, all);
      k = end;
    }
    changed = true;
  }

  /// Behind the last nest that goes with the first: one that needs something too, or reads what these make.
  size_t endOf(const std::vector<OpId>& ops, const std::vector<std::optional<Needs>>& needs,
               size_t first) const {
    std::unordered_set<ValueId> made, ofThese;
    size_t end = first + 1;
    for (size_t k = first; k < std::min(ops.size(), first + longest); ++k) {
      const Op& op = fn().ops[ops[k]];
      if (op.kind == OpKind::Yield || !op.resultDims.empty() ||
          (!op.regions.empty() && op.kind != OpKind::Nest) || op.kind == OpKind::Call ||
          effects_.ofOp(fn(), ops[k]).io || (needs[k] && !isInFront(*needs[k], made)))
        break;
      made.insert(op.results.begin(), op.results.end());
      if (!needs[k] && !readsOf(ops[k], ofThese)) continue;
      ofThese.insert(op.results.begin(), op.results.end());
      if (op.kind == OpKind::Nest) end = k + 1;
    }
    return end;
  }
  bool readsOf(OpId op, const std::unordered_set<ValueId>& made) const {
    bool reads = false;
    auto look = [&](OpId id) {
      reads =
          reads || std::ranges::any_of(fn().ops[id].operands, [&](ValueId v) { return made.contains(v); });
    };
    look(op);
    for (RegionId inner : fn().ops[op].regions) forEachOp(fn(), inner, look);
    return reads;
  }
  /// Whether none of the ops that go together makes what is to be asked of.
  static bool isInFront(const Needs& needs, const std::unordered_set<ValueId>& made) {
    auto isMade = [&](ValueId v) { return made.contains(v); };
    return std::ranges::none_of(needs,
                                [&](const Need& need) { return std::ranges::any_of(need.from, isMade); });
  }

  void version(RegionId region, std::span<const OpId> ops, const Needs& needs) {
    Builder b(m_, f_, region, fn().ops[ops[0]].loc);
    const ValueId holds = allHold(b, needs);
    Builder yes = b.in(b.newRegion()), no = b.in(b.newRegion());
    Cloner within(m_, f_, f_), asIs(m_, f_, f_);
    within.instead = [&](OpId id, Builder& at) { return copyWithin(id, needs, within, at); };
    Operands results, ofYes, ofNo;
    std::vector<TypeId> types;
    for (OpId id : ops) {
      if (!within.instead(id, yes)) within.op(id, yes);
      asIs.op(id, no);
      for (ValueId v : fn().ops[id].results) {
        results.push_back(v);
        types.push_back(fn().typeOf(v));
        ofYes.push_back(within.value(v));
        ofNo.push_back(asIs.value(v));
      }
    }
    yes.yield(std::move(ofYes));
    no.yield(std::move(ofNo));
    Op branch = Builder::simple(OpKind::If, {holds});
    branch.regions = {yes.region, no.region};
    takeOver(fn(), b.append(std::move(branch), types), results);
  }
  ValueId valueOf(const Need& need) const { return fn().ops[need.op].operands[need.operand]; }

  /// A copy of an op of which something is needed, of operands that are so for sure; whether it is one.
  bool copyWithin(OpId id, const Needs& needs, Cloner& copy, Builder& at) const {
    std::vector<std::pair<uint32_t, ValueId>> operands;
    for (const Need& need : needs)
      if (need.op == id) operands.emplace_back(need.operand, held(copy.value(valueOf(need)), need, at));
    if (operands.empty()) return false;
    Op& made = fn().ops[copy.op(id, at)];
    for (auto [operand, by] : operands) made.operands[operand] = by;
    return true;
  }
  ValueId held(ValueId v, const Need& need, Builder& b) const {
    if (!need.extent) return b.binary(OpKind::Max, v, b.integer(1));
    types::DimStore& dims = m_.types.dims;
    const ValueId last = b.dimValue(dims.sub(*need.extent, dims.constant(1)));
    return b.binary(OpKind::Max, b.binary(OpKind::Min, v, last), b.integer(0));
  }

  // --- the question

  static void require(Builder& b, ValueId& all, ValueId more) {
    all = all.valid() ? b.binary(OpKind::And, all, more) : more;
  }
  /// Whether all is as needed, where the extents have an index at all.
  ValueId allHold(Builder& b, const Needs& needs) const {
    ValueId some;
    std::set<DimId> extents;
    for (const Need& need : needs)
      if (need.extent && !m_.types.dims.atLeast(*need.extent, 1) && extents.insert(*need.extent).second)
        require(b, some, b.compare(CmpKind::Ge, b.dimValue(*need.extent), b.integer(1)));
    return some.valid() ? andThen(b, some, needs) : hold(b, needs);
  }
  ValueId andThen(Builder& b, ValueId first, std::span<const Need> needs) const {
    if (needs.empty()) return first;
    Builder yes = b.in(b.newRegion()), no = b.in(b.newRegion());
    yes.yield({hold(yes, needs)});
    no.yield({no.boolean(false)});
    Op branch = Builder::simple(OpKind::If, {first});
    branch.regions = {yes.region, no.region};
    return b.one(std::move(branch), m_.types.boolean());
  }
  /// What something is divided by is asked before that is.
  ValueId hold(Builder& b, std::span<const Need> needs) const {
    ValueId all;
    for (size_t k = 0; k < needs.size(); ++k) {
      auto isSame = [&](const Need& other) {
        return valueOf(other) == valueOf(needs[k]) && other.extent == needs[k].extent;
      };
      if (std::ranges::any_of(needs.first(k), isSame)) continue; // of a check, and of the read behind it
      require(b, all, holds(b, needs[k]));
      if (!needs[k].extent) return andThen(b, all, needs.subspan(k + 1));
    }
    return all;
  }
  /// Asked of all points of the axes that a number is made of.
  ValueId holds(Builder& b, const Need& need) const {
    NestBuilder nest(b);
    Cloner copy(m_, f_, f_);
    const Op over = fn().ops[need.nest];
    for (uint32_t axis : need.axes)
      copy.values[fn().regions[over.regions[0]].params[axis]] = nest.axis(over.dims[axis]);
    std::unordered_set<OpId> inside;
    forEachOp(fn(), over.regions[0], [&](OpId id) { inside.insert(id); });
    Builder in = need.axes.empty() ? b : b.in(nest.body());
    copyValue(fn(), valueOf(need), [&](OpId id) { return inside.contains(id); }, copy, in);
    const ValueId is = holds(in, copy.value(valueOf(need)), need.extent);
    if (need.axes.empty()) return is;
    NestResult all;
    all.kind = NestResultKind::Reduce;
    all.monoid = MonoidKind::And;
    nest.add(all, is);
    return nest.one();
  }
  static ValueId holds(Builder& b, ValueId v, std::optional<DimId> extent) {
    if (!extent) return b.compare(CmpKind::Ge, v, b.integer(1));
    return b.binary(OpKind::And, b.compare(CmpKind::Ge, v, b.integer(0)),
                    b.compare(CmpKind::Lt, v, b.dimValue(*extent)));
  }

  Module& m_;
  const FunctionId f_;
  const Effects& effects_;
  Ranges ranges_;
};

} // namespace

bool versionNests(Module& m) {
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    Versioner versioner(m, f, effects);
    versioner.run(m.functions[f].body);
    return versioner.changed;
  });
}

} // namespace melix::transforms
