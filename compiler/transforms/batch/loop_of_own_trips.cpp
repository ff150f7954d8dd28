#include "transforms/batch/loop_of_own_trips.h"

#include "core/analysis/affine.h"
#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// Of an index in an iteration: it is `factor` times the index of the iteration and `counts` times the trip
/// count, and a constant.
struct IndexOfTrips {
  int64_t factor, counts, constant;
};

std::optional<IndexOfTrips> indexOfTrips(const types::DimStore& dims, const Function& f, ValueId v,
                                         const LoopView& loop) {
  if (loop.count() == v || loop.index() == v) return std::nullopt;
  const std::optional<AffineForm> form =
      affineForm(dims, f, v,
                 {.isAxis = [&](ValueId each) { return each == loop.index() || each == loop.count(); },
                  .isOutside = [](ValueId) { return true; }});
  if (!form || !form->outside.empty() || !form->dims.empty()) return std::nullopt;
  IndexOfTrips out{0, 0, form->constant};
  for (const auto& [axis, factor] : form->axes) (axis == loop.index() ? out.factor : out.counts) = factor;
  return out;
}

} // namespace

/// Whether more places are the same for all rows if rows end together than if they begin so.
bool LoopOfOwnTrips::endTogether() const {
  // The places of updates are those of the iteration, the same for all rows that begin together.
  if (std::ranges::find(carries_, CarryKind::Updates, &BatchedCarry::kind) != carries_.end()) return false;
  const LoopView loop = view();
  int64_t more = 0;
  forEachOp(fn(), loop.body(), [&](OpId id) {
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::Get) return;
    for (size_t k = 1; k < op.operands.size(); ++k) {
      const ValueId v = op.operands[k];
      if (v == loop.index()) --more;
      const std::optional<IndexOfTrips> index = indexOfTrips(m_.types.dims, fn(), v, loop);
      if (!index || index->factor == 0) continue;
      if (index->counts == 0) --more;
      if (index->counts == -index->factor) ++more;
    }
  });
  return more > 0;
}

struct LoopOfOwnTrips::Order {
  ValueId counts, rows, most; ///< by position: the trip count, 0 or more; positions by falling counts
  DimId stackedRows;          ///< all iterations of all rows
  bool endTogether = false;
};

struct LoopOfOwnTrips::Iterated {
  std::vector<ValueId> carried, stacks; ///< stacked is also what the adds need
  Path part;                            ///< of an array of rows: those that have the iteration
  ValueId size;                         ///< how many these are
  std::optional<RowAdds> adds;
};

LoopOfOwnTrips::Order LoopOfOwnTrips::orderRows(Builder& b) const {
  Order out;
  const ValueId count = view().count();
  RowNest rows = rows_.openWith(b, rows_.all(), std::span(&count, 1));
  Builder in = b.in(rows.nest.body());
  rows.nest.collect(in.binary(OpKind::Max, rows.copy.value(count), in.integer(0)));
  out.counts = rows.nest.one();
  out.rows = b.one(Builder::simple(OpKind::ArgSort, {out.counts}, uint32_t(1)), b.typeOf(out.counts));
  auto reduced = [&](ops::MonoidKind monoid) {
    NestBuilder all(b);
    const ValueId at = all.axis(rows_.count());
    Builder each = b.in(all.body());
    all.add(reducing(monoid), each.getAt(out.counts, std::span(&at, 1)));
    return all.one();
  };
  out.most = reduced(ops::MonoidKind::Max);
  if (view().stacks() > 0 || addsToSums())
    out.stackedRows = m_.types.dims.symbol(b.bindDim(reduced(ops::MonoidKind::Sum), "rows"));
  out.endTogether = endTogether();
  return out;
}

