#include "transforms/predication/predicate_by_zero_factor.h"

#include "core/analysis/access.h"
#include "core/analysis/predicate.h"
#include "core/analysis/sizes.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/predication/zero_analysis.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/predicated_sum.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace melix::transforms {

using namespace core;
using ops::CmpKind;

namespace {

/// A sum that can be put under the mask of one of its factors.
struct MaskedProduct {
  OpId nest, rows; ///< the sum; what makes the rows of the factor, and knows what it needs
  Zeros zeros;
  OpId other;          ///< the read of the other factor
  OpId factor;         ///< the read of the factor, or the op of the body that chooses it
  bool chosen = false; ///< the body itself chooses the factor
};

/// Finds products in a function as it is.
class ZeroFactorFinder {
public:
  ZeroFactorFinder(const Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(m.functions[f]), effects_(effects), info_(analysis<AccessInfo>(m, f)), sizes_(f_),
        regions_(regionsOfOps(f_)) {}

  /// Those around others first; not sums that take all terms.
  std::vector<MaskedProduct> all(const std::unordered_set<OpId>& unmasked) const {
    std::vector<MaskedProduct> out;
    forEachOp(f_, [&](OpId id) {
      if (f_.ops[id].kind != OpKind::Nest || unmasked.contains(id)) return;
      if (std::optional<MaskedProduct> p = productOf(id)) out.push_back(std::move(*p));
    });
    return out;
  }
  RegionId regionOf(OpId op) const { return regions_[op.index]; }

private:
  const Function& fn() const { return f_; }
  const Op* defOf(ValueId v) const {
    const OpId def = fn().values[v].def;
    return def.valid() ? &fn().ops[def] : nullptr;
  }

  std::optional<MaskedProduct> productOf(OpId id) const {
    const NestView nest(fn(), fn().ops[id]);
    if (nest.accs() > 0 || nest.parts().size() != 1) return std::nullopt;
    const NestResult& r = *nest.parts()[0].spec;
    const ValueId term = nest.yields(nest.parts()[0])[0];
    if (!isSum(r) || r.keep.size() == nest.axes() || !m_.types.isFloat(fn().typeOf(term)))
      return std::nullopt;
    const Op* product = defOf(term);
    if (!product || product->kind != OpKind::Mul || regions_[fn().values[term].def.index] != nest.body())
      return std::nullopt;
    for (size_t k : {0, 1}) {
      MaskedProduct out;
      out.nest = id;
      out.factor = fn().values[product->operands[k]].def;
      out.other = fn().values[product->operands[1 - k]].def;
      if (isRead(out.other) && findZeros(out, product->operands[k]) && isProfitable(out) && findRows(out))
        return out;
    }
    return std::nullopt;
  }
  bool findZeros(MaskedProduct& p, ValueId factor) const {
    const NestView nest(fn(), fn().ops[p.nest]);
    std::optional<Zeros> zeros;
    if (isRead(p.factor) && reducedAxes(p.nest).size() == 1) {
      const Op& get = fn().ops[p.factor];
      zeros = zerosOf(m_, fn(), get.operands[0], {get.operands.begin() + 1, get.operands.end()});
    } else if (isChoice(p.factor) && regions_[p.factor.index] == nest.body() &&
               !effects_.ofOp(fn(), p.factor).any() && !Costs(m_, fn()).fewPointsOf(fn().ops[p.nest])) {
      zeros = zerosOfNumber(m_, fn(), p.nest, factor);
      p.chosen = true;
      if (zeros && !zeros->needs.empty()) return false;
    }
    if (!zeros || !areKnownBefore(*zeros, nest.body())) return false;
    p.zeros = std::move(*zeros);
    return true;
  }
  /// Whether no index of the factor is computed in the body: the mask is tested before the body's ops.
  bool areKnownBefore(const Zeros& zeros, RegionId body) const {
    return std::ranges::none_of(zeros.at, [&](const auto& index) {
      const OpId def = fn().values[index.second].def;
      return def.valid() && regions_[def.index] == body;
    });
  }
  bool isRead(OpId id) const {
    return id.valid() && fn().ops[id].kind == OpKind::Get && fn().ops[id].operands.size() > 1;
  }
  /// A choice of one number.
  bool isChoice(OpId id) const {
    if (!id.valid() || fn().ops[id].results.size() != 1) return false;
    return fn().ops[id].kind == OpKind::If || fn().ops[id].kind == OpKind::Select;
  }
  std::set<ValueId> reducedAxes(OpId id) const {
    const NestView nest(fn(), fn().ops[id]);
    const std::vector<uint32_t>& keep = nest.parts()[0].spec->keep;
    std::set<ValueId> out;
    for (uint32_t k = 0; k < nest.axes(); ++k)
      if (std::ranges::find(keep, k) == keep.end()) out.insert(nest.axisParams()[k]);
    return out;
  }

  /// Whether the mask compares a reduced axis with others, none of which the other factor has all of.
  bool isProfitable(const MaskedProduct& p) const {
    const std::set<ValueId> reduced = reducedAxes(p.nest);
    auto isAxis = [&](ValueId v) { return p.zeros.at.contains(v); };
    const std::optional<AffinePredicate> mask =
        predicateOfAxes(m_, fn(), sizes_, p.nest, p.zeros.mask, isAxis);
    auto comparesReduced = [&](const AffineComparison& each) {
      return std::ranges::any_of(each.axes(),
                                 [&](ValueId axis) { return reduced.contains(p.zeros.at.at(axis)); });
    };
    if (!mask || std::ranges::none_of(*mask, comparesReduced)) return false;
    const std::set<ValueId>& read = info_->axesOf(fn().ops[p.other].results[0]);
    const std::set<ValueId> written = info_->axesOf(fn().ops[p.nest].results[0]);
    std::set<ValueId> kept = written;
    const NestView nest(fn(), fn().ops[p.nest]);
    for (uint32_t k : nest.parts()[0].spec->keep) kept.insert(nest.axisParams()[k]);
    return std::ranges::any_of(reduced, [&](ValueId a) { return read.contains(a); }) && readsAll(p.other) &&
           std::ranges::any_of(kept, [&](ValueId a) { return !read.contains(a); });
  }
  /// Whether an array is read at axes of nests, each of which is as long as it is: of a part, or where
  /// indices choose, to look at all of it would be more than the product.
  bool readsAll(OpId id) const {
    const Op& get = fn().ops[id];
    const std::vector<DimId> dims = m_.types[fn().typeOf(get.operands[0])].dims;
    if (get.operands.size() != dims.size() + 1) return false;
    std::unordered_set<ValueId> seen;
    for (size_t k = 0; k < dims.size(); ++k) {
      const ValueId index = get.operands[k + 1];
      const Value& axis = fn().values[index];
      if (axis.def.valid() || !axis.region.valid() || !seen.insert(index).second) return false;
      const OpId parent = fn().regions[axis.region].parent;
      if (!parent.valid() || fn().ops[parent].kind != OpKind::Nest) return false;
      const Op& nest = fn().ops[parent];
      if (axis.index >= nest.dims.size() || nest.dims[axis.index] != dims[k]) return false;
    }
    return true;
  }
  /// The nest in whose body all stands that is needed; its axes determine rows that are no terms.
  bool findRows(MaskedProduct& p) const {
    if (p.zeros.needs.empty()) return true;
    const std::set<ValueId> reduced = reducedAxes(p.nest);
    for (const Need& need : p.zeros.needs) {
      const OpId def = fn().values[need.v].def;
      if (!def.valid()) return false;
      const OpId rows = fn().regions[regions_[def.index]].parent;
      if (!rows.valid() || fn().ops[rows].kind != OpKind::Nest || (p.rows.valid() && p.rows != rows))
        return false;
      p.rows = rows;
    }
    const NestView nest(fn(), fn().ops[p.rows]);
    return nest.accs() == 0 && std::ranges::all_of(nest.axisParams(), [&](ValueId axis) {
             const auto index = p.zeros.at.find(axis);
             return index != p.zeros.at.end() && !reduced.contains(index->second);
           });
  }

  const Module& m_;
  const Function& f_;
  const Effects& effects_;
  const std::shared_ptr<const AccessInfo> info_;
  const KnownSizes sizes_;
  const std::vector<RegionId> regions_; ///< of ops
};

/// Puts products under masks. What is made waits until all is, so that lists are as they were found.
class ZeroFactorPredicator {
public:
  /// `unmasked` receives the sums that take all terms beside a version of theirs that does not.
  ZeroFactorPredicator(Module& m, FunctionId f, const Effects& effects, std::unordered_set<OpId>& unmasked)
      : m_(m), f_(f), effects_(effects), unmasked_(unmasked), scratch_(m.functions[f].regions.add(Region{})) {
  }

