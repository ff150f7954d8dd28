#include "transforms/predication/predicate_by_consumer.h"

#include "core/analysis/footprint.h"
#include "core/analysis/predicate.h"
#include "core/analysis/sizes.h"
#include "core/ir/build.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/predicated_sum.h"

#include <algorithm>
#include <optional>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int mostOpsToChoice = 12; ///< ops from an element to the choice

/// Which value each axis of an array is where an element of it is at hand.
using Indices = std::vector<ValueId>;

/// Follows what is made of the elements of an array.
class Readers {
public:
  Readers(const Module& m, const Function& f, const Uses& uses, const KnownSizes& sizes)
      : m_(m), f_(f), uses_(uses), sizes_(sizes) {}

  ValueId condition; ///< of one of the choices
  Indices at;        ///< there

  /// Whether nothing looks at elements of what a nest makes where the condition does not hold, which can be
  /// asked there.
  bool allChoose(OpId nest) {
    nest_ = nest;
    return reads(f_.ops[nest].results[0], {}, {}, mostOpsToChoice) && condition.valid() && comparesSides();
  }

private:
  template <class Test>
  bool allUses(ValueId v, const Test& test) const {
    bool all = true;
    uses_.forEach(v, [&](Use use) { all = all && test(use); });
    return all;
  }

  /// Reads of an array whose axes are these values where it is made; none of the first array.
  bool reads(ValueId array, const Indices& axes, const Indices& made, int depth) {
    return depth > 0 && uses_.used(array) && allUses(array, [&](Use use) {
             const Op& get = f_.ops[use.op];
             const size_t rank = m_.types[f_.typeOf(array)].dims.size();
             if (get.kind == OpKind::Yield) return collected(use, axes, made, depth);
             if (get.kind != OpKind::Get || use.operand != 0 || get.operands.size() != rank + 1) return false;
             const Indices read(get.operands.begin() + 1, get.operands.end());
             Indices here = axes.empty() ? read : made;
             for (ValueId& v : here)
               for (size_t k = 0; k < axes.size(); ++k)
                 if (v == axes[k]) {
                   v = read[k];
                   break;
                 }
             return number(get.results[0], here, depth - 1);
           });
  }
  bool number(ValueId v, const Indices& here, int depth) {
    return depth > 0 && allUses(v, [&](Use use) {
             const Op& op = f_.ops[use.op];
             if (const ValueId chosen = arm(use.op); chosen.valid()) return choice(chosen, here);
             switch (op.kind) {
             case OpKind::Select: return use.operand == 1 && choice(op.operands[0], here);
             case OpKind::Div:
             case OpKind::Mul:
             case OpKind::Add:
             case OpKind::Sub:
             case OpKind::Neg: return number(op.results[0], here, depth - 1);
             case OpKind::Yield: return collected(use, {}, here, depth);
             default: return false;
             }
           });
  }
  /// The condition of a branch in whose first arm an op stands.
  ValueId arm(OpId op) const {
    const RegionId home = uses_.regionOf(op);
    const OpId branch = f_.regions[home].parent;
    const bool isIn =
        branch.valid() && f_.ops[branch].kind == OpKind::If && f_.ops[branch].regions[0] == home;
    return isIn ? f_.ops[branch].operands[0] : ValueId();
  }
  /// What a nest yields, a number or an array of these axes, is an array of its own axes too.
  bool collected(Use use, const Indices& axes, const Indices& here, int depth) {
    const OpId nest = f_.regions[uses_.regionOf(use.op)].parent;
    if (!nest.valid() || f_.ops[nest].kind != OpKind::Nest) return false;
    const NestView view(f_, f_.ops[nest]);
    for (const NestPart& part : view.parts()) {
      if (part.yields.first != use.operand) continue;
      if (part.spec->kind != NestResultKind::Collect || part.spec->keep != collecting(view.axes()).keep)
        return false;
      Indices all(view.axisParams().begin(), view.axisParams().end());
      all.insert(all.end(), axes.begin(), axes.end());
      return reads(view.results(part)[0], all, here, depth - 1);
    }
    return false;
  }

