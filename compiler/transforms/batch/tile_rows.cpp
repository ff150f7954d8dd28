#include "transforms/batch/tile_rows.h"

#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/batch/row_functions.h"
#include "transforms/batch/row_seeds.h"
#include "transforms/batch/rows.h"
#include "transforms/walks/distribute_nest.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int64_t rowStep = 64;

/// The nests of one function.
class RowTiler {
public:
  RowTiler(Module& m, FunctionId f, const Effects& effects, const RowFunctions& functions,
           std::optional<int64_t> mostRows, BatchingLog* log)
      : m_(m), f_(f), effects_(effects), functions_(functions), costs_(m, m.functions[f]),
        mostRows_(mostRows), log_(log) {}

  bool changed = false;

  void run(RegionId region) {
    const std::vector<OpId> ops = std::exchange(fn().regions[region].ops, {});
    for (OpId id : ops) {
      if (fn().ops[id].kind != OpKind::Nest) {
        for (RegionId inner : Regions(fn().ops[id].regions)) run(inner);
      } else if (isTiled(id)) {
        Builder b(m_, f_, region, fn().ops[id].loc);
        if (log_) log_->add({BatchingKind::Tiles, b.loc});
        tile(b, id);
        changed = true;
        continue;
      }
      fn().regions[region].ops.push_back(id);
    }
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  RegionId bodyOf(OpId nest) const { return fn().ops[nest].regions[0]; }

  bool isTiled(OpId nest) const {
    if (!hasManyPoints(costs_, fn().ops[nest]) || !canTile(nest) || functions_.hasOther(fn(), nest))
      return false;
    if (!mostRows_ && (givesRows(nest) || readsRows(nest))) return false;
    return !seedsOfRows(fn(), nest, productsOfRows(m_, f_, nest, effects_), functions_, true).empty();
  }

  /// Whether the results of tiles are put together by a slice of an array or by a sum of two numbers.
  bool canTile(OpId nest) const {
    const NestView view(fn(), fn().ops[nest]);
    return std::ranges::all_of(view.parts(), [&](const NestPart& part) {
      const ValueId v = view.yields(part)[0];
      if (part.spec->kind == NestResultKind::Collect)
        return std::ranges::is_sorted(part.spec->keep) && canBeStored(m_, fn(), view.body(), v);
      return isSum(*part.spec) && part.spec->keep.empty() && m_.types.isNumber(fn().typeOf(v));
    });
  }

  bool givesRows(OpId nest) const {
    return std::ranges::any_of(nestResults(fn().ops[nest]),
                               [](const NestResult& r) { return r.kind == NestResultKind::Collect; });
  }

  /// Whether the body reads rows of an array at an axis of the nest.
  bool readsRows(OpId nest) const {
    const NestView view(fn(), fn().ops[nest]);
    const std::span<const ValueId> axes = view.axisParams();
    bool reads = false;
    forEachOp(fn(), view.body(), [&](OpId id) {
      const Op& op = fn().ops[id];
      if (op.kind != OpKind::Get || m_.types[fn().typeOf(op.operands[0])].dims.size() < 2) return;
      reads |= std::ranges::any_of(std::span(op.operands).subspan(1), [&](ValueId index) {
        return std::ranges::find(axes, index) != axes.end();
      });
    });
    return reads;
  }

  /// A multiple of `rowStep` rows whose arrays have `tileElements` together, or `rowStep`.
  ValueId rowsOfTile(Builder& b, OpId nest) const {
    if (mostRows_) return b.integer(*mostRows_);
    ValueId elements = b.integer(1);
    for (OpId id : fn().regions[bodyOf(nest)].ops)
      for (ValueId v : Results(fn().ops[id].results)) {
        const Dims own = m_.types[fn().typeOf(v)].dims;
        if (own.empty() || !canBeStored(m_, fn(), bodyOf(nest), v)) continue;
        elements =
            b.binary(OpKind::Add, elements, b.dimValue(m_.types.dims.product({own.begin(), own.end()})));
      }
    const ValueId steps = b.binary(OpKind::IDiv, b.integer(tileElements / rowStep), elements);
    return b.binary(OpKind::Mul, b.binary(OpKind::Max, steps, b.integer(1)), b.integer(rowStep));
  }

  void tile(Builder& b, OpId nest) const {
    const Rows rows(m_, f_, nest, effects_);
    const Op original = fn().ops[nest];
    const ValueId count = b.dimValue(rows.count()), most = rowsOfTile(b, nest);
    const ValueId last = b.binary(OpKind::Add, count, b.binary(OpKind::Sub, most, b.integer(1)));
    Op loop = Builder::simple(OpKind::For, {b.binary(OpKind::IDiv, last, most)}, LoopAttr{});
    for (ValueId v : begun(b, nest, rows.count())) loop.operands.push_back(v);

    Builder in = b.in(b.newRegion());
    const ValueId from = in.binary(OpKind::Mul, in.param(m_.types.int64()), most);
    std::vector<ValueId> carried;
    std::vector<TypeId> types;
    for (ValueId v : std::span(loop.operands).subspan(1)) {
      types.push_back(b.typeOf(v));
      carried.push_back(in.param(types.back()));
    }
    const ValueId rest = in.binary(OpKind::Sub, in.dimValue(rows.count()), from);
    const DimId size = m_.types.dims.symbol(in.bindDim(in.binary(OpKind::Min, most, rest), "m"));
    const std::vector<ValueId> part = emitPart(in, nest, rows, from, size, carried);
    in.yield(putTogether(in, nest, carried, part, from, size));
    loop.regions = {in.region};
    const OpId made = b.append(std::move(loop), types);
    std::vector<ValueId> given(fn().ops[made].results.begin(), fn().ops[made].results.end());
    give(b, original, given);
  }

  /// What the loop begins with: arrays of all rows, zeros, accumulators.
  std::vector<ValueId> begun(Builder& b, OpId nest, DimId rows) const {
    const Op op = fn().ops[nest];
    const NestView view(fn(), op);
    std::vector<ValueId> out;
    for (const NestPart& part : view.parts()) {
      const TypeId one = fn().typeOf(view.yields(part)[0]);
      const bool isCollected = part.spec->kind == NestResultKind::Collect;
      out.push_back(
          b.zero(isCollected ? nestResultType(m_.types, collecting(1), std::span(&rows, 1), one) : one));
    }
    out.insert(out.end(), view.accOperands().begin(), view.accOperands().end());
    return out;
  }

  /// The nest over the rows of a tile.
  std::vector<ValueId> emitPart(Builder& in, OpId nest, const Rows& rows, ValueId from, DimId size,
                                std::span<const ValueId> carried) const {
    const Op op = fn().ops[nest];
    const std::vector<ValueId> params = fn().regions[op.regions[0]].params;
    NestBuilder made(in);
    Cloner copy(m_, f_, f_);
    const ValueId axis = made.axis(size);
    const std::span<const ValueId> accs = carried.last(nestAccs(op));
    for (size_t k = 0; k < accs.size(); ++k)
      copy.values[params[op.dims.size() + k]] = made.accumulator(accs[k]);
    Builder row = in.in(made.body());
    rows.enter(row, copy, row.binary(OpKind::Add, from, axis));
    const std::vector<ValueId> yields = copy.body(op.regions[0], row).values;
    const std::vector<NestResult>& specs = nestResults(op);
    for (size_t k = 0; k < specs.size(); ++k)
      specs[k].kind == NestResultKind::Collect ? made.collect(yields[k]) : made.add(specs[k], yields[k]);
    for (size_t k = specs.size(); k < yields.size(); ++k) made.end(yields[k]);
    const OpId id = made.finish();
    return {fn().ops[id].results.begin(), fn().ops[id].results.end()};
  }

  Operands putTogether(Builder& in, OpId nest, std::span<const ValueId> carried,
                       std::span<const ValueId> part, ValueId from, DimId size) const {
    const std::vector<NestResult> specs = nestResults(fn().ops[nest]);
    Operands out(part.begin(), part.end());
    for (size_t k = 0; k < specs.size(); ++k)
      out[k] = specs[k].kind == NestResultKind::Collect
                   ? in.set(carried[k], part[k], {PathStep{StepKind::Slice, 0, size, 1}}, std::span(&from, 1))
                   : in.binary(OpKind::Add, carried[k], part[k]);
    return out;
  }

  /// The results of the loop take the place of those of the nest, whose axes arrays get back.
  void give(Builder& b, const Op& original, std::vector<ValueId>& given) const {
    for (size_t k = 0; k < given.size(); ++k) {
      const TypeId type = fn().typeOf(original.results[k]);
      if (b.typeOf(given[k]) != type) given[k] = b.one(Builder::simple(OpKind::Reshape, {given[k]}), type);
      const ValueId v = given[k];
      fn().values[original.results[k]] = fn().values[v];
      Op& def = fn().ops[fn().values[v].def];
      def.results[fn().values[v].index] = original.results[k];
    }
  }

  Module& m_;
  const FunctionId f_;
  const Effects& effects_;
  const RowFunctions& functions_;
  const Costs costs_;
  const std::optional<int64_t> mostRows_;
  BatchingLog* const log_;
};

} // namespace

bool tileRows(Module& m, std::optional<int64_t> mostRows, BatchingLog* log) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  const Effects effects(m);
  const RowFunctions functions(m, effects);
  return changeBodies(m, [&](FunctionId f) {
    RowTiler tiler(m, f, effects, functions, mostRows, log);
    tiler.run(m.functions[f].body);
    return tiler.changed;
  });
}

} // namespace melix::transforms