  /// Products that stand in others are left for another time; whether there was one at all.
  bool run() {
    const ZeroFactorFinder found(m_, f_, effects_);
    found_ = &found;
    const std::vector<MaskedProduct> all = found.all(unmasked_);
    if (all.empty()) return false;
    uses_.emplace(m_, f_);
    for (const MaskedProduct& p : all)
      if (!isInMasked(p.nest)) p.chosen ? versionByFinite(p) : mask(p);
    place(fn().body);
    return true;
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  bool isInMasked(OpId op) const {
    for (OpId at = fn().regions[found_->regionOf(op)].parent; at.valid();
         at = fn().regions[found_->regionOf(at)].parent)
      if (instead_.contains(at)) return true;
    return false;
  }
  /// The ops made in a region that is in no list.
  std::vector<OpId> taken() { return std::exchange(fn().regions[scratch_].ops, {}); }
  /// What waits goes into the lists.
  void place(RegionId region) {
    std::vector<OpId> out;
    auto put = [&](const std::unordered_map<OpId, std::vector<OpId>>& made, OpId id) {
      const auto found = made.find(id);
      if (found != made.end()) out.insert(out.end(), found->second.begin(), found->second.end());
      return found != made.end();
    };
    for (OpId id : std::vector(fn().regions[region].ops)) {
      const Regions inner = fn().ops[id].regions;
      put(before_, id);
      if (!put(instead_, id)) {
        for (RegionId r : inner) place(r);
        out.push_back(id);
      }
      put(after_, id);
    }
    fn().regions[region].ops = std::move(out);
  }

  // --- what is needed
  // ---------------------------------------------------------------------------------------------------------
  static ValueId holds(Builder& b, const Need& need) {
    const TypeId type = b.typeOf(need.v);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (need.kind) {
    case NeedKind::AboveMinusInfinity: return b.compare(CmpKind::Gt, need.v, b.number(type, -infinity));
    case NeedKind::NotZero: return b.compare(CmpKind::Gt, b.unary(OpKind::Abs, need.v), b.number(type, 0));
    case NeedKind::Finite: break;
    }
    return b.compare(CmpKind::Lt, b.unary(OpKind::Abs, need.v), b.number(type, infinity));
  }
  static void add(Builder& b, ValueId& all, ValueId more) {
    all = all.valid() ? b.binary(OpKind::And, all, more) : more;
  }
  /// Collected by the nest of the rows: whether something is not as needed.
  ValueId failing(const MaskedProduct& p) {
    Builder b(m_, f_, scratch_, fn().ops[p.rows].loc);
    ValueId all;
    for (const Need& need : p.zeros.needs) add(b, all, holds(b, need));
    const ValueId fails = b.unary(OpKind::Not, all);
    std::vector<OpId>& front = before_[terminatorId(fn(), fn().ops[p.rows].regions[0])];
    const std::vector<OpId> made = taken();
    front.insert(front.end(), made.begin(), made.end());
    return collectMore(m_, fn(), *uses_, p.rows, std::span(&fails, 1))[0];
  }
  /// Whether all of an array is finite, after what makes it, or where the nests around the sum begin.
  ValueId finite(const MaskedProduct& p) {
    const ValueId array = fn().ops[p.other].operands[0];
    const OpId def = definition(array);
    const RegionId home = def.valid() ? found_->regionOf(def) : fn().values[array].region;
    OpId before = p.nest;
    while (found_->regionOf(before) != home &&
           fn().ops[fn().regions[found_->regionOf(before)].parent].kind == OpKind::Nest)
      before = fn().regions[found_->regionOf(before)].parent;
    Builder b(m_, f_, scratch_, fn().ops[p.nest].loc);
    NestBuilder nest(b);
    const std::vector<DimId> dims = m_.types[fn().typeOf(array)].dims;
    const std::vector<ValueId> axes = nest.openAxes(dims);
    Builder in = b.in(nest.body());
    nest.add(reducing(MonoidKind::And), holds(in, {NeedKind::Finite, in.getAt(array, axes)}));
    const ValueId is = nest.one();
    const bool isAfter = def.valid() && home == found_->regionOf(before);
    std::vector<OpId>& list = isAfter ? after_[def] : before_[before];
    const std::vector<OpId> made = taken();
    list.insert(list.end(), made.begin(), made.end());
    return is;
  }
  /// The op that made it as it was found: in the place of that another one may stand by now.
  OpId definition(ValueId v) const {
    const OpId def = fn().values[v].def;
    const auto replaced = replaced_.find(def);
    return replaced == replaced_.end() ? def : replaced->second;
  }

  // --- the sum
  // ---------------------------------------------------------------------------------------------------------
  void mask(const MaskedProduct& p) {
    const ValueId fails = p.rows.valid() ? failing(p) : ValueId(), isFinite = finite(p);
    Builder at(m_, f_, scratch_, fn().ops[p.nest].loc);
    const SumAtPoints points(m_, f_, p.nest);
    const OpId by = points.write(at, [&](Cloner& copy, Builder& b) {
      const ValueId unmasked = allTerms(p, fails, isFinite, copy, b);
      return points.sum(copy, b, [&](Cloner& c, Builder& in) { return term(p, unmasked, c, in); });
    });
    replaced_[by] = p.nest;
    instead_[p.nest] = taken();
  }
  /// A sum of its own where the other factor is finite: the body chooses the factor and knows the mask.
  void versionByFinite(const MaskedProduct& p) {
    const ValueId isFinite = finite(p);
    Builder at(m_, f_, scratch_, fn().ops[p.nest].loc);
    const ValueId old = fn().ops[p.nest].results[0];
    const OpId branch =
        fn().values[selectElse(
                        at, isFinite, fn().typeOf(old), [&](Builder& yes) { return copied(p, true, yes); },
                        [&](Builder& no) { return copied(p, false, no); })]
            .def;
    takeOver(fn(), branch, std::span(&old, 1));
    replaced_[branch] = p.nest;
    instead_[p.nest] = taken();
  }
  ValueId copied(const MaskedProduct& p, bool isMasked, Builder& b) {
    Cloner copy(m_, f_, f_);
    const OpId product = fn().values[terminator(fn(), fn().ops[p.nest].regions[0]).operands[0]].def;
    copy.instead = [&](OpId id, Builder& in) {
      if (!isMasked || id != product) return false;
      const ValueId holds = copy.value(p.zeros.mask), result = fn().ops[product].results[0];
      copy.values[result] = selectOrZero(in, holds, fn().typeOf(result), [&](Builder& yes) {
        copy.values[fn().ops[p.factor].results[0]] = firstOf(p.factor, copy, yes);
        copy.op(product, yes);
        return copy.value(result);
      });
      return true;
    };
    const OpId made = copy.op(p.nest, b);
    if (!isMasked) unmasked_.insert(made);
    return fn().ops[made].results[0];
  }
  /// The number that a choice gives where its condition holds.
  ValueId firstOf(OpId choice, Cloner& copy, Builder& b) const {
    const Op& op = fn().ops[choice];
    return op.kind == OpKind::Select ? copy.value(op.operands[1]) : copy.body(op.regions[0], b).values[0];
  }
  /// Whether a row has all terms.
  ValueId allTerms(const MaskedProduct& p, ValueId fails, ValueId isFinite, const Cloner& copy,
                   Builder& b) const {
    const ValueId isOdd = b.unary(OpKind::Not, isFinite);
    if (!fails.valid()) return isOdd;
    std::vector<ValueId> indices;
    for (ValueId axis : NestView(fn(), fn().ops[p.rows]).axisParams())
      indices.push_back(copy.value(p.zeros.at.at(axis)));
    return b.binary(OpKind::Or, isOdd, b.getAt(fails, indices));
  }
  /// What the factors are made of is there at all points, as it was: the branch makes the product alone.
  ValueId term(const MaskedProduct& p, ValueId unmasked, Cloner& copy, Builder& in) const {
    Cloner toMask(m_, f_, f_);
    for (auto [axis, index] : p.zeros.at) toMask.values[axis] = copy.value(index);
    copyValue(fn(), p.zeros.mask, [](OpId) { return true; }, toMask, in);
    ValueId all;
    for (ValueId each : conjunctsOf(fn(), p.zeros.mask))
      add(in, all, in.binary(OpKind::Or, toMask.value(each), unmasked));
    const RegionId body = fn().ops[p.nest].regions[0];
    const ValueId product = terminator(fn(), body).operands[0];
    const std::vector<OpId> factors = fn().regions[body].ops;
    for (OpId id : std::span(factors).first(factors.size() - 1))
      if (id != fn().values[product].def) copy.op(id, in);
    return selectOrZero(in, all, fn().typeOf(product), [&](Builder& yes) {
      copy.op(fn().values[product].def, yes);
      return copy.value(product);
    });
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  std::unordered_set<OpId>& unmasked_;
  const RegionId scratch_; ///< where ops are made
  const ZeroFactorFinder* found_ = nullptr;
  std::optional<LiveUses> uses_;
  std::unordered_map<OpId, std::vector<OpId>> before_, instead_, after_; ///< by the ops that were found
  std::unordered_map<OpId, OpId> replaced_;                              ///< sums, by what makes them now
};

} // namespace

void predicateByZeroFactor(Module& m) {
  require(m, {State::SumsUnordered});
  const Effects effects(m);
  changeBodies(m, [&](FunctionId f) {
    bool changed = false;
    std::unordered_set<OpId> unmasked;
    while (ZeroFactorPredicator(m, f, effects, unmasked).run()) changed = true;
    if (changed) eliminateDeadValues(m, f, effects);
    return changed;
  });
}

} // namespace melix::transforms