  bool choice(ValueId by, const Indices& here) {
    if (!condition.valid()) {
      condition = by;
      at = here;
      return true;
    }
    const std::optional<AffinePredicate> first = predicateOf(condition, at);
    return first && first == predicateOf(by, here);
  }
  /// A condition over the axes of the array, by their numbers.
  std::optional<AffinePredicate> predicateOf(ValueId v, const Indices& here) const {
    auto numberOf = [&](ValueId axis) { return std::ranges::find(here, axis) - here.begin(); };
    return predicateOfAxes(
        m_, f_, sizes_, nest_, v, [&](ValueId x) { return numberOf(x) < std::ssize(here); },
        [&](ValueId axis) { return ValueId(static_cast<uint32_t>(numberOf(axis))); });
  }
  /// Whether the condition orders two axes.
  bool comparesSides() const {
    const std::optional<AffinePredicate> all = predicateOf(condition, at);
    return all && std::ranges::any_of(*all, [](const AffineComparison& each) {
             return each.isOrder() && each.axes().size() >= 2;
           });
  }

  const Module& m_;
  const Function& f_;
  const Uses& uses_;
  const KnownSizes& sizes_;
  OpId nest_; ///< which makes the product
};

class ConsumerPredicator {
public:
  ConsumerPredicator(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), uses_(m, f), sizes_(m.functions[f]),
        scratch_(m.functions[f].regions.add(Region{})) {}
  bool changed = false;

  /// The list of a region stays whole until its end, as readers look at it.
  void region(RegionId r) {
    std::vector<OpId> out;
    for (OpId id : std::vector(fn().regions[r].ops)) {
      const Regions regions = fn().ops[id].regions;
      for (RegionId inner : regions) region(inner);
      Readers readers(m_, fn(), uses_, sizes_);
      if (isSum(id) && readers.allChoose(id) && hasTwoOperands(id))
        mask(id, r, readers, out);
      else
        out.push_back(id);
    }
    fn().regions[r].ops = std::move(out);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// A sum over some axes that keeps two or more, without effects.
  bool isSum(OpId id) const {
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::Nest || nestAccs(op) > 0 || op.results.size() != 1) return false;
    const NestResult& r = nestResults(op)[0];
    return core::isSum(r) && r.keep.size() >= 2 && !effects_.ofOp(fn(), id).any();
  }
  bool hasTwoOperands(OpId sum) {
    if (!footprints_) footprints_.emplace(m_, f_);
    return footprints_->of(sum, terminator(fn(), fn().ops[sum].regions[0]).operands[0]).hasTwoSides();
  }

  void mask(OpId id, RegionId home, const Readers& readers, std::vector<OpId>& out) {
    changed = true;
    uses_.leave(id);
    const RegionId body = fn().ops[id].regions[0];
    const TypeId type = fn().typeOf(terminator(fn(), body).operands[0]);
    Builder at(m_, f_, scratch_, fn().ops[id].loc);
    const SumAtPoints points(m_, f_, id);
    const std::vector<uint32_t> keep = nestResults(fn().ops[id])[0].keep;
    points.write(at, [&](Cloner& copy, Builder& b) {
      Cloner toMask(m_, f_, f_);
      for (size_t k = 0; k < keep.size(); ++k)
        toMask.values[readers.at[k]] = copy.value(fn().regions[body].params[keep[k]]);
      copyValue(fn(), readers.condition, [](OpId) { return true; }, toMask, b);
      return selectOrZero(b, toMask.value(readers.condition), type, [&](Builder& yes) {
        Cloner inside = copy;
        return points.sum(inside, yes, [&](Cloner& c, Builder& in) { return c.body(body, in).values[0]; });
      });
    });
    std::vector<OpId>& made = fn().regions[scratch_].ops;
    for (OpId op : made) uses_.enter(op, home);
    out.insert(out.end(), made.begin(), made.end());
    made.clear();
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  LiveUses uses_;
  const KnownSizes sizes_;
  std::optional<Footprints> footprints_; ///< of the function as it was found, where they are asked for
  const RegionId scratch_;               ///< where ops are made
};

} // namespace

void predicateByConsumer(Module& m) {
  require(m, {State::SumsUnordered});
  const Effects effects(m);
  changeBodies(m, [&](FunctionId f) {
    ConsumerPredicator masker(m, f, effects);
    masker.region(m.functions[f].body);
    if (masker.changed) eliminateDeadValues(m, f, effects);
    return masker.changed;
  });
}

} // namespace melix::transforms
