#include "transforms/predication/predicate_ragged_sums.h"

#include "core/ir/flow.h"
#include "core/ir/nest.h"
#include "core/order/verify.h"
#include "transforms/predication/ragged_ranges.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/predicated_sum.h"
#include "transforms/walks/rewrite_with_ranges.h"

#include <utility>

namespace melix::transforms {

using namespace core;
using ops::CmpKind;

namespace {

class RaggedSumPredicator {
public:
  RaggedSumPredicator(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), ranges_(m, f), ragged_(m, f, effects, ranges_),
        scratch_(m.functions[f].regions.add(Region{})) {}
  bool changed = false;

  void run(RegionId region) {
    auto predicate = [this](OpId id, RegionId around) {
      const std::optional<RaggedRange> range = ragged_.of(id, around);
      if (!range) return std::vector<OpId>{id};
      changed = true;
      return predicated(*range);
    };
    rewriteInRanges(m_, f_, ranges_, region, predicate);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// The ops that replace the sum.
  std::vector<OpId> predicated(const RaggedRange& range) {
    const Op op = fn().ops[range.sum];
    Builder b(m_, f_, scratch_, op.loc);
    const OpId sum = op.kind == OpKind::Nest ? nest(range, op, b) : loop(range, op, b);
    const std::vector<ValueId> old(op.results.begin(), op.results.end());
    takeOver(fn(), sum, old);
    return std::exchange(fn().regions[scratch_].ops, {});
  }
  /// A term that does not hold is 0.
  OpId nest(const RaggedRange& range, const Op& op, Builder& b) {
    NestBuilder made(b);
    const ValueId k = made.axis(range.extent, fn().values[range.axis].hint);
    Builder in = b.in(made.body());
    const NestResult spec = nestResults(op)[0];
    auto term = [&](Builder& yes) { return termAt(range, k, {}, yes); };
    made.add(spec, selectOrZero(in, holds(range, k, in), fn().typeOf(op.results[0]), term));
    return made.finish();
  }
  /// An iteration that does not hold leaves the sum as it is.
  OpId loop(const RaggedRange& range, const Op& op, Builder& b) {
    const TypeId type = fn().typeOf(op.results[0]);
    Op made = op;
    made.operands[0] = b.dimValue(range.extent);
    made.regions = {b.newRegion()};
    made.results.clear();
    Builder in = b.in(made.regions[0]);
    const ValueId k = in.param(m_.types.int64(), fn().values[range.axis].hint), sum = in.param(type);
    auto next = [&](Builder& yes) { return termAt(range, k, sum, yes); };
    in.yield({selectElse(in, holds(range, k, in), type, next, [&](Builder&) { return sum; })});
    return fn().values[b.one(std::move(made), type)].def;
  }
  /// Whether a number lies in the range.
  ValueId holds(const RaggedRange& range, ValueId k, Builder& in) const {
    ValueId all;
    auto require = [&](CmpKind how, const AffineForm& form) {
      const ValueId is = in.compare(how, k, emit(in, form));
      all = all.valid() ? in.binary(OpKind::And, all, is) : is;
    };
    for (const AffineForm& form : range.begins) require(CmpKind::Ge, form);
    for (const AffineForm& form : range.ends)
      if (!ragged_.isExtent(form, range.extent)) require(CmpKind::Lt, form);
    return all;
  }
  /// What the body yields where its index, with the offset, is `k`; `sum` stands for the carry of a loop.
  ValueId termAt(const RaggedRange& range, ValueId k, ValueId sum, Builder& b) {
    Cloner copy(m_, f_, f_);
    copy.values[range.axis] = k;
    if (sum.valid()) copy.values[fn().regions[range.body].params[1]] = sum;
    copy.instead = [&](OpId id, Builder&) {
      const Op& op = fn().ops[id];
      if (op.results.size() != 1 || !range.index.contains(op.results[0])) return false;
      copy.values[op.results[0]] = k;
      return true;
    };
    return copy.body(range.body, b).values[0];
  }

  Module& m_;
  FunctionId f_;
  Ranges ranges_;
  RaggedRanges ragged_;
  const RegionId scratch_; ///< where ops are made
};

} // namespace

bool predicateRaggedSums(Module& m) {
  require(m, {State::SumsUnordered});
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    RaggedSumPredicator predicator(m, f, effects);
    predicator.run(m.functions[f].body);
    if (predicator.changed) eliminateDeadValues(m, f, effects);
    return predicator.changed;
  });
}

} // namespace melix::transforms