void LoopOfOwnTrips::around(Builder& b) {
  const Order order = orderRows(b);
  const RowSet all{order.rows, rows_.count()};
  Op made = Builder::simple(OpKind::For, {order.most}, LoopAttr{});
  made.loc = fn().ops[loop_].loc;
  for (ValueId v : begun(b, &all)) made.operands.push_back(v);
  // Sums go around where an iteration adds; else all iterations' terms are stacked, and added after the loop.
  std::vector<ValueId> sums = sumsBegun();
  if (!stacksTerms()) made.operands.insert(made.operands.end(), sums.begin(), sums.end());

  Builder in = b.in(b.newRegion());
  const ValueId index = in.param(m_.types.int64(), fn().values[view().index()].hint);
  const std::vector<ValueId> carried = enterParams(in, std::span(made.operands).subspan(1));
  Iterated each = emitIteration(in, order, index, carried);
  Operands yields(each.carried.begin(), each.carried.end());
  // The types of what is stacked show when the iteration is there: its parameters come last.
  std::vector<TypeId> types;
  if (!each.stacks.empty()) {
    const ValueId from = in.param(m_.types.int64());
    made.operands.push_back(b.integer(0));
    yields.push_back(in.binary(OpKind::Add, from, each.size));
    for (ValueId rows : each.stacks) {
      made.operands.push_back(b.zero(resized(in.typeOf(rows), order.stackedRows)));
      const ValueId stack = in.param(in.typeOf(made.operands.back()));
      yields.push_back(in.set(stack, rows, each.part, std::span(&from, 1)));
    }
    yields.push_back(from);
    made.as<LoopAttr>().collects = 1;
    made.resultDims = {b.newDim("n")};
  }
  for (ValueId v : std::span(made.operands).subspan(1)) types.push_back(b.typeOf(v));
  if (!each.stacks.empty())
    types.push_back(stacked(m_.types.dims.symbol(made.resultDims[0]), m_.types.int64()));
  in.yield(yields);
  made.regions = {in.region};
  const OpId id = b.append(std::move(made), types);
  rank_ = rankOf(b, order);
  most_ = order.endTogether ? order.most : ValueId();

  const std::span<const ValueId> results(fn().ops[id].results);
  const std::span<const ValueId> columns = results.first(columns_.size()),
                                 ends = results.subspan(columns_.size());
  if (each.stacks.empty()) return give(columns, ends, {});
  from_ = results.back();
  const std::span<const ValueId> stacks = results.subspan(each.carried.size() + 1, each.stacks.size());
  if (!each.adds) return give(columns, ends, stacks);
  each.adds->emit(b, order.stackedRows, stacks.subspan(view().stacks()), sums);
  give(columns, sums, stacks.first(view().stacks()));
}

std::vector<ValueId> LoopOfOwnTrips::rowIndices(Builder& in) const {
  const ValueId position = rows_.positionOf(in);
  return {in.getAt(rank_, std::span(&position, 1))};
}

/// Whether terms of accumulators are stacked: rows read arrays of their own at the iteration, so there are as
/// many elements as terms already.
bool LoopOfOwnTrips::stacksTerms() const {
  if (!addsAreAlone()) return false;
  const AxisVariance body = bodyVariance(), iterations = iterationVariance();
  bool reads = false;
  forEachOp(fn(), iterationBody(), [&](OpId id) {
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::Get || reads) return;
    const std::optional<AxisSet> row = body.axesOf(op.operands[0]);
    reads = row && !row->empty() && std::ranges::any_of(std::span(op.operands).subspan(1), [&](ValueId v) {
              const std::optional<AxisSet> at = iterations.axesOf(v);
              return at && !at->empty();
            });
  });
  return reads;
}

/// How many rows have more iterations than this.
ValueId LoopOfOwnTrips::sizeAt(Builder& in, const Order& order, ValueId iteration) const {
  NestBuilder more(in);
  const ValueId at = more.axis(rows_.count());
  Builder each = in.in(more.body());
  more.add(reducing(ops::MonoidKind::Sum),
           each.select(each.compare(ops::CmpKind::Gt, each.getAt(order.counts, std::span(&at, 1)), iteration),
                       each.integer(1), each.integer(0)));
  return more.one();
}

/// An iteration of the rows that it has.
LoopOfOwnTrips::Iterated LoopOfOwnTrips::emitIteration(Builder& in, const Order& order, ValueId index,
                                                       std::span<const ValueId> carried) const {
  const LoopView loop = view();
  const ValueId zero = in.integer(0), last = in.binary(OpKind::Sub, order.most, in.integer(1)),
                iteration = order.endTogether ? in.binary(OpKind::Sub, last, index) : index;
  Iterated out;
  out.size = sizeAt(in, order, iteration);
  const DimId extent = m_.types.dims.symbol(in.bindDim(out.size, "m"));
  out.part = {PathStep{StepKind::Slice, 0, extent, 1}};
  const Cloner places = placesAt(in, index);
  RowNest rows = rows_.openWith(in, {order.rows, extent}, needs_);
  Builder row = in.in(rows.nest.body());
  rows.copy.values[loop.index()] = index;
  if (order.endTogether) {
    rows.copy.values[loop.index()] =
        row.binary(OpKind::Add, row.binary(OpKind::Sub, index, order.most), rows.copy.value(loop.count()));
    placeFromEnd(in, rows.copy, iteration);
  }
  enterCarries(rows, row, loop.carryParams(), carried, rows.indices);
  std::vector<ValueId> sums = sumsBegun();
  if (carried.size() > columns_.size())
    sums.assign(carried.begin() + static_cast<ptrdiff_t>(columns_.size()), carried.end());
  Iteration made = endIteration(rows, in, sums, stacksTerms() ? in.region : RegionId());
  if (made.adds && !stacksTerms()) {
    made.adds->emit(in, extent, made.stored, sums);
    made.adds.reset();
    made.stored.clear();
  }

  out.carried = carryOn(in, places, made, carried, out.part, std::span(&zero, 1));
  if (carried.size() > columns_.size()) out.carried.insert(out.carried.end(), sums.begin(), sums.end());
  out.stacks.assign(made.given.end() - static_cast<ptrdiff_t>(loop.stacks()), made.given.end());
  out.stacks.insert(out.stacks.end(), made.stored.begin(), made.stored.end());
  if (made.adds) out.adds.emplace(std::move(*made.adds));
  return out;
}

