#include "transforms/batch/lookup_counts.h"

#include "core/ir/nest.h"
#include "core/order/clone.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

class LookupCounter {
public:
  LookupCounter(Builder& b, std::span<const OpId> around, OpId lookup, const Effects& effects)
      : m_(b.module), f_(b.function), around_(around), lookup_(lookup), effects_(effects), copy_(m_, f_, f_) {
    for (const OpId op : around_) {
      const std::vector<ValueId>& params = fn().regions[fn().ops[op].regions[0]].params;
      inside_.insert(params.begin(), params.end());
      const size_t axes = fn().ops[op].kind == OpKind::For ? 1 : fn().ops[op].dims.size();
      axes_.insert(params.begin(), params.begin() + static_cast<std::ptrdiff_t>(axes));
    }
    forEachOp(fn(), fn().ops[around_[0]].regions[0],
              [&](OpId op) { inside_.insert(fn().ops[op].results.begin(), fn().ops[op].results.end()); });
  }

  bool isPossible() const {
    const auto canBeMade = [this](ValueId v) { return isOfAxes(v); };
    const bool areCounts = std::ranges::all_of(around_, [&](OpId op) {
      return fn().ops[op].kind != OpKind::For || isOfAxes(fn().ops[op].operands[0]);
    });
    return areCounts && std::ranges::all_of(indices(), canBeMade);
  }

  ValueId count(Builder& b) {
    const TypeId array = fn().typeOf(fn().ops[lookup_].operands[0]);
    const Dims& dims = m_.types[array].dims;
    const Dims rows(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(indices().size()));
    extents_ = rows;
    return level(b, 0, b.zero(m_.types.array(m_.types.int64(), {rows.begin(), rows.end()})));
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  std::span<const ValueId> indices() const { return std::span(fn().ops[lookup_].operands).subspan(1); }

  /// Whether a value is from before the ops, an axis of them, or computed from such by ops that may run
  /// again.
  bool isOfAxes(ValueId v) const {
    if (!inside_.contains(v) || axes_.contains(v)) return true;
    const OpId def = fn().values[v].def;
    if (!def.valid()) return false;
    const Op& op = fn().ops[def];
    return op.regions.empty() && op.resultDims.empty() && op.dims.empty() &&
           !effects_.ofItself(fn(), def).any() && op.kind != OpKind::Call && op.kind != OpKind::Undef &&
           std::ranges::all_of(op.operands, [this](ValueId each) { return isOfAxes(each); });
  }

  ValueId made(Builder& at, ValueId v) {
    if (const auto known = copy_.values.find(v); known != copy_.values.end()) return known->second;
    if (!inside_.contains(v)) return v;
    const OpId def = fn().values[v].def;
    for (const ValueId each : Operands(fn().ops[def].operands))
      copy_.values.try_emplace(each, made(at, each));
    copy_.op(def, at);
    return copy_.value(v);
  }

  /// The counts after all iterations of an op around the lookup, and of those inside it.
  ValueId level(Builder& at, size_t k, ValueId counts) {
    if (k == around_.size()) return added(at, counts);
    const Op op = fn().ops[around_[k]];
    const std::vector<ValueId> params = fn().regions[op.regions[0]].params;
    if (op.kind == OpKind::Nest) {
      NestBuilder nest(at);
      const std::vector<ValueId> axes = nest.openAxes(op.dims);
      for (size_t a = 0; a < axes.size(); ++a) copy_.values[params[a]] = axes[a];
      const ValueId acc = nest.accumulator(counts);
      Builder in = at.in(nest.body());
      nest.end(level(in, k + 1, acc));
      return nest.one();
    }
    Op loop = Builder::simple(OpKind::For, {made(at, op.operands[0]), counts}, LoopAttr{});
    Builder in = at.in(at.newRegion());
    copy_.values[params[0]] = in.param(m_.types.int64());
    const ValueId carry = in.param(at.typeOf(counts));
    in.yield({level(in, k + 1, carry)});
    loop.regions = {in.region};
    return at.one(std::move(loop), at.typeOf(counts));
  }

  /// One more for the row, if there is one.
  ValueId added(Builder& at, ValueId counts) {
    std::vector<ValueId> row;
    ValueId isRow = at.boolean(true);
    for (size_t k = 0; k < indices().size(); ++k) {
      row.push_back(made(at, indices()[k]));
      const ValueId isLow = at.compare(ops::CmpKind::Ge, row.back(), at.integer(0)),
                    isHigh = at.compare(ops::CmpKind::Lt, row.back(), at.dimValue(extents_[k]));
      isRow = at.binary(OpKind::And, isRow, at.binary(OpKind::And, isLow, isHigh));
    }
    Op branch = Builder::simple(OpKind::If, {isRow});
    Builder yes = at.in(at.newRegion()), no = at.in(at.newRegion());
    yes.yield({yes.addAt(counts, yes.integer(1), fn().ops[lookup_].as<Path>(), row)});
    no.yield({counts});
    branch.regions = {yes.region, no.region};
    return at.one(std::move(branch), at.typeOf(counts));
  }

  Module& m_;
  const FunctionId f_;
  const std::span<const OpId> around_;
  const OpId lookup_;
  const Effects& effects_;
  Cloner copy_;
  Dims extents_;
  std::unordered_set<ValueId> inside_, axes_;
};

} // namespace

std::optional<ValueId> lookupCounts(Builder& b, std::span<const OpId> around, OpId lookup,
                                    const Effects& effects) {
  LookupCounter counter(b, around, lookup, effects);
  return counter.isPossible() ? std::optional(counter.count(b)) : std::nullopt;
}

} // namespace melix::transforms