/// Where rows end together, an index that counts from the end of a row is the same for all: `left` is the
/// number of iterations after this one.
void LoopOfOwnTrips::placeFromEnd(Builder& in, Cloner& copy, ValueId left) const {
  const LoopView loop = view();
  std::unordered_map<OpId, ValueId> same;
  for (OpId id : fn().regions[loop.body()].ops) {
    const Op& op = fn().ops[id];
    if (op.results.size() != 1 || m_.types.kind(fn().typeOf(op.results[0])) != TypeKind::I64) continue;
    const std::optional<IndexOfTrips> index = indexOfTrips(m_.types.dims, fn(), op.results[0], loop);
    if (index && index->factor == -1 && index->counts == 1)
      same[id] = in.binary(OpKind::Add, left, in.integer(index->constant + 1));
  }
  copy.instead = [this, &copy, same](OpId id, Builder&) {
    const auto by = same.find(id);
    if (by != same.end()) copy.values[fn().ops[id].results[0]] = by->second;
    return by != same.end();
  };
}

/// By position: where the row stands in the order.
ValueId LoopOfOwnTrips::rankOf(Builder& b, const Order& order) const {
  const TypeId type = b.typeOf(order.rows);
  Op made = Builder::simple(OpKind::For, {b.dimValue(rows_.count()), b.zero(type)}, LoopAttr{});
  Builder in = b.in(b.newRegion());
  const ValueId at = in.param(m_.types.int64()), rank = in.param(type);
  const ValueId position = in.getAt(order.rows, std::span(&at, 1));
  in.yield({in.set(rank, at, {PathStep{StepKind::Index, 0, {}, 1}}, std::span(&position, 1))});
  made.regions = {in.region};
  return b.one(std::move(made), type);
}

/// An array for what a row has stacked, of which iterations have stored the rows elsewhere.
void LoopOfOwnTrips::readStack(Builder& in, size_t k) {
  const Op& loop = fn().ops[loop_];
  const LoopView view(fn(), loop);
  const ValueId stack = loop.results[k];
  const DimId extent = m_.types.dims.symbol(view.extent());
  if (k == carries_.size()) { // the first defines the extent
    stackRank_ = rowIndices(in)[0];
    Op bind = Builder::simple(OpKind::BindDim, {in.binary(OpKind::Max, view.count(), in.integer(0))});
    bind.resultDims = {view.extent()};
    in.append(std::move(bind), {});
  }
  NestBuilder nest(in);
  const ValueId at = nest.axis(extent);
  Builder each = in.in(nest.body());
  const ValueId place = placeInStack(each, at);
  nest.collect(each.getAt(given_[k], std::span(&place, 1)));
  takeOver(fn(), nest.finish(), std::span(&stack, 1));
}

/// Where a row has stored what it stacked in an iteration of its own.
ValueId LoopOfOwnTrips::placeInStack(Builder& b, ValueId iteration) const {
  if (most_.valid()) {
    const ValueId own = b.dimValue(m_.types.dims.symbol(view().extent()));
    iteration = b.binary(OpKind::Add, b.binary(OpKind::Sub, most_, own), iteration);
  }
  return b.binary(OpKind::Add, b.getAt(from_, std::span(&iteration, 1)), stackRank_);
}

/// Reads of rows of a stack go where these are stored.
void LoopOfOwnTrips::readStacked(RegionId region) {
  const std::span<const ValueId> stacks = view().stackResults();
  const std::vector<OpId> ops = std::exchange(fn().regions[region].ops, {});
  for (OpId id : ops) {
    for (RegionId inner : Regions(fn().ops[id].regions)) readStacked(inner);
    Op& op = fn().ops[id];
    const auto stack = op.operands.empty() ? stacks.end() : std::ranges::find(stacks, op.operands[0]);
    if (op.kind == OpKind::Get && stack != stacks.end() && !op.as<Path>().empty() &&
        op.as<Path>().front().kind == StepKind::Index) {
      Builder b(m_, f_, region, op.loc);
      const ValueId place = placeInStack(b, op.operands[1]);
      op.operands[1] = place;
      op.operands[0] = given_[carries_.size() + static_cast<size_t>(stack - stacks.begin())];
    }
    fn().regions[region].ops.push_back(id);
  }
}

void LoopOfOwnTrips::finishReads() {
  if (view().stacks() > 0) readStacked(body_);
}

} // namespace melix::transforms
